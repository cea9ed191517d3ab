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
WIDE = 4.0
"""So many times the least value the largest one is where units are compared: where all are about as long, a
share is as good as the same seconds. A trial's noise is a share, too: of a program that became much faster it
was larger before."""


def wide(table: Table) -> bool:
    """Whether values are so unlike, of configurations or in time, that seconds and shares differ."""
    if table.relative:
        return True
    least = float(table.value.min())
    return least > 0.0 and float(table.value.max()) >= WIDE * least


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
