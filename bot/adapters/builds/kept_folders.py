"""Folders that builds fill and later builds find again (`program.cache`): downloaded packages, objects."""

# Only trusted builds leave anything: what a pull request's head wrote would be run by the next base.

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bot.adapters.builds import checkout
from bot.model.errors import UsageError
from bot.model.sites import Account

HOME = "~/"


class KeptFolders:
    """Lays the folders of `paths` out before a build, and keeps them after it, in a folder of ours.

    A path begins with ~/ (the build's home) or is relative to the checkout.
    """

    def __init__(self, place: Path, paths: Sequence[str]) -> None:
        self._place, self._paths = place, paths

    def lay_out(self, home: Path, tree: Path) -> None:
        """Copies what earlier builds left to where this one looks for it; it can be written by its owner, us.

        The checkout's files are dated now then. They are dated as their commit otherwise, which is earlier
        than what another revision's build left: make and cargo would take its program for this one's.

        Raises:
            OSError: it cannot be copied, or the checkout has something else in its place.
        """
        laid: list[Path] = []
        for path in self._paths:
            with self._locked(path, fcntl.LOCK_SH) as kept:
                if not kept.is_dir():
                    continue
                target = _target(path, home, tree)
                if target.exists():
                    raise OSError(f"program.cache: {path} is in the checkout already")
                target.parent.mkdir(parents=True, exist_ok=True)
                checkout.copy(kept, target)
            checkout.unseal(target, None)
            laid.append(target)
        if laid:  # last, for another build may have replaced one of them meanwhile
            _date(tree.resolve(), time.time_ns(), laid)

    def keep(self, home: Path, tree: Path, account: Account | None) -> None:
        """Replaces what is kept by what a trusted build left.

        Raises:
            OSError: it cannot be copied, or holds links to files of others; what was kept is as it was.
        """
        for path in self._paths:
            source = _target(path, home, tree)
            if not source.is_dir():
                continue
            with self._locked(path, fcntl.LOCK_EX) as kept:
                aside = kept.with_suffix(".part")
                checkout.remove(aside)
                try:
                    checkout.copy(source, aside)
                    checkout.seal(aside, account)
                except OSError:
                    checkout.remove(aside)
                    raise
                checkout.remove(kept)
                aside.rename(kept)

    @contextmanager
    def _locked(self, path: str, kind: int) -> Iterator[Path]:
        """Where a path is kept, held against other runs."""
        name = hashlib.sha256(path.encode()).hexdigest()[:16]
        self._place.mkdir(mode=0o755, parents=True, exist_ok=True)
        with (self._place / f"{name}.lock").open("a") as lock:
            fcntl.flock(lock, kind)
            yield self._place / name


def _date(tree: Path, date: int, but: Sequence[Path]) -> None:
    """One date (nanoseconds) for all of a tree: differences within it would make `make` rebuild some."""
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if Path(folder, name) not in but]
        for name in (*names, *folders):
            os.utime(Path(folder, name), ns=(date, date), follow_symlinks=False)


def _root(path: str, home: Path, tree: Path) -> Path:
    return (home if path.startswith(HOME) else tree).resolve()


def _target(path: str, home: Path, tree: Path) -> Path:
    try:
        return checkout.inside(_root(path, home, tree), path.removeprefix(HOME))
    except UsageError as error:
        raise OSError(f"program.cache: {error}") from None
