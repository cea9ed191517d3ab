"""How small a lasting change of each option's cost the trials of a short range would have shown."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.visible import EDGE, NAMED, plain, told
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.findings import Look
from bot.model.report import Visible, VisibleOption
from bot.model.space import Space

SEEN = 3.0
"""Expected log odds, without further trials, from which on a search finds at least four changes of five:
benchmarks/change_points/results/visible.md."""


def visible_changes(look: Look, space: Space) -> Visible:
    """The report's `visible`, by the model with which the search itself weighs trials.

    Of an option its least visible value counts, and the least visible revision.
    """
    evidence, terms = look.evidence, look.terms
    lasting = _lasting(evidence)
    if not lasting.any():
        return Visible()
    # Of logarithms an amount is a share.
    first = 0 if evidence.table.relative else len(terms)
    sizes = evidence.least(look.best, SEEN).reshape(len(evidence.kinds), -1)[first:, lasting].max(axis=1)
    measured, cells = np.unique(evidence.table.configuration, return_counts=True)
    exercised = look.holds[measured[cells > 1]].any(axis=0)
    worst: dict[str, float] = {}
    for level, size, known in zip(terms.levels, sizes[1:], exercised, strict=False):
        if known and plain(level):
            worst[level.option] = max(worst.get(level.option, 0.0), float(size))

    def claim(size: float) -> float | None:
        return told(max(evidence.table.ratio(size) - 1.0, look.least))

    return Visible(
        options=tuple(
            VisibleOption(option=name, slow_down=claim(worst.get(name, math.inf))) for name in space.names
        ),
        everything=claim(float(sizes[0])),
        levels_not_exercised=tuple(
            str(level)
            for level, known in zip(terms.levels, exercised, strict=True)
            if not known and level.operator in NAMED
        ),
    )


def _lasting(evidence: Evidence) -> NDArray[np.bool_]:
    """Places in which a lasting change may begin, (n_places,); none: some were never surrounded by trials."""
    before, after, edge = evidence.cuts[:-1], evidence.cuts[1:], max(1.0, EDGE * evidence.revisions)
    surrounded = before[0] < edge and after[-1] >= evidence.revisions - edge
    return np.asarray(surrounded & (after >= edge) & (before < evidence.revisions - edge))
