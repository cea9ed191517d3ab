"""Talking to people on GitHub: who may command, what they saw, reactions, dispatches, answers."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import quote

from github.GithubException import GithubException

from bot.adapters.github.comment_answers import with_answer
from bot.adapters.github.errors import speaking
from bot.adapters.github.forge import GithubForge
from bot.model.comment_commands import Ran, Reaction
from bot.model.forge import PullRequest, Stamp

KEY = "pull-request"
"""Of the comment that holds the report."""
_NO_REPORT = "### Suspects\n\nThere is no report on this pull request yet."
_NEVER_RAN = Stamp(0, 0, "")
"""Older than any report, which so takes the place of a comment that has only answers."""
_NO_SUCH_COMMIT = (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)


class GithubTalk(GithubForge):
    """The ports `Talk` and `Reports` on GitHub's REST API.

    What changes something is sent once: after a doubtful answer the caller decides. silent: no comment of
    ours is wanted, so that reactions are all that is seen.
    """

    def __init__(self, repository: str, token: str, *, silent: bool = False, **more: Any) -> None:
        super().__init__(repository, token, **more)
        self._silent = silent

    def __enter__(self) -> Self:
        return self

    def may_write(self, author: str, author_id: int) -> bool:
        """Whether this very person has write permission; a comment's `author_association` is none."""
        with speaking("asking who may write", needs="metadata: read"):
            try:
                found = self._request("GET", f"/collaborators/{quote(author, safe='')}/permission")
            except GithubException as error:
                if error.status == HTTPStatus.NOT_FOUND:  # renamed or deleted since
                    return False
                raise
            same = (found.get("user") or {}).get("id", author_id) == author_id
            return same and found["permission"] in ("admin", "write")

    def newest_run(self, workflow: str, pull: PullRequest) -> Ran | None:
        """The newest run of a workflow that this pull request's branch started; None: none did."""
        with speaking(f"looking for runs of {workflow}", needs="actions: read"):
            runs = self._repo.get_workflow(workflow).get_runs(event="pull_request", branch=pull.head_branch)
            try:
                for run in runs:
                    source = run.head_repository
                    if source is not None and source.full_name == pull.head_repository:
                        return Ran(run.head_sha, run.created_at)
            except GithubException as error:
                if error.status != HTTPStatus.NOT_FOUND:  # the workflow has another name
                    raise
            return None

    def commit(self, revision: str) -> str | None:
        """The full id of a commit, branch or tag; None: there is none."""
        with speaking(f"looking for {revision}", needs="contents: read"):
            try:
                return str(self._request("GET", f"/commits/{quote(revision, safe='')}")["sha"])
            except GithubException as error:
                if error.status in _NO_SUCH_COMMIT:
                    return None
                raise

    def tip(self, branch: str) -> str:
        """The newest commit of a branch."""
        with speaking(f"looking for the branch {branch}", needs="contents: read"):
            return str(self._request("GET", f"/git/ref/heads/{quote(branch)}")["object"]["sha"])

    def react(self, comment_id: int, reaction: Reaction) -> bool:
        """Puts our reaction on a comment; whether it was not there yet. Tried once."""
        with speaking("reacting to a comment", needs="pull-requests: write"):
            url = f"{self._repo.url}/issues/comments/{comment_id}/reactions"
            status, headers, text = self._repo.requester.requestJson("POST", url, input={"content": reaction})
            if status not in (HTTPStatus.OK, HTTPStatus.CREATED):
                raise self._repo.requester.createException(status, headers, {"message": text[:200]})
            return status == HTTPStatus.CREATED

    def dispatch(self, workflow: str, inputs: Mapping[str, str]) -> str:
        """Starts a workflow of the default branch, once; where it is seen."""
        with speaking(f"starting the workflow {workflow}", needs="actions: write"):
            branch, site = self._repo.default_branch, self._repo.html_url
            if not branch:
                raise TypeError("an answer without a branch")
            asked = {"ref": branch, "inputs": dict(inputs), "return_run_details": True}
            begun = self._request("POST", f"/actions/workflows/{workflow}/dispatches", asked)
            # Older servers answer without a word about the run.
            return f"{site}/actions/workflows/{workflow}" if begun is None else str(begun["html_url"])

    def shown(self, number: int) -> Stamp | None:
        """Whose report our comment on a pull request holds; None: there is none."""
        with speaking(f"reading comments of #{number}", needs="pull-requests: read"):
            return next((own.stamp for own in self._own(number, KEY)), None)

    def reported(self, number: int) -> Ran | None:
        """Which head our report is of, and since when it stands there; None: there is none."""
        with speaking(f"reading comments of #{number}", needs="pull-requests: read"):
            own = next(iter(self._own(number, KEY)), None)
            if own is None or own.stamp == _NEVER_RAN:
                return None
            return Ran(own.stamp.head_sha, own.comment.updated_at)

    def answer(self, number: int, comment_id: int, line: str) -> str | None:
        """Puts a line for a comment below our report, in its place if it has one; where it is seen."""
        if self._silent:
            return None
        with speaking(f"answering on #{number}", needs="pull-requests: write"):
            own = next(iter(self._own(number, KEY)), None)
            if own is not None:
                own.comment.edit(with_answer(own.body, comment_id, line))
                return own.url
        return self.place(number, with_answer(_NO_REPORT, comment_id, line), _NEVER_RAN, key=KEY).url

    def _request(self, method: str, path: str, content: Any = None) -> Any:
        """One request about the repository, as plain values; only GET is repeated by the transport."""
        _, found = self._repo.requester.requestJsonAndCheck(method, f"{self._repo.url}{path}", input=content)
        return found
