"""Tells of a command that a build did not find where it lies for the person who started us."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from bot.adapters.builds.checkout import closed_folder
from bot.model.sites import Account

_ABSENT = re.compile(
    r"(?:^|[\s:])([\w.+-]+): (?:(?:command )?not found|No such file or directory|Permission denied)$",
    re.MULTILINE,
)
"""What shells, make and env say; the name of a file with a folder is none of a command."""


def elsewhere(log: str, *, build_path: str, own_path: str, account: Account | None) -> str:
    """One sentence on a command that the end of a log misses and that lies on `own_path`; "": there is none.

    Tool chains of one user (rustup, sdkman, nvm) lie in his home; builds have a PATH and an account of their
    own.
    """
    for name in reversed(_ABSENT.findall(log)):
        if (path := shutil.which(name, path=own_path)) is None or _reached(name, build_path, account):
            continue
        folder = Path(path).parent
        if (closed := _closed(path, account)) is not None:
            return f"`{name}` is in {folder}, and the account that builds may not enter {closed}."
        return f"`{name}` is in {folder}, which the PATH of builds does not name: `pass_env: [PATH]` does."
    return ""


def _reached(name: str, build_path: str, account: Account | None) -> bool:
    found = shutil.which(name, path=build_path)
    return found is not None and _closed(found, account) is None


def _closed(path: str, account: Account | None) -> Path | None:
    ways = (Path(path).parent, Path(os.path.realpath(path)).parent)
    return next((closed for way in ways if (closed := closed_folder(way, account)) is not None), None)
