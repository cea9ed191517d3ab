"""Where something surely moved whose name is not sure: other explanations move something there, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from bot.analysis.change_points.terms import Terms
from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.findings import SURE, Found, Look
from bot.model.change_points import Doubt
from bot.model.space import Term

HEARD, MOST = 0.2, 3
"""Share of explanations from which on a term of theirs is told as a likely one; of so many terms at most."""


def doubtful(look: Look, found: Sequence[Found]) -> tuple[Doubt, ...]:
    """The places of clear steps without a sure name, in order of revision.

    There most explanations (`SURE`) have a step beside what is told that moves a measured configuration by
    `Look.least` or more.
    """
    evidence, terms = look.evidence, look.terms
    drawn = [(chosen, evidence.sizes(chosen)[0]) for chosen in look.drawn if chosen]
    places = {(step.at, step.low, step.high) for step in found if step.clear and not step.told}
    doubts = []
    for at, low, high in sorted(places):
        known = (s for s in found if s.clear and s.told and s.low <= high and s.high >= low)
        told = {terms.named(s.term) for s in known}
        heard: Counter[Term] = Counter()
        moved = []
        for chosen, sizes in drawn:
            beside = _beside(chosen, sizes, evidence, terms, (low, high), told)
            far = {term: size for term, size in beside.items() if abs(size) >= look.least}
            heard.update(far.keys())
            moved += [max(far.values(), key=abs)] if far else []
        if len(moved) < SURE * len(look.drawn):
            continue
        likely = [term for term, count in heard.most_common(MOST) if count >= HEARD * len(drawn)]
        ratio = evidence.table.ratio(float(np.median(moved)))
        doubts.append(Doubt(at, (low, high), tuple(likely), ratio, bool(told)))
    return tuple(doubt for doubt in doubts if not any(_narrower(other, doubt) for other in doubts))


def _narrower(other: Doubt, doubt: Doubt) -> bool:
    """Whether another doubt says the same of fewer revisions."""
    within = doubt.interval[0] <= other.interval[0] and other.interval[1] <= doubt.interval[1]
    return within and other.interval != doubt.interval and other.terms == doubt.terms


def _beside(
    chosen: Sequence[int],
    sizes: Floats,
    evidence: Evidence,
    terms: Terms,
    window: tuple[int, int],
    told: set[Term],
) -> dict[Term, float]:
    """Terms that an explanation moves in a window of revisions, but for those told, and by which share."""
    measured = np.unique(evidence.table.configuration)
    level = evidence.levels()[measured]
    moves: dict[Term, Floats] = {}
    for candidate, size in zip(chosen, sizes, strict=True):
        kind, place = divmod(candidate, evidence.places)
        name = terms.named(evidence.kinds.name(kind))
        if window[0] <= evidence.cuts[place + 1] <= window[1] and name not in told:
            moves[name] = moves.get(name, 0.0) + size * evidence.design[measured, kind] / level
    return {term: float(each[np.argmax(np.abs(each))]) for term, each in moves.items()}
