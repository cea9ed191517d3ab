"""From steps to change points: those that are told, their ratios, and whom they miss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bot.analysis.change_points.findings import change_point, shape_of
from bot.analysis.change_points.intervals import LEAST, QUANTILE
from bot.analysis.change_points.terms import Term
from bot.analysis.explanations.cells import Bools, Floats
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.findings import Found, Look, covers_of
from bot.model.change_points import ChangePoint


class Missed(NamedTuple):
    """The term of those that are missed, and which they are, (n_configurations,)."""

    term: Term
    rows: Bools


class _Size(NamedTuple):
    """Ratio of the median configuration, how far it may be off, and how far those of others are from it."""

    ratio: float
    error: float
    apart: float

    @property
    def interval(self) -> tuple[float, float]:
        """Within which the ratio is in 90 % of the configurations."""
        reach = QUANTILE * math.hypot(self.error, self.apart) / self.ratio
        return self.ratio * math.exp(-reach), self.ratio * math.exp(reach)

    def small(self, least: float) -> bool:
        """Whether the change is surely smaller than a share: by half a point less, one would be lost."""
        return abs(self.ratio - 1.0) + QUANTILE * self.error < least


def told(
    found: Sequence[Found],
    look: Look,
    revisions: int,
    *,
    spared: Callable[[Sequence[int], float], Missed | None] = lambda _parts, _ratio: None,
) -> tuple[ChangePoint, ...]:
    """The steps that are probable and clear, as change points; spared: whom a step of this ratio misses.

    ratio: after over before in the median measured configuration that holds the term and is not missed.
    Changes that are surely smaller than what matters are not told.
    """
    evidence, covers, terms = look.evidence, covers_of(found, look.terms, look.holds), look.terms
    kept = [step for step in found if step.certain]
    points = []
    for step in {(s.at, s.term): s for s in kept}.values():
        # In seconds and as a share of the level at once: one change.
        parts = [k for k, s in enumerate(found) if (s.at, s.term) == (step.at, step.term) and s in kept]
        # ... with what is not told of whom it moves.
        moving = [*parts, *(k for k, s in enumerate(found) if s.outweighed and s.at == step.at)]
        size = _size(found, moving, evidence, covers, hit=covers[parts[0]] > 0)
        missed = spared(parts, size.ratio)
        if missed is not None:
            size = _size(found, moving, evidence, covers, hit=(covers[parts[0]] > 0) & ~missed.rows)
        if size.small(look.least):
            continue
        shape = shape_of(step, kept, revisions)
        point = change_point(step, terms, ratio=size.ratio, ratio_interval=size.interval, shape=shape)
        points.append(point if missed is None else replace(point, spared=(terms.named(missed.term),)))
    return tuple(points)


def _size(
    found: Sequence[Found], parts: Sequence[int], evidence: Evidence, covers: Floats, *, hit: Bools
) -> _Size:
    """Of a step in the measured configurations among `hit`."""
    table, step = evidence.table, found[parts[0]]
    held, sizes = covers[parts], np.array([found[k].size for k in parts])
    if table.relative:
        measured = [c for c in np.unique(table.configuration) if hit[c]]
        share = float(np.median(sizes @ held[:, measured])) if measured else float(sizes[0])
        ratio = max(table.ratio(share), LEAST)
        return _Size(ratio, ratio * abs(share) / step.clarity, ratio * evidence.scales.uneven * share)
    y = table.value / evidence.scales.unit
    level = evidence.levels()[table.configuration]
    for k, other in enumerate(found):  # as if all trials were just before the step
        moved = other.size * covers[k][table.configuration] * (level if other.share else 1.0)
        y = y - np.where(other.at <= table.revision, moved, 0.0) + (moved if other.at < step.at else 0.0)
    moves = [0.0]
    for c in (c for c in np.unique(table.configuration) if hit[c]):
        mine = table.configuration == c
        before = max(float(np.median(y[mine])), LEAST)
        each = np.array([float(level[mine][0]) if found[k].share else 1.0 for k in parts]) / before
        moves.append(float(each @ (sizes * held[:, c])))
    move = float(np.median(moves[1:] or moves))
    apart = math.hypot(float(np.std(moves[1:] or moves)), evidence.scales.uneven * move)
    return _Size(max(1.0 + move, LEAST), abs(move) / step.clarity, apart)
