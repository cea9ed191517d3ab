"""How small a lasting change of each option's cost the trials of a short range would have shown."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.terms import Term
from bot.analysis.change_points.visible import EDGE, by_option, plain
from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.findings import Look
from bot.model.report import Visible
from bot.model.space import Space

SEEN = 3.0
"""Expected log odds, without further trials, from which on a search finds at least four changes of five:
benchmarks/change_points/results/visible.md."""


def visible_changes(look: Look, space: Space) -> Visible:
    """The report's `visible`, by the model with which the search itself weighs trials.

    Of an option its least visible value counts, and the least visible revision.
    """
    evidence, terms = look.evidence, look.terms
    everything, *sizes = _sizes(look).max(axis=1, initial=0.0).tolist()
    if not any((everything, *sizes)):
        return Visible()

    def claim(size: float) -> float:
        return max(evidence.table.ratio(size) - 1.0, look.least) if size else math.inf

    worst = zip(terms.levels, sizes, _exercised(look), strict=True)
    claims = {level: claim(size) if known else None for level, size, known in worst}
    return by_option(space, claims, everything=claim(everything))


def least_visible(look: Look) -> list[tuple[Term, int, float]]:
    """Everything and levels that stand for options, each with its least visible candidate, and that size.

    Without those of which nothing can be promised.
    """
    sizes = _sizes(look)
    candidates = (_first(look) + np.arange(len(sizes))) * look.evidence.places + sizes.argmax(axis=1)
    terms = [(), *((level,) for level in look.terms.levels)]
    found = zip(terms, candidates.tolist(), sizes.max(axis=1).tolist(), strict=True)
    return [each for each in found if each[2] and all(map(plain, each[0]))]


def _sizes(look: Look) -> Floats:
    """From which size on shares of everything and of each level are visible, (1 + n_levels, n_places).

    0: a lasting change cannot begin there.
    """
    evidence, first = look.evidence, _first(look)
    sizes = evidence.least(look.best, SEEN).reshape(len(evidence.kinds), -1)
    return np.where(_lasting(look), sizes[first : first + 1 + len(look.terms.levels)], 0.0)


def _first(look: Look) -> int:
    """The first kind that is a share: of logarithms an amount is one."""
    return 0 if look.evidence.table.relative else len(look.terms)


def _exercised(look: Look) -> NDArray[np.bool_]:
    """Levels that a configuration held which was measured at two revisions, (n_levels,)."""
    measured, cells = np.unique(look.evidence.table.configuration, return_counts=True)
    return np.asarray(look.holds[measured[cells > 1]].any(axis=0))


def _lasting(look: Look) -> NDArray[np.bool_]:
    """Places in which a lasting change may begin of everything and of each level, (1 + n_levels, n_places).

    None where its first or last revisions that may have a value are not surrounded by trials. Where something
    is known to have changed already, no other change is promised to be seen.
    """
    evidence = look.evidence
    before, after = evidence.cuts[:-1], evidence.cuts[1:]
    works = [look.usable, *(look.usable[held] for held in look.holds.T)]
    found = np.zeros((len(works), evidence.places), dtype=bool)
    for row, usable in zip(found, works, strict=True):
        revisions = np.flatnonzero(usable.any(axis=0))
        if not len(revisions):
            continue
        first, end = int(revisions[0]), int(revisions[-1]) + 1
        edge = max(1.0, EDGE * (end - first))
        surrounded = before[0] < first + edge and after[-1] >= end - edge
        row[:] = surrounded & (after >= first + edge) & (before < end - edge)
    found[:, [j % evidence.places for j in look.best]] = False
    return found
