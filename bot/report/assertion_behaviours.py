"""How the groups of an assertion look: a colour from fast to slow, a dash, and words for what they did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.model.report_assertions import AssertionGroup, AssertionOutcome
from bot.report.formats import change, clean

COLOURS = {1: (1,), 2: (1, 5), 3: (1, 4, 5), 4: (1, 2, 4, 5), 5: (1, 2, 3, 4, 5)}
"""Variables --group-1 (fast) to --group-5 (slow) by number of groups."""
DASHES = ("", "9 4", "3 3", "14 3 3 3", "6 2", "2 5")
"""From slow to fast: the slowest way is the one that is drawn through."""
MOST_GROUPS = 12
"""That are drawn; a method has two or three."""
OUTSIDE = "var(--muted)"


@dataclass(frozen=True)
class Behaviour:
    """A group as it is drawn. number: from 1. halo: around its lines where it moved, "": it did not."""

    number: int
    group: AssertionGroup
    colour: str
    dash: str
    halo: str
    tone: str
    status: str
    condition: str


def behaviours(outcome: AssertionOutcome) -> list[Behaviour]:
    """One for each group, in their order."""
    groups = outcome.groups[:MOST_GROUPS]
    slow_last = sorted(range(len(groups)), key=lambda k: (slowness(groups[k]), k))
    shades = COLOURS[min(len(groups), 5) or 1] if len(groups) > 1 or not outcome.slower else (5,)
    found = {}
    for rank, k in enumerate(slow_last):
        group = groups[k]
        shade = shades[round(rank * (len(shades) - 1) / max(len(groups) - 1, 1))]
        tone, status = _status(group, slower=outcome.slower)
        found[k] = Behaviour(
            number=k + 1,
            group=group,
            colour=f"var(--group-{shade})",
            dash=DASHES[(len(groups) - 1 - rank) % len(DASHES)],
            halo=f"var(--{tone})" if group.outcome == "violated" else "",
            tone=f"var(--{tone})",
            status=status,
            condition=clean(group.when or group.expression),
        )
    return [found[k] for k in range(len(groups))]


def slowness(group: AssertionGroup) -> float:
    """The mean cluster of its calls at head, as far as that was seen: 0 is the fastest."""
    seen = shares(group.observed) or shares(group.expected)
    return sum(k * share for k, share in enumerate(seen))


def shares(found: Sequence[float]) -> list[float]:
    """Shares that can be drawn: none of less than nothing, one together; empty when there are none."""
    usable = [share if math.isfinite(share) and share > 0 else 0.0 for share in found]
    whole = sum(usable)
    return [share / whole for share in usable] if whole > 0 else []


def _status(group: AssertionGroup, *, slower: bool) -> tuple[str, str]:
    """Its colour's name, and what it did."""
    if group.outcome != "violated":
        return "muted", "as expected" if group.outcome == "held" else "undecided"
    ratio = group.ratio if group.ratio is not None and math.isfinite(group.ratio) else None
    worse = slower if ratio is None else ratio > 1
    much = "" if ratio is None else f": a call takes {change(ratio, group.interval)}"
    some = f" over {len(group.paths)} of its call paths" if group.paths else ""
    return ("bad", f"slower{some}{much}") if worse else ("good", f"faster{some}{much}")
