"""Whom a told step misses: configurations that hold its term and did not move, by what they share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.findings import Found, Look, covers_of
from bot.analysis.explanations.moves import Moves
from bot.analysis.explanations.telling import Missed

MISSED, RATHER, HIT = 1 / 3, 1 / 2, 2 / 3
"""Shares of a step's size: who surely moves less than the first is missed, who moves more than the second is
rather not, and who moves more than the last is hit."""
SURELY = 4.0
"""Standard errors by which a missed configuration's move is off the step."""
FEWEST = 2
"""Configurations that are hit: one could be the odd one itself."""
MOST_LEVELS, MOST_ABSENT = 4, 6
"""... of a term; and of one that says that none of several options is on: that covers least."""


def spared(parts: Sequence[int], ratio: float, *, found: Sequence[Found], look: Look) -> Missed | None:
    """A term that all missed configurations hold and no other one does; None: nobody is, or none says it.

    Missed is also who moves by the same seconds as all, which are next to nothing of what it takes.

    Where any of three options leads through the changed code, everything is told, and who uses none of them
    is missed. parts: the step, in seconds and as a share; ratio: as told.
    """
    evidence, holds, levels = look.evidence, look.holds, look.terms.levels
    covers = covers_of(found, look.terms, holds)
    if (undone := _undone(parts, found, look, covers=covers)) is not None:
        return undone
    missed: list[int] = []
    others: list[int] = []
    hit = 0
    for c in np.unique(evidence.table.configuration).tolist():
        if not covers[parts[0]][c]:
            continue
        if _as_amount(c, parts, found, evidence) < min(MISSED * abs(ratio - 1.0), look.least):
            missed.append(c)
            continue
        share, doubt = _moved(c, parts, found, evidence, covers=covers, ratio=ratio)
        if abs(share - 1.0) > SURELY * doubt and share < MISSED:
            missed.append(c)
        elif share > RATHER:  # the others speak neither for a name nor against it
            others.append(c)
            hit += share > HIT
    if not missed or hit < FEWEST:
        return None
    common = np.flatnonzero(holds[missed].all(axis=0)).tolist()
    if holds[others][:, common].all(axis=1).any():
        return None
    # What most of the others hold, too, says least of who is missed.
    for level in sorted(common, key=lambda k: -int(holds[others, k].sum())):
        rest = [k for k in common if k != level]
        if rest and not holds[others][:, rest].all(axis=1).any():
            common = rest
    absent = all(levels[k].operator == "off" for k in common)
    # Some term of many levels fits whoever is missed; that who uses none of several options is, is no chance.
    if len(common) > (MOST_ABSENT if absent else min(MOST_LEVELS, len(missed))):
        return None
    return Missed(tuple(levels[k] for k in common), np.asarray(holds[:, common].all(axis=1)))


def _undone(parts: Sequence[int], found: Sequence[Found], look: Look, *, covers: Floats) -> Missed | None:
    """The term for which what is outweighed takes a step back; of several the widest; None: there is none."""
    at, levels = found[parts[0]].at, look.evidence.levels()
    steps = [(k, s) for k, s in enumerate(found) if s.outweighed and s.at == at]
    moves = Moves(found, covers, levels).each()
    terms = []
    for term in dict.fromkeys(s.term for _, s in steps):
        same = [k for k, s in steps if s.term == term]
        rows = (covers[same[0]] > 0) & (covers[parts[0]] > 0)
        own, whole = (moves[which][:, rows].sum(axis=0) for which in (parts, [*parts, *same]))
        if rows.any() and np.median(np.abs(whole)) < MISSED * np.median(np.abs(own)):
            terms.append(Missed(term, rows))
    return max(terms, key=lambda missed: missed.rows.sum(), default=None)


def _as_amount(c: int, parts: Sequence[int], found: Sequence[Found], evidence: Evidence) -> float:
    """Which share of a configuration's level the seconds of a step are; infinite: it is no amount."""
    if len(parts) > 1 or found[parts[0]].share or evidence.table.relative:
        return math.inf
    return abs(found[parts[0]].size) / float(evidence.levels()[c])


def _moved(
    c: int,
    parts: Sequence[int],
    found: Sequence[Found],
    evidence: Evidence,
    *,
    covers: Floats,
    ratio: float,
) -> tuple[float, float]:
    """Which share of a step a configuration moved by, and its standard error; NaN: nobody knows.

    From the nearest trials before and after; where another step is told between them, it is not known.
    """
    table, step = evidence.table, found[parts[0]]
    mine = table.configuration == c
    before, after = mine & (table.revision < step.low), mine & (table.revision >= step.high)
    if not before.any() or not after.any():
        return np.nan, np.inf
    one = int(np.flatnonzero(before)[-1])
    two = int(np.flatnonzero(after)[0])
    between = range(int(table.revision[one]) + 1, int(table.revision[two]) + 1)
    told = [k for k, s in enumerate(found) if s.certain and s.at in between and k not in parts]
    if any(covers[k][c] for k in told):
        return np.nan, np.inf
    level = float(evidence.levels()[c]) * evidence.scales.unit
    whole = step.size * (level if step.share else evidence.scales.unit)
    if len(parts) > 1:  # a share less and an amount more would have moved it as it did, whatever that is
        whole = math.log(ratio) if table.relative else (ratio - 1.0) * float(table.value[one])
    counts = table.count[[one, two]]
    doubt = float(evidence.noises[c]) * level * np.sqrt(sum(1.0 / n for n in counts.tolist() if n))
    return float(table.value[two] - table.value[one]) / whole, float(doubt / abs(whole))
