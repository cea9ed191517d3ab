"""Where our own files lie on a developer's machine: results in the repository, built trees outside of it."""

# Tools for source code (formatters, linters, package managers) look for their configuration in all folders
# above the one they run in. Below a repository they would find its working tree: neither base nor head.

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from bot.adapters.builds import build_cache, checkout
from bot.model.sites import Account

OWN = Path(".suspects")
BUILDS = "builds"
REPOSITORY = "repository"
"""A file beside built trees: whose they are."""


def own_folder(top: Path) -> Path:
    """Our folder, hidden from git where it lies in a repository; it may be that it cannot be written."""
    folder = top / OWN
    if not (top / ".git").exists():
        return folder
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        ignored = folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n")
    return folder


def build_folder(top: Path, environment: Mapping[str, str], accounts: Collection[Account | None]) -> Path:
    """Where built trees of a repository are kept: in the user's cache folder (`XDG_CACHE_HOME`, ~/.cache).

    In the repository where that cannot be written by us or entered by the accounts (root's home is closed;
    what all accounts may enter, as /var/cache, all programs may read). Trees of repositories that are gone
    are removed, and those that earlier versions kept in this one.
    """
    top = top.resolve()
    name = f"{top.name}-{hashlib.sha256(os.fsencode(top)).hexdigest()[:12]}"
    base = _cache(environment)
    folder = (base or top) / "suspects" / BUILDS / name
    with suppress(OSError):
        there = next(place for place in (folder, *folder.parents) if place.is_dir())
        if not folder.resolve().is_relative_to(top) and not _closed(there, accounts):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / REPOSITORY).write_bytes(os.fsencode(top))
            if not _closed(folder, accounts):
                _forget(top / OWN / BUILDS, *_orphans(folder.parent))
                return folder
    return own_folder(top) / BUILDS


def _closed(folder: Path, accounts: Collection[Account | None]) -> bool:
    return any(checkout.closed_folder(folder, account) is not None for account in accounts)


def _cache(environment: Mapping[str, str]) -> Path | None:
    """The user's folder for caches; None: there is none."""
    named, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "")
    if named.startswith("/"):  # a relative one does not count (XDG Base Directory Specification)
        return Path(named)
    return Path(home, ".cache") if home.startswith("/") else None


def _orphans(caches: Path) -> Iterator[Path]:
    """Folders of built trees whose repository is gone."""
    for marker in caches.glob(f"*/{REPOSITORY}"):
        with suppress(OSError):
            if not Path(os.fsdecode(marker.read_bytes())).is_dir():
                yield marker.parent


def _forget(*folders: Path) -> None:
    """Removes built trees, but those that some run uses."""
    for folder in folders:
        with suppress(OSError):
            if folder.is_dir() and not folder.is_symlink():
                build_cache.prune(folder, 0)
                if {place.name for place in folder.iterdir() if place.is_dir()} <= {"kept"}:
                    checkout.remove(folder)
