"""When to alarm and what to stop measuring: betting scores pooled over candidates, valid at any time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates
from bot.analysis.pairs import Floats
from bot.analysis.past_sizes import Sizes

BETS = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
"""Stakes, in units of a pair's scale: the best is about the effect beyond the margin in those units."""
SINGLE = 1.5
"""A single configuration's margin, in margins: code layout moves each configuration by its own 0.3 %."""
WORTH = 2.0
"""A change of so many margins must be found when the budget allows: less is not waited for."""
REJECT = float(np.log(100.0))
"""Log evidence against "worth finding" at which a candidate is given up: 1 in 100 wrongly at most."""
CHUNK = 1 << 14
"""Pairs that are bet on at once: their factors take 400 bytes each."""
LEADERS = 24
"""Leading candidates whose configurations may be measured more often."""
FOLLOWING = 0.2
"""Prior mass of the bet on whatever stands out so far: a judgement. The candidates share the rest."""


class Bettor:
    """Four wealth processes for each candidate of one metric, in coordinates where positive is harm.

    For a pair with log ratio y and scale s (known before the pair) each factor is 2 sigmoid(2 b gap / s) with
    gap y - margin (harm), -y - margin (benefit), worth - y and worth + y (no harm, no benefit worth finding).
    A factor's mean is at most 1 when y is symmetric around a centre with gap <= 0, so products over pairs and
    configurations, and means over stakes and candidates, are e-processes (Vovk and Wang 2021; Ramdas,
    Ruf, Larsson and Koolen 2022).
    """

    def __init__(self, candidates: Candidates, margin: float) -> None:
        n = candidates.covers.shape[1]
        self._wealth = np.zeros((n, 2, 4, len(BETS)))
        self._margins = margin * np.array([1.0, SINGLE])
        single = np.array([kind == "configuration" for kind in candidates.kinds])
        self._rows = (np.flatnonzero(~single), np.flatnonzero(single))
        self._covers = candidates.covers.astype(np.float64)
        self._log_prior = np.log(candidates.prior)
        self._log_stakes = np.full((len(candidates.terms), 4, len(BETS)), -np.log(len(BETS)))
        self._rejected = np.zeros((len(candidates.terms), 2), dtype=bool)
        self._followed = np.zeros((2, len(BETS)))
        self.log_evidence = np.zeros((len(candidates.terms), 4))
        self.alarm = np.zeros(2)

    def expect(self, sizes: Sizes, scale: float) -> None:
        """Weighs the stakes on harm and on benefit by how large changes are likely to be.

        Before anything is weighed: weights that followed what was won would win too often. scale: of a pair.
        """
        margin = float(self._margins[0])
        gap = np.maximum(sizes.past - margin, (WORTH - 1.0) * margin) / scale
        best = np.clip(gap, BETS[0], BETS[-1])
        stakes = sizes.at(BETS, np.full(len(BETS), 1.0 / len(BETS)), like=best)
        self._log_stakes[:, :2] = np.log(stakes)[:, None]

    def extend(self, configurations: int) -> None:
        """Further configurations, which no candidate's bets are on."""
        self._wealth = np.concatenate([self._wealth, np.zeros((configurations, *self._wealth.shape[1:]))])
        none = np.zeros((len(self._covers), configurations))
        self._covers = np.concatenate([self._covers, none], axis=1)

    def bet(
        self,
        configurations: NDArray[np.int64],
        log_ratios: Floats,
        scales: Floats,
        standing: NDArray[np.bool_] | None = None,
    ) -> None:
        """Adds pairs: configuration, log ratio and the scale known before, each of shape (n_pairs,).

        standing: whether their configuration stood out before, by harm and by benefit, (n_pairs, 2).
        """
        margin = self._margins
        worth = WORTH * margin
        for first in range(0, len(log_ratios), CHUNK):
            some = slice(first, first + CHUNK)
            y = log_ratios[some, None]
            gaps = np.stack([y - margin, -y - margin, worth - y, worth + y], axis=2)
            gaps /= scales[some, None, None]
            won = np.log(2.0) - np.logaddexp(0.0, -2.0 * gaps[..., None] * BETS)
            np.add.at(self._wealth, configurations[some], won)
            if standing is not None:
                # By a single configuration's margin: few of them may be what code layout moved.
                self._followed += (won[:, 1, :2] * standing[some, :, None]).sum(axis=0)

    def weigh(self) -> None:
        """Brings `alarm` (log e-value of harm and of benefit), `log_evidence` and retirement up to date."""
        n = len(self._wealth)
        for size, rows in enumerate(self._rows):
            summed = self._covers[rows] @ self._wealth[:, size].reshape(n, -1)
            won = summed.reshape(len(rows), 4, len(BETS)) + self._log_stakes[rows]
            self.log_evidence[rows] = logsumexp(won, axis=2)
        won = logsumexp(self._log_prior[:, None] + self.log_evidence[:, :2], axis=0)
        followed = logsumexp(self._followed, axis=1) - self.stakes
        self.alarm = np.maximum(
            self.alarm, np.logaddexp(won + np.log1p(-FOLLOWING), followed + np.log(FOLLOWING))
        )
        self._rejected |= self.log_evidence[:, 2:] >= REJECT

    @property
    def stakes(self) -> float:
        """What spreading a bet over its stakes costs at most, in log evidence."""
        return float(np.log(len(BETS)))

    @property
    def lead(self) -> float:
        """Log evidence for the leading candidate, prior included."""
        return float((self._log_prior[:, None] + self.log_evidence[:, :2]).max())

    def promising(self, most: int) -> NDArray[np.bool_]:
        """At most `most` configurations, covered by the leading small candidates, (n_configurations,)."""
        score = self._log_prior + self.log_evidence[:, :2].max(axis=1)
        chosen = np.zeros(self._covers.shape[1], dtype=bool)
        for k in np.argsort(-score, kind="stable")[:LEADERS]:
            joined = chosen | (self._covers[k] > 0)
            if joined.sum() <= most:
                chosen = joined
        return chosen

    def shown(self, among: NDArray[np.bool_]) -> Floats:
        """How soon each configuration would show a change in one of some candidates, (n_configurations,).

        By their posterior; a candidate that few configurations hold needs each of them more: the time until
        it shows falls with the square of their share. among: (n_terms,), at least one.
        """
        needed = 2.0 * np.log(self._covers.sum(axis=1))
        score = self._log_prior + self.log_evidence[:, :2].max(axis=1) - needed
        weight = np.exp(np.where(among, score - score[among].max(), -np.inf))
        shown: Floats = weight @ self._covers / weight.sum()
        return shown

    @property
    def open(self) -> NDArray[np.bool_]:
        """Configurations in a candidate that may still hold a change worth finding, (n_configurations,)."""
        undecided = ~self._rejected.all(axis=1)
        return np.asarray(self._covers[undecided].any(axis=0), dtype=bool)


def logsumexp(values: Floats, axis: int) -> Floats:
    """log(sum(exp)) along an axis, without the overhead of the general one."""
    peak = values.max(axis=axis, keepdims=True)
    total: Floats = np.squeeze(peak, axis=axis) + np.log(np.exp(values - peak).sum(axis=axis))
    return total
