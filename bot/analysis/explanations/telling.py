"""From steps to change points: those that are told, their ratios, and whom they miss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bot.analysis.change_points.findings import QUANTILE, change_point, shape_of
from bot.analysis.change_points.terms import Term, Terms
from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.findings import Bools, Found
from bot.model.change_points import ChangePoint


class Missed(NamedTuple):
    """The term of those that are missed, and which they are, (n_configurations,)."""

    term: Term
    rows: Bools


def told(
    found: Sequence[Found],
    evidence: Evidence,
    covers: Floats,
    terms: Terms,
    revisions: int,
    *,
    spared: Callable[[Sequence[int], float], Missed | None] = lambda _parts, _ratio: None,
) -> tuple[ChangePoint, ...]:
    """The steps that are probable and clear, as change points; spared: whom a step of this ratio misses.

    covers: by step, the configurations that hold its term, (n_steps, n_configurations) of 0 and 1.
    ratio: after over before in the median measured configuration that holds the term and is not missed.
    """
    kept = [step for step in found if step.certain]
    points = []
    for step in {(s.at, s.term): s for s in kept}.values():
        # In seconds and as a share of the level at once: one change.
        parts = [k for k, s in enumerate(found) if (s.at, s.term) == (step.at, step.term) and s in kept]
        middle, interval = _ratio(found, parts, evidence, covers, hit=covers[parts[0]] > 0)
        missed = spared(parts, middle)
        if missed is not None:
            middle, interval = _ratio(
                found, parts, evidence, covers, hit=(covers[parts[0]] > 0) & ~missed.rows
            )
        shape = shape_of(step, kept, revisions)
        point = change_point(step, terms, ratio=middle, ratio_interval=interval, shape=shape)
        points.append(point if missed is None else replace(point, spared=(terms.named(missed.term),)))
    return tuple(points)


def _ratio(
    found: Sequence[Found], parts: Sequence[int], evidence: Evidence, covers: Floats, *, hit: Bools
) -> tuple[float, tuple[float, float]]:
    """Median ratio over the measured configurations among `hit`, and its 90 % interval."""
    table, step = evidence.table, found[parts[0]]
    y = table.value / evidence.scales.unit
    level = evidence.levels()[table.configuration]
    for k, other in enumerate(found):  # as if all trials were just before the step
        moved = other.size * covers[k][table.configuration] * (level if other.share else 1.0)
        y = y - np.where(other.at <= table.revision, moved, 0.0) + (moved if other.at < step.at else 0.0)
    moves = [0.0]
    for c in (c for c in np.unique(table.configuration) if hit[c]):
        mine = table.configuration == c
        before = max(float(np.median(y[mine])), 1e-3)
        each = np.array([float(level[mine][0]) if found[k].share else 1.0 for k in parts]) / before
        moves.append(float(each @ [found[k].size for k in parts]))
    move = float(np.median(moves[1:] or moves))
    reach = QUANTILE * abs(move) / step.clarity
    low, middle, high = (max(1.0 + move + d, 1e-3) for d in (-reach, 0.0, reach))
    return middle, (low, high)
