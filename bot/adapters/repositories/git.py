"""Revisions of the working directory's repository, seen through a bare mirror of ours, and checked out."""

from __future__ import annotations

import os
import re
import threading
import uuid
from pathlib import Path

from bot.adapters.processes import process
from bot.adapters.repositories import first_parents
from bot.adapters.repositories.git_command import configure, git
from bot.adapters.repositories.git_errors import first_line, too_shallow, unreadable, usage
from bot.model.errors import UsageError
from bot.model.revisions import Comparison, Range, Revision

LARGEST_FILE = 1 << 20
FULL_ID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
HEXADECIMAL = re.compile(r"[0-9a-f]{4,64}")


class Repository:
    """The repository that `path` lies in, seen through a mirror in `home` (a private folder of this run).

    Raises:
        UsageError: `path` is not in a repository, it has no commit, or git is missing.
    """

    def __init__(self, path: Path, home: Path) -> None:
        self._path = path
        self.home = home
        self._mirror = home / "mirror.git"
        self._held: set[str] = set()
        self._copying = threading.Lock()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        configure(home)
        common = self._git("rev-parse", "--path-format=absolute", "--git-common-dir")
        if common.code != 0:
            raise unreadable(path, common.error)
        self.source = Path(_text(common))
        """Its git directory."""
        top = self._git("rev-parse", "--show-toplevel")
        self.top = Path(_text(top)) if top.code == 0 else self.source
        """The folder that paths in a revision are relative to."""
        if not _text(self._git("rev-list", "--all", "--max-count=1")) and not self._commit("HEAD"):
            raise usage(f"The repository {self.top} has no commit yet.", "Commit something first.")

    def resolve(self, base: str, head: str, *, exact_base: bool = False) -> Comparison:
        """Base and head with full ids, labels and trees; base becomes the merge base unless `exact_base`.

        Raises:
            UsageError: a revision is missing, the clone is too shallow, or there is no common history.
        """
        base_id, head_id = self._known(base), self._known(head)
        if exact_base:
            return self._compare((base_id, base), (head_id, head), ())
        found = _text(self._git("merge-base", "--all", base_id, head_id)).split()
        if not found:
            if self._shallow():
                raise too_shallow(f"The merge base of {base} and {head}")
            raise usage(
                f"{base} and {head} have no common history.",
                "With --exact-base they are compared as they are.",
            )
        notes = []
        if len(found) > 1:
            notes.append(f"{base} and {head} have {len(found)} merge bases; the first one is compared with.")
        if base_id in found:
            return self._compare((base_id, base), (head_id, head), tuple(notes))
        if self._shallow():
            notes.append("The clone is shallow: with the whole history the merge base could be a later one.")
        notes.append(f"Base is {self._short(found[0])}, the merge base of {base} and {head}.")
        return self._compare((found[0], found[0]), (head_id, head), tuple(notes))

    def range(self, good: str, bad: str, *, tags: bool = False) -> Range:
        """The revisions of bad's first-parent line from good on; `tags`: between the ends tagged ones only.

        A good revision beside that line is replaced by the last one on the line that lies in its history.

        Raises:
            UsageError: a revision is missing, the clone is too shallow, or no line connects them.
        """
        good_id, bad_id = self._known(good), self._known(bad)
        line = self.line(f"^{good_id}", bad_id)
        if not line:
            if good_id == bad_id:
                raise UsageError(f"{good}..{bad} is one commit: there is nothing to bisect.")
            raise usage(f"{bad} lies in the history of {good}.", f"The earlier one goes first: {bad}..{good}")
        notes = []
        if not line[0].parents:
            if self._shallow():
                raise too_shallow(f"The history from {good} to {bad}")
            related = _text(self._git("merge-base", good_id, bad_id))
            why = f"{good} is not on the first-parent line of {bad}." if related else ""
            raise usage(why or f"{good} and {bad} have no common history.", "Take ends of the same branch.")
        start = line[0].parents[0]
        if start != good_id:
            last = f"the range begins at {self._short(start)}, the last revision there that is in its history"
            notes.append(f"{good} is not on the first-parent line of {bad}: {last}.")
        line = [*self.line("--max-count=1", start), *line]
        listed = self._git("for-each-ref", f"--format={first_parents.TAG_FORMAT}", "refs/tags")
        tagged = first_parents.tags(_text(listed))
        revisions, said = first_parents.revisions(line, tagged, (good, bad), coarse=tags)
        self.hold(*(revision.id for revision in revisions))
        return Range(tuple(revisions), (*notes, *said))

    def read_file(self, revision: Revision, path: str, *, most: int = LARGEST_FILE) -> str | None:
        """A text file of a revision; None when there is no regular file of that name.

        Raises:
            UsageError: it is larger than `most` bytes, or not UTF-8.
        """
        self.hold(revision.id)
        entry = _text(self.mirrored("ls-tree", "-z", "--long", revision.id, "--", path)).split(maxsplit=4)
        if len(entry) < 5 or not entry[0].startswith("100") or entry[4].rstrip("\0") != path:
            return None
        if int(entry[3]) > most:
            raise UsageError(f"{path} at {revision.label} is larger than {most >> 10} KiB.")
        content = self.mirrored("cat-file", "blob", entry[2]).output
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise UsageError(f"{path} at {revision.label} is not UTF-8 text.") from None

    def archive(self, revision: Revision, into: Path) -> None:
        """Writes all files of a revision's tree into an empty folder, dated as the commit.

        Raises:
            OSError: the files cannot be written (disk full, an invalid path in the tree).
        """
        self.hold(revision.id)
        self.write_tree(revision.tree or revision.id, into)
        self.date(revision, into)

    def write_tree(self, tree: str, into: Path) -> None:
        """Writes all files of a tree (or of a commit) that the mirror holds.

        By `read-tree` and `checkout-index`, not `git archive`: that one leaves out what `export-ignore` marks
        (often tests and benchmarks) and rewrites what `export-subst` marks. Symbolic links stay links. The
        folder is still ours alone, no hook, filter or submodule is known to the mirror, and its own
        configuration is ours.

        Raises:
            OSError: the files cannot be written (disk full, an invalid path in the tree).
        """
        index = self.home / f"index-{uuid.uuid4().hex}"
        env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(into)}
        try:
            for command in (["read-tree", tree], ["checkout-index", "--all", "--force", "--quiet"]):
                done = self.mirrored(*command, env=env, cwd=into)
                if done.code != 0:
                    raise OSError(f"git {command[0]}: {first_line(done.error)}")
        finally:
            index.unlink(missing_ok=True)

    def date(self, revision: Revision, into: Path) -> None:
        """Dates all files as the commit: milliseconds between them would make `make` rebuild some."""
        date = int(_text(self.mirrored("show", "--no-patch", "--format=%ct", revision.id)))
        for folder, folders, names in os.walk(into, topdown=False):
            for name in (*names, *folders):
                os.utime(Path(folder, name), (date, date), follow_symlinks=False)

    def _compare(self, base: tuple[str, str], head: tuple[str, str], notes: tuple[str, ...]) -> Comparison:
        self.hold(base[0], head[0])
        return Comparison(self._revision(*base), self._revision(*head), notes)

    def _revision(self, commit: str, word: str) -> Revision:
        tree = _text(self.mirrored("rev-parse", f"{commit}^{{tree}}"))
        return Revision(commit, self._label(commit, word), tree)

    def _label(self, commit: str, word: str) -> str:
        """The person's word when it names a branch or tag, else a tag that points here, else the short id."""
        named = _text(self._git("rev-parse", "--symbolic-full-name", "--verify", "--quiet", word))
        if named.startswith("refs/") and word != "HEAD" and not HEXADECIMAL.fullmatch(word):
            return word
        tag = self._git("describe", "--tags", "--exact-match", commit)
        return _text(tag) if tag.code == 0 else self._short(commit)

    def line(self, *which: str) -> list[first_parents.Commit]:
        """First-parent commits, oldest first; `which`: what `git rev-list` is to list."""
        order = ("--first-parent", "--topo-order", "--reverse", "--encoding=UTF-8")
        pretty = f"--pretty=format:{first_parents.COMMIT_FORMAT}"
        return first_parents.commits(_text(self._git("rev-list", *order, pretty, *which)))

    def _short(self, commit: str) -> str:
        return _text(self._git("rev-parse", "--short", commit))

    def _known(self, word: str) -> str:
        commit = self._commit(word) or self._commit(f"refs/remotes/origin/{word}")
        if commit:
            return commit
        if self._shallow():
            raise too_shallow(f"Revision {word}")
        raise usage(
            f"Revision {word!r} is not in the repository {self.top}.",
            "Fetch it (git fetch origin), or check its spelling.",
        )

    def _commit(self, word: str) -> str:
        if word.startswith("-"):
            return ""
        return _text(self._git("rev-parse", "--verify", "--quiet", f"{word}^{{commit}}"))

    def _shallow(self) -> bool:
        return _text(self._git("rev-parse", "--is-shallow-repository")) == "true"

    def hold(self, *commits: str) -> None:
        """Makes commits readable in the mirror: the source lends them, or their own trees are copied."""
        with self._copying:  # both sides are checked out at once
            self._copy(*commits)

    def made(self, commit: str) -> None:
        """Tells of a commit that was made in the mirror: it cannot be copied from the source."""
        self._held.add(commit)

    def copied_from(self, source: Path, commit: str) -> bool:
        """Copies a commit, its own tree only, from another repository; whether it has it."""
        with self._copying:
            if commit not in self._held and self._fetch(source, commit).code == 0:
                self._held.add(commit)
            return commit in self._held

    def _copy(self, *commits: str) -> None:
        missing = list(dict.fromkeys(c for c in commits if c not in self._held))
        if not missing:
            return
        if not self._mirror.exists():
            made = self._git("init", "--quiet", "--bare", "--template=", str(self._mirror), cwd=self.home)
            if made.code != 0:
                why = first_line(made.error)
                raise usage(
                    f"{self.home} cannot hold a mirror of the repository: {why}",
                    "Make room there, or set TMPDIR to a folder with more.",
                )
            if not self._shallow():  # of a shallow clone git would miss the commits before its first ones
                lender = self._mirror / "objects" / "info" / "alternates"
                lender.parent.mkdir(exist_ok=True)
                lender.write_text(f"{self.source / 'objects'}\n")
        if self.mirrored("rev-list", "--quiet", "--objects", "--no-walk", *missing).code != 0:
            copied = self._fetch(self.source, *missing)
            if copied.code != 0:
                why = first_line(copied.error)
                raise usage(
                    f"Revision {missing[0][:12]} could not be copied from {self.source}: {why}",
                    "A partial clone lacks files: clone without --filter.",
                )
        self._held.update(missing)

    def _fetch(self, source: Path, *commits: str) -> process.Finished:
        how = ("--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--update-shallow")
        return self.mirrored("fetch", *how, str(source), *commits)

    def mirrored(
        self, *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> process.Finished:
        """A git command on the mirror."""
        return self._git(*arguments, env={"GIT_DIR": str(self._mirror), **(env or {})}, cwd=cwd or self.home)

    def _git(
        self, *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> process.Finished:
        return git(self.home, *arguments, cwd=cwd or self._path, env=env)


def _text(finished: process.Finished) -> str:
    return finished.output.decode("utf-8", "replace").strip() if finished.code == 0 else ""
