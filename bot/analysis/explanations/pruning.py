"""Explanations without the steps that are there by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.explanations.evidence import Evidence


def pruned(evidence: Evidence, chosen: Sequence[int]) -> list[int]:
    """An explanation without the steps that are less probable than none, one after the other.

    Of an explanation that was drawn some are there by chance, each with its small prior: beside these what
    two explanations are worth would be a matter of luck.
    """
    kept = np.array(chosen, dtype=np.intp)
    if not len(kept):
        return []
    mean, covariance = evidence.sizes(chosen)
    slab = evidence.scales.slab**2
    while len(kept):
        own = np.maximum(np.diag(covariance), 1e-12 * slab)
        gain = 0.5 * np.log(slab / own) - 0.5 * mean**2 / own - evidence.log_prior[kept]
        least = int(np.argmax(gain))
        if gain[least] <= 0.0:
            break
        # The others' sizes once one is known to be none.
        column = covariance[:, least]
        mean = mean - column * (mean[least] / own[least])
        covariance = covariance - np.outer(column, column) / own[least]
        rest = np.arange(len(kept)) != least
        kept, mean, covariance = kept[rest], mean[rest], covariance[np.ix_(rest, rest)]
    return [int(j) for j in kept]
