"""Methods that matter and are hard to learn: those whose single calls are worth watching."""

from __future__ import annotations

import numpy as np

from bot.analysis.influences.learning import NOISY, InfluenceModels, Learnt

EPSILON = 0.05
"""Errors below that are good enough, however small the noise floor is; the published threshold."""


def hard_methods(models: InfluenceModels) -> tuple[str, ...]:
    """Of the methods that cost something and vary, those not learnt or far above noise, costliest first."""
    quantity = models.quantity_
    cost = np.nanmean(models.sample_.means(quantity), axis=0)
    found = [
        (cost[j], learnt.method)
        for j, learnt in enumerate(models.models_[quantity])
        if learnt.effort == "full" and learnt.method is not None and _hard(learnt)
    ]
    return tuple(name for _, name in sorted(found, key=lambda f: (-f[0], f[1])))


def _hard(learnt: Learnt) -> bool:
    noise = NOISY * float(np.nan_to_num(learnt.noise_floor))
    return learnt.state != "learnt" or learnt.error > max(noise, EPSILON)
