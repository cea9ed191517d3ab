"""One pull request on GitHub with a changed file: a branch of ours with one commit on top of a revision."""

from __future__ import annotations

import re
from typing import Any, Literal, Self

from github.ContentFile import ContentFile
from github.GitCommit import GitCommit
from github.GithubException import UnknownObjectException
from github.GitRef import GitRef
from github.InputGitTreeElement import InputGitTreeElement
from github.PullRequest import PullRequest

from bot.adapters.github.errors import speaking
from bot.adapters.github.forge import GithubForge
from bot.model.errors import ForgeError
from bot.model.forge import FileChange, Standing

BRANCH = "suspects/assertions"
_MARK = "Suspects-Assertions"
_OURS = re.compile(rf"^{_MARK}: (?P<before>\w*) (?P<tree>\w+) (?P<path>.+)$", re.MULTILINE)
"""A commit whose tree is not the one that its message names was made, or changed, by somebody else."""


class GithubProposals(GithubForge):
    """The port `Proposals` on GitHub's REST API.

    branch: ours, one for each file or occasion; nobody else's has its name. target: the branch that is to be
    changed (None: the default one).
    """

    def __init__(
        self, repository: str, token: str, *, branch: str = BRANCH, target: str | None = None, **more: Any
    ) -> None:
        super().__init__(repository, token, **more)
        self._branch, self._target = branch, target

    def __enter__(self) -> Self:
        return self

    def standing(self) -> Standing:
        """What became of the change that was proposed last: on the branch, else in the last pull request.

        Raises:
            ForgeError: GitHub refused or did not answer.
        """
        with speaking("looking for our pull request", needs="pull-requests: read"):
            ref, pull = self._ref(), self._pull()
            at = None if ref is None else ref.object.sha
            merged = pull is not None and pull.merged_at is not None
            if merged and pull is not None and at in (None, pull.head.sha):
                return Standing("merged", at, pull.html_url)
            tip = at or (pull.head.sha if pull is not None and not merged else None)
            if tip is None:
                return Standing()
            return self._judged(tip, at, None if merged else pull)

    def propose(self, change: FileChange, standing: Standing) -> str:
        """One commit with the file on top of the revision, and a pull request of it; its address.

        Raises:
            ForgeRefusedError: the token may not; the branch may have the change nevertheless.
            ForgeError: GitHub did not answer, or somebody else moved the branch since `standing`.
        """
        with speaking("writing the branch of a pull request", needs="contents: write"):
            if standing.commit is None or (standing.before, standing.text) != (change.before, change.text):
                self._move(self._committed(change), standing.commit)
        with speaking(f"opening a pull request of {self._branch}", needs="pull-requests: write"):
            pull = self._pull()
            if pull is None or pull.state != "open":
                base = self._target or self._repo.default_branch
                pull = self._repo.create_pull(base, self._branch, title=change.title, body=change.body)
                if not pull.html_url:
                    raise TypeError("an answer without an address")
                return pull.html_url
            if pull.user.login == self._login:
                pull.edit(title=change.title, body=change.body)
            return pull.html_url

    def withdraw(self, standing: Standing, why: str) -> None:
        """Closes the pull request and takes the branch away.

        Raises:
            ForgeError: GitHub refused or did not answer, or somebody else moved the branch since `standing`.
        """
        with speaking("closing a pull request", needs="pull-requests: write"):
            ref = self._unmoved(standing.commit)
            pull = self._pull()
            if pull is not None and pull.state == "open":
                pull.edit(body=f"{why}\n\n{pull.body or ''}", state="closed")
        with speaking("removing a branch", needs="contents: write"):
            if ref is not None:
                ref.delete()

    def _ref(self) -> GitRef | None:
        ref = self._repo.get_git_ref(f"heads/{self._branch}")
        try:
            ref.update()
        except UnknownObjectException:
            return None
        return ref

    def _pull(self) -> PullRequest | None:
        """The newest pull request of the branch."""
        owner = self._repository.partition("/")[0]
        found = self._repo.get_pulls(
            state="all", sort="created", direction="desc", head=f"{owner}:{self._branch}"
        )
        return next(iter(found), None)

    def _judged(self, tip: str, at: str | None, pull: PullRequest | None) -> Standing:
        """A proposal that was not merged. tip: its newest commit. at: the branch's, None: there is none."""
        commit = self._repo.get_git_commit(tip)
        mark = _OURS.search(commit.message)
        url = "" if pull is None else pull.html_url
        if mark is None or mark["tree"] != commit.tree.sha:
            # Without its branch nothing of theirs can be lost.
            return Standing("none" if at is None else "foreign", at, url)
        state: Literal["unopened", "open", "declined"] = "unopened"
        if pull is not None:
            state = "open" if pull.state == "open" else "declined"
        found = self._repo.get_contents(mark["path"], ref=tip)
        assert isinstance(found, ContentFile)
        return Standing(state, at, url, mark["before"], found.decoded_content.decode())

    def _committed(self, change: FileChange) -> GitCommit:
        parent = self._repo.get_git_commit(change.revision)
        element = InputGitTreeElement(change.path, "100644", "blob", content=change.text)
        tree = self._repo.create_git_tree([element], parent.tree)
        if not tree.sha:
            raise TypeError("an answer without a tree")
        message = f"{change.title}\n\n{_MARK}: {change.before} {tree.sha} {change.path}"
        return self._repo.create_git_commit(message, tree, [parent])

    def _move(self, commit: GitCommit, expected: str | None) -> None:
        """Lets the branch point at a commit, if nobody moved it meanwhile."""
        ref = self._unmoved(expected)
        if ref is None:
            self._repo.create_git_ref(f"refs/heads/{self._branch}", commit.sha)
        else:
            ref.edit(commit.sha, force=True)

    def _unmoved(self, expected: str | None) -> GitRef | None:
        ref = self._ref()
        if (None if ref is None else ref.object.sha) != expected:
            raise ForgeError(f"somebody else moved {self._branch} meanwhile: it was left alone")
        return ref
