"""The one look at a table's comparison: its noise is known from elsewhere, or from what nothing explains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates
from bot.analysis.distributions import student_quantile
from bot.analysis.pairs import Floats
from bot.analysis.power import POWER
from bot.analysis.recorded import Recorded
from bot.analysis.sequential import SINGLE
from bot.analysis.terms import EFFECTS

CLIP = 4.0
"""Scales at which a configuration's distance from the margin is cut: two may alarm together, one never."""


class RecordedLook:
    """Means of configurations, each of them one observation, against a noise that pairs do not show.

    values: mean log ratios as harm, NaN where there is none; counts: pairs of each, (n_configurations,).
    A candidate's configurations scatter around its mean, all others around 0: as in an analysis of variance,
    where the table's own noise counts like its degrees of freedom.
    """

    def __init__(
        self, values: Floats, counts: NDArray[np.int64], known: Recorded, *, margin: float, floor: float
    ) -> None:
        self._values, self._known, self._margin, self._floor = np.nan_to_num(values), known, margin, floor
        self._weight = counts.astype(np.float64)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the scales."""
        return self._known.freedom + max(float((self._weight > 0).sum()) - 1.0, 1.0)

    def scales(self, covers: NDArray[np.bool_]) -> Floats:
        """Scale of a pair's log ratio around each candidate's mean, (n_terms,)."""
        inside = covers @ self._weight
        mean = covers @ (self._weight * self._values) / np.maximum(inside, 1.0)
        left = np.maximum(float(self._weight @ self._values**2) - inside * mean**2, 0.0)
        known = self._known.freedom * self._known.noise**2
        return np.maximum(np.sqrt((known + left) / self.freedom), self._floor)

    def scale(self, found: Candidates, alpha: float) -> float:
        """Scale of a pair's log ratio around a sum of candidates that each explain more than chance does."""
        general = np.array([kind != "configuration" for kind in found.kinds])
        left = self
        for _ in range(EFFECTS):
            scales = np.where(general, left.scales(found.covers), np.inf)
            alarming = general & (left.scores(found) >= left.needed(alpha, found.prior)[:, None]).any(axis=1)
            if not alarming.any():
                break
            best = int(np.argmin(np.where(alarming, scales, np.inf)))
            left = left.without(found.covers[best])
        none = np.zeros((1, len(self._weight)), dtype=bool)
        return min(float(left.scales(none)[0]), self._around_two(found, alpha))

    def _around_two(self, found: Candidates, alpha: float) -> float:
        """Scale around the best sum of two options, if the second is more than chance; else infinite.

        Both of two guilty options are half explained by everything, beside which neither stands out.
        """
        rows = np.array([i for i, kind in enumerate(found.kinds) if kind in ("everything", "level")])
        covers = found.covers[rows].astype(np.float64)
        gram = (covers * self._weight) @ covers.T
        moment, size = covers @ (self._weight * self._values), np.maximum(gram.diagonal(), 1e-9)
        apart = np.maximum(np.outer(size, size) - gram**2, 1e-9)
        cross = np.outer(moment, moment) * gram
        gain = (np.outer(moment**2, size) + np.outer(size, moment**2) - 2.0 * cross) / apart
        gain[apart < 1e-6 * np.outer(size, size)] = 0.0
        known = self._known.freedom * self._known.noise**2 + float(self._weight @ self._values**2)
        scale = np.maximum(np.sqrt(np.maximum(known - gain, 0.0) / (self.freedom - 1.0 or 1.0)), self._floor)
        more = gain - (moment**2 / size).max()
        both = np.outer(found.prior[rows], found.prior[rows])
        needed = -student_quantile(alpha * both, max(self.freedom - 1.0, 1.0))
        surely = more >= (needed * scale) ** 2
        return float(scale[surely].min()) if surely.any() else float("inf")

    def without(self, covered: NDArray[np.bool_]) -> RecordedLook:
        """What is left when the mean of some configurations, (n_configurations,), is taken from them."""
        inside = self._weight * covered
        left = self._values - covered * float(inside @ self._values / max(inside.sum(), 1.0))
        counts = self._weight.astype(np.int64)
        return RecordedLook(left, counts, self._known, margin=self._margin, floor=self._floor)

    def scores(self, found: Candidates) -> Floats:
        """How many standard errors each candidate is beyond its margin, (n_terms, 2): harm, benefit.

        A configuration counts with `CLIP` scales at most: none decides alone.
        """
        single = np.array([kind == "configuration" for kind in found.kinds])
        own = np.where(single, SINGLE * self._margin, self._margin)[:, None]
        root = np.sqrt(self._weight)
        scale = self.scales(found.covers)[:, None] / np.maximum(root, 1e-9)
        covered = found.covers * root
        each = [np.clip((sign * self._values - own) / scale, -CLIP, CLIP) for sign in (1.0, -1.0)]
        total = np.stack([(covered * x).sum(axis=1) for x in each], axis=1)
        return np.asarray(total / np.sqrt(np.maximum(found.covers @ self._weight, 1e-9))[:, None])

    def needed(self, alpha: float, prior: Floats) -> Floats:
        """Score at which a candidate alarms, the error rate spread like the prior."""
        return -student_quantile(alpha * prior, self.freedom)

    def smallest_visible(self, covers: Floats, *, scale: float, needed: Floats) -> Floats:
        """Smallest slow-down (ratio minus one) that alarms in four of five; inf: none, (n_terms,)."""
        reach = needed + POWER
        pairs = covers @ self._weight
        configurations = (covers > 0) @ (self._weight > 0).astype(np.float64)
        size = np.expm1(self._margin + reach * scale / np.sqrt(np.maximum(pairs, 1e-9)))
        return np.where(reach <= CLIP * np.sqrt(configurations), size, np.inf)
