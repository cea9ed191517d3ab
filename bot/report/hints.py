"""What a reader can do about a failure whose cause shows, and about a budget that is too small."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from bot.report.formats import seconds

_CLOSED = re.compile(r"permission ?denied|access ?denied|not permitted|EACCES|EPERM", re.IGNORECASE)
_TEMPORARY = re.compile(r"(?<![\w./-])(/(?:var/)?tmp)/(?!suspects-)")
_JAVA = "TempFile"
"""In a Java program's trace, which does not name the folder."""


def remedy(reasons: Iterable[str]) -> tuple[str, str] | None:
    """A folder that the sandbox kept closed, as it seems, and the key of the configuration that opens it."""
    for reason in reasons:
        if _CLOSED.search(reason) and ((found := _TEMPORARY.search(reason)) or _JAVA in reason):
            return (found[1] if found else "/tmp"), "program.writable"  # noqa: S108  a text for people
    return None


def longer(wanted: float) -> str:
    """What to do about a budget that holds too few configurations; wanted: seconds of one that does not."""
    whole = seconds(60.0 * math.ceil(wanted / 60.0))
    return (
        "That is few to tell options apart, and only large changes would be seen: a smaller workload "
        f"makes room, or about {whole} of budget (budget.pull_request, or --budget)."
    )
