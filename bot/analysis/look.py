"""Looks at all pairs: every candidate's pooled mean against the margin, with its share of the error rate."""

from __future__ import annotations

import numpy as np

from bot.analysis.candidates import Candidates
from bot.analysis.distributions import normal_quantile
from bot.analysis.pairs import Floats
from bot.analysis.sequential import SINGLE

SHARE = 0.5
"""Share of the error rate kept for looks."""
FIRST, NEXT = 1.0 / 2.0, 1.0 / 9.0
"""Of that: for the first look at the end; for each later one, of the one before. Nine sixteenths together."""
EARLY = (1.0 / 16.0, 1.0 / 16.0, 1.0 / 16.0, 1.0 / 4.0)
"""Of that: for each look before the end. What is left is what looks at the end take."""
CLIP = 3.0
"""Scales at which a pair's distance from the margin is cut: no single pair decides."""


def standing_out(found: Candidates, values: Floats, scale: Floats, margin: float) -> Floats:
    """Self-normalised sum of each candidate's pairs beyond the margin, for harm and benefit, (n_terms, 2).

    values: log ratios, (n_configurations, most pairs), NaN where there are fewer; scale: (n_configurations,).
    With x the distance of a pair from the margin in scales, cut at `CLIP`: sum x / sqrt(sum x^2). When x is
    symmetric around a centre at or below 0 its tail is at most that of a sum of random signs, exp(-t^2 / 2)
    (Efron 1969; Hoeffding 1963), and close to the normal one.
    """
    covers = found.covers.astype(np.float64)
    single = np.array([kind == "configuration" for kind in found.kinds])
    scores = np.zeros((len(covers), 2))
    for rows, own in ((~single, margin), (single, SINGLE * margin)):
        for direction, sign in enumerate((1.0, -1.0)):
            x = np.nan_to_num(np.clip((sign * values - own) / scale[:, None], -CLIP, CLIP))
            total = covers[rows] @ np.stack([x.sum(axis=1), (x**2).sum(axis=1)], axis=1)
            scores[rows, direction] = total[:, 0] / np.sqrt(np.maximum(total[:, 1], 1e-12))
    return scores


def needed_score(alpha: float, prior: Floats) -> Floats:
    """Score at which a candidate alarms, the error rate spread like the prior (weighted Bonferroni)."""
    return -normal_quantile(alpha * prior)
