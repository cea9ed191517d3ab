"""What a reader can do about a failure whose cause shows in what the program said."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CLOSED = re.compile(r"permission ?denied|access ?denied|not permitted|EACCES|EPERM", re.IGNORECASE)
_TEMPORARY = re.compile(r"(?<![\w./-])(/(?:var/)?tmp)/(?!suspects-)")
_JAVA = "TempFile"
"""In a Java program's trace, which does not name the folder."""
_MISSING = re.compile(
    r"no such file|not found|ENOENT|can't find|not (?:find|open|resolve)|does not exist", re.IGNORECASE
)


def remedy(reasons: Iterable[str]) -> tuple[str, str] | None:
    """A folder that the sandbox kept closed, as it seems, and the key of the configuration that opens it."""
    for reason in reasons:
        if _CLOSED.search(reason) and ((found := _TEMPORARY.search(reason)) or _JAVA in reason):
            return (found[1] if found else "/tmp"), "program.writable"  # noqa: S108  a text for people
    return None


def misses_neighbours(reasons: Iterable[str]) -> bool:
    """Whether something was not there, which may be what the input is used to lie beside."""
    return any(_MISSING.search(reason) for reason in reasons)
