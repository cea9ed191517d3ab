"""Without noise: gaps over which a configuration differs are halved until all steps are placed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from bot.analysis.change_points.steps import StepModel
from bot.model.change_points import Probe
from bot.model.space import Configuration


def halved(model: StepModel, least: float = 0.0) -> Iterator[list[Probe]]:
    """Without noise: halves every gap over which a configuration differs, until all steps are placed.

    least: smaller differences, as a share of the level, do not matter.
    """
    log = model.log
    while True:
        wished: dict[Probe, None] = {}
        gaps, placed = _gaps(model, least)
        for configuration, before, after in gaps:
            # Where another configuration's step is, this one's is first looked for.
            there = [r for at in placed if before < at <= after for r in (at - 1, at) if before < r < after]
            for revision in (*there, *_between(before, after)):
                known = log.known(configuration, revision)
                if not known and log.usable(configuration, revision):
                    wished[Probe(configuration, revision)] = None
                    break
        if not wished:
            return
        yield list(wished)


def _gaps(model: StepModel, least: float) -> tuple[list[tuple[Configuration, int, int]], list[int]]:
    """Unexplained differences of neighbouring revisions, each gap in one configuration; places found."""
    log = model.log
    model.fit()
    c, r, y, sd = log.columns()
    for step in model.steps:
        y = y - step.size * (model.cover(step)[c] & (r >= step.at))
    enough = np.maximum(10.0 * sd, least * (1.0 if log.relative else log.means()[c]))
    ours = np.isin(c, list(log.place.values()))  # not what earlier nights measured
    gaps: list[tuple[Configuration, int, int]] = []
    placed: dict[int, None] = {}
    for i, j in pairwise(np.lexsort((r, c))):
        if c[i] != c[j] or not ours[i] or abs(y[j] - y[i]) <= enough[j]:
            continue
        before, after = int(r[i]), int(r[j])
        if after - before == 1:
            placed[after] = None
        elif not any(a < after and before < b for _, a, b in gaps):
            gaps.append((log.configurations[int(c[i])], before, after))
    return gaps, list(placed)


def _between(before: int, after: int) -> Iterator[int]:
    """Revisions strictly between two, from the middle outwards."""
    middle = (before + after) // 2
    for distance in range(after - before):
        for revision in dict.fromkeys((middle - distance, middle + distance)):
            if before < revision < after:
                yield revision
