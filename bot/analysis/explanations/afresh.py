"""Whether steps explain the trials rather than the noise that they were taken for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.scales import Scales, learn, likelihood

DECISIVE = 10.0
"""Log odds from which on steps are believed where noise was believed before."""


def worth(
    evidence: Evidence, chosen: Sequence[int], on: Floats, *, scales: Scales, moved: Floats | None
) -> float:
    """Log posterior of an explanation and of scales, sizes integrated out, but for a constant."""
    steps = evidence.columns(np.array(chosen, dtype=np.intp)).astype(np.float64)
    return likelihood(scales, evidence.table, on, steps, moved) + float(
        evidence.log_prior[list(chosen)].sum()
    )


def of_steps(evidence: Evidence, ensemble: Ensemble, on: Floats, *, known: float) -> Scales | None:
    """The scales beside an explanation by steps; None: what is believed explains the trials nearly as well.

    Scales and steps are learned in turn: what was once taken for noise would remain noise, and hide that.
    evidence: under the scales that are expected beforehand. ensemble: a fresh one, which looks at it.
    on: 0 or 1, (n_configurations, n_options). known: see `worth`, of what is believed.
    """
    ensemble.look(evidence)
    if not ensemble.best_:
        return None
    steps = evidence.columns(np.array(ensemble.best_)).astype(np.float64)
    sizes = evidence.sizes(ensemble.best_)[0]
    moving = learn(evidence.scales, evidence.table, on, steps=steps, sizes=sizes)
    gain = worth(evidence, ensemble.best_, on, scales=moving, moved=None) - known
    return moving if gain >= DECISIVE else None
