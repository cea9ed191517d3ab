"""Which program a CMake file builds, through the variables that it is named by."""

from __future__ import annotations

import re
from collections.abc import Mapping

_COMMAND = re.compile(
    r"^\s*(?P<command>set|project|add_executable)\s*\(\s*(?P<first>[\w.+${}-]+)(?:\s+\"?(?P<second>[\w.+${}/-]+))?",
    re.MULTILINE | re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_NAME = re.compile(r"[A-Za-z0-9_.+-]+")


def executables(text: str) -> list[str]:
    """Names of the executables in the order of the file, without those whose name is set elsewhere.

    A variable has the value that was set last above it, in whatever branch: few files set one twice.
    """
    known: dict[str, str] = {}
    found = []
    for match in _COMMAND.finditer(text):
        command, first = match["command"].lower(), _filled(match["first"], known)
        if command == "add_executable":
            found += [first] if _NAME.fullmatch(first) else []
        elif command == "project":
            known["PROJECT_NAME"] = first
        elif match["second"]:
            known[first] = _filled(match["second"], known)
    return found


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: known.get(match[1], match[0]), text)
