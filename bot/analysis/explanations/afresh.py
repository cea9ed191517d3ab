"""Whether steps explain the trials rather than the noise that they were taken for, and in which units."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bot.analysis.explanations.cells import Floats, Table
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.learning import learn, likelihood
from bot.analysis.explanations.pruning import pruned
from bot.analysis.explanations.scales import Scales

DECISIVE = 10.0
"""Log odds from which on steps are believed where noise was believed before."""
WIDE, FASTER = 4.0, 2.5
"""So many times the quickest configuration's time the slowest one takes where units are compared: where all
take about as long, a share is as good as the same seconds. Or so many times as long as at another revision:
noise is a share of what a trial takes, and of a program that became much faster it was larger before."""
SEVERAL = 5
"""Trials of a revision that say how long it takes: of fewer, disturbed ones may be the most."""


def wide(table: Table) -> bool:
    """Whether configurations, or revisions, take so unlike times that seconds and shares are not the same."""
    if table.relative:
        return True
    if table.value.min() <= 0.0:
        return False
    levels, share = list(table.levels().values()), table.value / table.level()
    often = np.flatnonzero(np.bincount(table.revision) >= SEVERAL)
    usual = [float(np.median(share[table.revision == r])) for r in often]
    in_time = max(usual) >= FASTER * min(usual) if usual else False
    return in_time or max(levels) >= WIDE * min(levels)


def worth(
    evidence: Evidence,
    chosen: Sequence[int],
    on: Floats,
    *,
    scales: Scales,
    moved: Floats | None,
    in_seconds: bool = False,
) -> float:
    """Log posterior of an explanation and of scales, sizes integrated out, but for a constant.

    in_seconds: see `likelihood`.
    """
    steps = evidence.columns(np.array(chosen, dtype=np.intp)).astype(np.float64)
    density = likelihood(scales, evidence.table, on, steps, moved, in_seconds=in_seconds)
    return density + float(evidence.log_prior[list(chosen)].sum())


def of_steps(
    evidence_of: Callable[[Scales], Evidence],
    ensemble: Ensemble,
    on: Floats,
    *,
    beforehand: Scales,
    known: float,
    in_other_units: bool = False,
) -> Scales | None:
    """The scales beside an explanation by steps; None: what is believed explains the trials nearly as well.

    Scales and steps are learned in turn: what was once taken for noise would remain noise, and hide that.
    evidence_of: the evidence under scales, beginning with those expected beforehand. ensemble: a fresh one,
    which looks at it. on: 0 or 1, (n_configurations, n_options). known: see `worth`, of what is believed, in
    seconds if that has other units: there the ensemble looks twice, for of the first steps many are blur.
    """
    scales = beforehand
    try:
        for _ in range(1 + in_other_units):
            evidence = evidence_of(scales)
            ensemble.look(evidence)
            best = pruned(evidence, ensemble.best_)
            if not best:
                return None
            steps = evidence.columns(np.array(best)).astype(np.float64)
            sizes = evidence.sizes(best)[0]
            # What is believed is weighed with its steps' unevenness, too.
            moved = evidence.moved(best, sizes)
            scales = learn(scales, evidence.table, on, steps=steps, sizes=sizes, moved=moved)
        told = worth(evidence, best, on, scales=scales, moved=moved, in_seconds=in_other_units)
    except np.linalg.LinAlgError:  # steps that cancel each other but for rounding explain nothing
        return None
    return scales if told - known >= DECISIVE else None
