"""Whether the right method was blamed, from the stored profiles of a case; the same again after a change."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from bot.analysis.methods.blame import Blame, Compared, blame

PLANTED = "planted."
"""Module of what planted code calls in JVM programs: its cost is a part of the guilty method's."""
CLAIMED = (0.1, -0.1, 0.02, -0.02)
"""Changes that are claimed of equal programs, to see whether somebody is blamed for them."""


@dataclass(frozen=True)
class Truth:
    """The planted method's name and those that are as guilty; of none, when nothing was planted."""

    guilty: frozenset[str]
    callers: frozenset[str] = frozenset()


def score(compared: Compared, truth: Truth) -> dict[str, Any]:
    """What blame says with and without source texts."""
    began = time.process_time()
    full = blame(compared)
    seconds = time.process_time() - began
    if not truth.guilty:
        return {"named": _names(full), "claimed": claimed(compared), "blame": seconds}
    blind = blame(replace(compared, bodies=({}, {})))
    names = _names(full)
    heads = {method.name for profile in compared.head for method in profile.methods}
    # A method that the compiler inlined is seen in those that called it.
    right = truth.guilty if truth.guilty & heads else truth.callers
    found = next((c for c in full.changes if c.method.name in right), None)
    beside = sum(c.share for c in full.changes if c.method.name.startswith(PLANTED))
    return {
        "named": names,
        "right": bool(names) and names[0] in right,
        "blind": bool(blind.changes) and blind.changes[0].method.name in right,
        "among": found is not None,
        "share": None if found is None else found.share + beside,
        "interval": None if found is None else [end + beside for end in found.interval],
        "unexplained": full.unexplained,
        "blame": seconds,
    }


def claimed(compared: Compared) -> list[str]:
    """Who is named for changes up and down that are claimed of profiles of equal programs."""
    base = compared.seconds[0]
    names: set[str] = set()
    for change in CLAIMED:
        ratio = 1.0 + change
        found = blame(replace(compared, seconds=(base, base * ratio), interval=(ratio - 0.01, ratio + 0.01)))
        names |= {*_names(found)}
    return sorted(names)


def _names(found: Blame) -> list[str]:
    return [change.method.name for change in found.changes]
