"""Episodes: steps that the same term soon undoes, which no single step explains well."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bot.analysis.change_points.matched_filter import MatchedFilter
from bot.analysis.change_points.noise import Floats, Ints
from bot.analysis.change_points.steps import CLIPPED, PLACES, Step, StepModel
from bot.analysis.change_points.terms import Term
from bot.analysis.change_points.weighing import bayes_factor

LONGEST = 0.1
"""Longest episode, as a share of the range."""
RARE = math.log(10.0)
"""So much rarer than lasting steps episodes are beforehand (log odds)."""
ALIKE = 3.0
"""Places of an end whose evidence is this close to the best one's belong to its window."""


def episode(
    model: StepModel, revisions: int, *, needed: float, shunned: Sequence[tuple[int, int]] = ()
) -> tuple[Step, Step] | None:
    """Both ends of the episode that stands out most from what the steps explain; None: nothing stands out.

    needed: log posterior odds. shunned: stretches of revisions in which none is looked for.
    """
    c, r, w, residual = _clipped(model)
    measured = np.unique(r)
    places = (
        measured[np.unique(np.linspace(1, len(measured) - 1, PLACES).astype(int))]
        if len(measured) > 2
        else r[:0]
    )
    boxes = [
        (i, j)
        for i, first in enumerate(places.tolist())
        for j, end in enumerate(places.tolist())
        if 0 < end - first <= LONGEST * revisions and not any(first <= b and a <= end for a, b in shunned)
    ]
    if not boxes:
        return None
    seen = MatchedFilter(c, r, w, places=places, configurations=len(model.log.configurations))
    rows = model.terms.remembered(model.log.holds)
    moment = seen.moment(residual).T.astype(np.float32) @ rows
    weight = seen.weight.T.astype(np.float32) @ rows
    scores = np.full(len(boxes), -np.inf)
    terms = np.zeros(len(boxes), dtype=np.intp)
    for k, (i, j) in enumerate(boxes):
        score = bayes_factor(moment[i] - moment[j], weight[i] - weight[j], model.slab) + model.terms.log_prior
        terms[k] = np.argmax(score)
        scores[k] = score[terms[k]]
    best = int(np.argmax(scores))
    if scores[best] - math.log(len(boxes)) - RARE < needed:
        return None
    first, end = (int(places[k]) for k in boxes[best])
    return _ends(model, model.terms.term(int(terms[best])), (c, r, w * residual, w), around=(first, end))


def _clipped(model: StepModel) -> tuple[Ints, Ints, Floats, Floats]:
    """Configuration, revision, weight and residual of each trial; odd ones do not count in full."""
    c, r, _, sd = model.log.columns()
    residual = model.residual()
    return c, r, sd**-2.0, np.clip(residual, -CLIPPED * sd, CLIPPED * sd)


def _ends(
    model: StepModel, term: Term, sums: tuple[Ints, Ints, Floats, Floats], *, around: tuple[int, int]
) -> tuple[Step, Step]:
    """The two steps of an episode of a term, placed between the revisions at which the term was measured."""
    c, r, moment, weight = sums
    holding = model.terms.cover(term, model.log.holds)[c]
    length = around[1] - around[0]
    measured, place = np.unique(r[holding], return_inverse=True)
    before = np.concatenate([[0.0], np.bincount(place, moment[holding]).cumsum()])
    known = np.concatenate([[0.0], np.bincount(place, weight[holding]).cumsum()])
    # Gap k lies before the k-th measured revision: an episode lasts from one gap to a later one.
    low, high = (int(np.searchsorted(measured, x)) for x in (around[0] - length, around[1] + length))
    gaps = np.arange(max(low, 1), min(high, len(measured) - 1) + 1)
    start, stop = (g.ravel() for g in np.meshgrid(gaps, gaps, indexing="ij"))
    score = np.where(
        start < stop,
        bayes_factor(before[stop] - before[start], known[stop] - known[start], model.slab),
        -np.inf,
    )
    best = int(np.argmax(score))
    close = score > score[best] - ALIKE
    ends = []
    for gap, other in ((start, stop), (stop, start)):
        likely = gap[close & (other == other[best])]
        at = int(gap[best])
        ends.append(
            Step(term, int(measured[at]), int(measured[likely.min() - 1]) + 1, int(measured[likely.max()]))
        )
    one, two = ends
    one.partner, two.partner = two, one
    return one, two
