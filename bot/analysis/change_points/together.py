"""Two terms that together explain best what happened at one place: neither need stand out alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bot.analysis.change_points.noise import Floats
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term

REACH = 0.04
"""Share of the range around a place whose trials speak."""
LOOKED_AT = 400
"""Terms of which all pairs are looked at: so many that show most alone, and relatives of those told."""
BEST = 6
"""Pairs that are told."""


def clusters(steps: Iterable[Step], width: float) -> list[list[Step]]:
    """Settled steps by place: those of a narrow interval that overlap."""
    found: list[list[Step]] = []
    placed = (s for s in steps if s.settled and s.partner is None and s.high - s.low < width)
    for step in sorted(placed, key=lambda s: s.low):
        if found and step.low <= max(s.high for s in found[-1]):
            found[-1].append(step)
        else:
            found.append([step])
    return found


def pairs(model: StepModel, cluster: Sequence[Step], reach: float) -> list[tuple[Term, Term]]:
    """The most probable pairs of terms, of any sizes, instead of a cluster of steps.

    By the contrasts of each configuration beside the place; sizes are integrated out as in
    `StepModel.gain`, jointly: two opposite steps hide each other where both terms hold.
    """
    place = Step((), cluster[0].at, min(s.low for s in cluster), max(s.high for s in cluster))
    every = list(model.steps)
    model.steps[:] = [s for s in every if s not in cluster]
    moments, informations = model.beside(place, reach)
    model.steps[:] = every
    seen = np.flatnonzero(informations[:, 0])
    held = model.terms.remembered(model.log.holds)[seen].astype(np.float64)
    moment, weight = moments[seen, 0], informations[seen, 0]
    alone = model.posterior((moment @ held)[:, None], (weight @ held)[:, None])[:, 0]
    related = [model.terms.relatives(step.term) for step in cluster]
    numbers = np.unique(np.concatenate([*related, np.argsort(-alone, kind="stable")[:LOOKED_AT]]))
    score = _joint(held[:, numbers], moment, weight, model.slab)
    prior = model.terms.log_prior[numbers]
    score += prior[:, None] + prior[None, :]
    score[np.tril_indices(len(numbers))] = -np.inf
    best = np.argsort(-score, axis=None)[:BEST]
    rows, columns = np.unravel_index(best, score.shape)
    return [
        (model.terms.term(int(numbers[i])), model.terms.term(int(numbers[j])))
        for i, j in zip(rows, columns, strict=True)
    ]


def _joint(held: Floats, moment: Floats, weight: Floats, slab: float) -> Floats:
    """Log Bayes factor of steps in two terms at once, (n_terms, n_terms).

    held: (n_configurations, n_terms) of 0 and 1; slab: precision of a size beforehand.
    """
    gram = held.T @ (held * weight[:, None])
    own, sums = np.diag(gram) + slab, moment @ held
    determinant = np.maximum(own[:, None] * own[None, :] - gram**2, 1e-12 * own[:, None] * own[None, :])
    square = sums[:, None] ** 2 * own[None, :] + sums[None, :] ** 2 * own[:, None]
    square -= 2.0 * np.outer(sums, sums) * gram
    return np.asarray(0.5 * square / determinant - 0.5 * np.log(determinant / slab**2))
