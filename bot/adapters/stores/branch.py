"""History in an orphan branch of a git repository: one commit a segment, added by compare-and-swap."""

# Nothing is ever checked out, and no working tree is touched: objects are made in a bare mirror of our own
# and pushed on the condition that the branch still is where we saw it. When somebody else was faster, the
# push is refused, and the same file is added to what is there now.

from __future__ import annotations

import base64
import io
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from bot.adapters.processes import process
from bot.adapters.repositories.git_command import CONFIGURATION
from bot.adapters.stores import segments
from bot.adapters.stores.cache import Cache
from bot.model.errors import HistoryError

_NETWORK = """\
[protocol "https"]
\tallow = always
[protocol "http"]
\tallow = always
[http]
\tlowSpeedLimit = 1000
\tlowSpeedTime = 30
[credential]
\thelper =
[core]
\tcompression = 0
[transfer]
\tunpackLimit = 1
"""
"""Segments are compressed already: git need not try (most of what a pull request waits for)."""
_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Suspects"), ("EMAIL", "suspects@users.noreply.github.com"))
}
LOST_RACES = 400
"""Times that others may be faster before we give up: with 16 writers that never is by chance."""
FAILURES = 4
"""Times that a push may fail although the branch did not move."""
FIRST_WAIT, DOUBLINGS = 0.05, 5
"""Seconds; a random part of up to 1.6 s is waited after several lost races."""
_FINAL = (
    "403",
    "401",
    "denied",
    "declined",
    "protected",
    "denyCurrentBranch",
    "checked out",
    "not permitted",
)
"""Words of a refusal that no repetition changes."""


@dataclass(frozen=True)
class Remote:
    """A repository (path or URL), the full name of the branch's ref, and how to enter.

    seed: a ref that a new branch continues (a clone's copy of the remote's branch).
    token: for https; sent to that host only, and never part of an argument.
    """

    url: str
    ref: str
    seed: str | None = None
    token: str | None = None
    writable: bool = True


