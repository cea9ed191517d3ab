"""Whether steps explain the trials rather than the noise that they were taken for."""

from __future__ import annotations

import numpy as np

from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.scales import Scales, learn, likelihood

DECISIVE = 10.0
"""Log odds from which on steps are believed where noise was believed before."""


def of_steps(evidence: Evidence, ensemble: Ensemble, on: Floats) -> Scales | None:
    """The scales beside an explanation by steps; None: noise alone explains the trials nearly as well.

    Scales and steps are learned in turn: what was once taken for noise would remain noise, and hide that.
    evidence: under the scales that are expected beforehand. ensemble: a fresh one, which looks at it.
    on: 0 or 1, (n_configurations, n_options).
    """
    ensemble.look(evidence)
    if not ensemble.best_:
        return None
    table, beforehand = evidence.table, evidence.scales
    steps = evidence.columns(np.array(ensemble.best_)).astype(np.float64)
    none = np.zeros((len(table.value), 0))
    moving = learn(beforehand, table, on, steps=steps, sizes=evidence.sizes(ensemble.best_)[0])
    calm = learn(beforehand, table, on, steps=none, sizes=np.zeros(0))
    gain = likelihood(moving, table, on, steps, None) - likelihood(calm, table, on, none, None)
    return moving if gain + float(evidence.log_prior[ensemble.best_].sum()) >= DECISIVE else None