class BranchPlace:
    """A branch, seen through a bare mirror in `home` (a private folder of this process)."""

    kind = "branch"

    def __init__(
        self,
        remote: Remote,
        *,
        home: Path,
        cache: Cache,
        rng: np.random.Generator,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._remote = remote
        self._home = home
        self._cache = cache
        self._rng = rng
        self._pause = pause
        self.writable = remote.writable
        self.label = f"branch {remote.ref.removeprefix('refs/heads/').removeprefix('refs/remotes/')}"

    def names(self) -> Sequence[str]:
        """Names of the segments at the tip, oldest first."""
        tip = self._tip()[0]
        if tip is None:
            return []
        listed = self._done("ls-tree", "-r", "-z", "--name-only", tip).decode("utf-8", "replace")
        return sorted(
            path.name for path in map(PurePosixPath, listed.split("\0")) if segments.kind(path.name)
        )

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        """Local copies of the tip's files."""
        if missing := self._cache.missing(names):
            for name, content in self.stored(missing).items():
                self._cache.keep(name, content)
        return self._cache.files(names)

    def stored(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """The tip's files."""
        tip = self._tip()[0]
        return dict(self._contents(tip, names)) if tip is not None else {}

    def add(self, name: str, content: bytes) -> None:
        """Commits one file on top of whatever the branch is, and again when it moved meanwhile.

        Raises:
            HistoryError: the remote refuses, cannot be reached, or others were faster time and again.
        """
        self._cache.keep(name, content)
        blob: str | None = None
        failures = 0
        for lost in range(LOST_RACES):
            tip, expected = self._tip()
            if blob is None:
                blob = self._text("hash-object", "-w", "--no-filters", str(self._cache.folder / name))
            commit = self._commit(name, blob, tip)
            if commit == tip:
                return
            refused = self._push(commit, expected)
            if refused is None:
                return
            if self._tip()[1] == expected:  # nobody else moved it
                failures += 1
                if failures > FAILURES or any(word in refused for word in _FINAL):
                    raise self._failed("written", refused)
            self._pause(float(self._rng.uniform(0, FIRST_WAIT * 2 ** min(lost, DOUBLINGS))))
        raise self._failed("written", f"others were faster {LOST_RACES} times")

    def set_aside(self, name: str) -> bool:
        """A branch only grows: the local copy is dropped."""
        self._cache.drop(name)
        return False

    def notes(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def _tip(self) -> tuple[str | None, str]:
        """The commit to build on, present in the mirror, and where the branch itself is ("": nowhere)."""
        self._prepare()
        remote = self._remote
        wanted = [remote.ref, *([remote.seed] if remote.seed else [])]
        lines = self._text("ls-remote", "--refs", "--", remote.url, *wanted).splitlines()
        at = {ref: commit for commit, _, ref in (line.partition("\t") for line in lines)}
        ref = next((ref for ref in wanted if ref in at), None)
        if ref is None:
            return None, ""
        if self._git("cat-file", "-e", f"{at[ref]}^{{tree}}").code != 0:
            self._done(
                *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--update-shallow"),
                *(remote.url, f"+{ref}:refs/held/tip"),
            )
            if self._git("cat-file", "-e", f"{at[ref]}^{{tree}}").code != 0:
                return self._tip()  # it moved in between
        return at[ref], at.get(remote.ref, "")

    def _commit(self, name: str, blob: str, tip: str | None) -> str:
        """A commit with one more file on top of `tip`; `tip` itself when it has that file already."""
        index = {"GIT_INDEX_FILE": str(self._home / "index")}
        self._done("read-tree", tip or "--empty", env=index)
        self._done("update-index", "--add", "--cacheinfo", f"100644,{blob},{_path(name)}", env=index)
        tree = self._text("write-tree", env=index)
        if tip is not None and tree == self._text("rev-parse", f"{tip}^{{tree}}"):
            return tip
        parent = ["-p", tip] if tip else []
        return self._text("commit-tree", tree, *parent, "-m", f"Measurements {name[:15]}", env=_AUTHOR)

    def _push(self, commit: str, expected: str) -> str | None:
        """Swaps the ref from `expected` to `commit`; the complaint when that was refused."""
        ref = self._remote.ref
        done = self._git(
            *("push", "--quiet", "--porcelain", f"--force-with-lease={ref}:{expected}"),
            *(self._remote.url, f"{commit}:{ref}"),
        )
        if done.code == 0:
            return None
        return f"{done.output.decode('utf-8', 'replace')} {done.error}"

    def _contents(self, tip: str, names: Sequence[str]) -> list[tuple[str, bytes]]:
        # Whoever wrote it, only plain files of known names are taken, and in memory.
        present = set(self._done("ls-tree", "-r", "-z", "--name-only", tip).decode().split("\0"))
        paths = [_path(name) for name in names if _path(name) in present]
        if not paths:
            return []
        packed = self._done("archive", "--format=tar", tip, "--", *paths)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            files = [(PurePosixPath(m.name).name, archive.extractfile(m)) for m in archive if m.isfile()]
            return [(name, file.read()) for name, file in files if file is not None]

    def _prepare(self) -> None:
        if (self._home / "mirror.git" / "HEAD").exists():
            return
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._home / ".gitconfig").write_text(CONFIGURATION + _NETWORK)
        self._done("init", "--quiet", "--bare", "--template=", str(self._home / "mirror.git"))
        # What somebody wrote into the branch's .gitattributes must not change or hide a byte.
        attributes = self._home / "mirror.git" / "info" / "attributes"
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text("* -export-ignore -export-subst -text -eol -ident -filter\n")

    def _text(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        return self._done(*arguments, env=env).decode("utf-8", "replace").strip()

    def _done(self, *arguments: str, env: dict[str, str] | None = None) -> bytes:
        finished = self._git(*arguments, env=env)
        if finished.code != 0:
            raise self._failed("reached", finished.error or f"git {arguments[0]} failed")
        return finished.output

    def _git(self, *arguments: str, env: dict[str, str] | None = None) -> process.Finished:
        surroundings = {
            "HOME": str(self._home),
            "GIT_DIR": str(self._home / "mirror.git"),
            "GIT_CONFIG_GLOBAL": str(self._home / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **self._credentials(),
            **(env or {}),
        }
        try:
            return process.run_trusted(["git", *arguments], cwd=self._home, env=surroundings)
        except FileNotFoundError:
            raise HistoryError("history in a branch needs git, which is not installed") from None

    def _credentials(self) -> dict[str, str]:
        """The token as a header for this address alone, in the environment: arguments can be seen by all."""
        if self._remote.token is None:
            return {}
        coded = base64.b64encode(f"x-access-token:{self._remote.token}".encode()).decode()
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{self._remote.url}.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {coded}",
        }

    def _failed(self, done: str, complaint: str) -> HistoryError:
        lines = [line for line in complaint.splitlines() if line.strip() not in ("", "Done")]
        said = next(
            (line for line in lines if "rejected" in line or "fatal" in line), lines[0] if lines else ""
        )
        return HistoryError(f"history in {self.label} cannot be {done}: {' '.join(said.split())[:200]}")


def repository_of(folder: Path) -> tuple[str, Path] | None:
    """The git folder and the top of the repository that a folder lies in; None: in none."""
    found = []
    for wanted in ("--git-common-dir", "--show-toplevel"):
        words = ["git", "-c", "safe.directory=*", "rev-parse", "--path-format=absolute", wanted]
        try:
            done = process.run_trusted(words, cwd=folder)
        except FileNotFoundError:
            return None
        if done.code != 0:
            return None
        found.append(done.output.decode("utf-8", "surrogateescape").strip())
    return found[0], Path(found[1])


def _path(name: str) -> str:
    """A folder a month: listing one does not grow with the years."""
    return f"{name[:6]}/{name}"
