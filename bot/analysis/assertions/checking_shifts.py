"""How far head's trials lie from base's, and whether that is more than trials differ and than matters."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bot.analysis.assertions.checking_trials import Features
from bot.model.assertions import Floats

SHARE_MARGIN, RATIO_MARGIN = 0.10, log(1.25)
"""Smaller moves of a share of calls, and of the logarithm of a duration, are not worth a reader's time."""
EXCLUDED = 2.0
"""Margins: an assertion holds when moves beyond so many can be excluded. Arbitrary."""
USUAL_SHARE, USUAL_RATIO = 0.03, 0.05
"""How much trials of one build usually differ: standard deviations of a share and of a logarithm."""
USUAL_FREEDOM = 4
"""Degrees of freedom that the usual difference counts for, beside what the trials themselves show."""
LEAST_TRIALS = 3
"""Of each side; fewer do not show how much trials differ."""
MOST_TRIALS = 100
SURE = 0.95


@dataclass(frozen=True)
class Shift:
    """Head minus base for each feature (see `Features`), shape (n_features,), and how trials deviate."""

    estimate: Floats
    deviation: Floats
    trials: tuple[int, int]

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the deviation."""
        return sum(self.trials) - 2 + USUAL_FREEDOM

    @property
    def known(self) -> bool:
        """Whether both sides have enough trials."""
        return min(self.trials) >= LEAST_TRIALS

    @property
    def error(self) -> Floats:
        """Standard error of the estimate; infinite when there are too few trials."""
        each: float = sum(1.0 / n for n in self.trials) if self.known else inf
        return np.asarray(self.deviation * sqrt(each))

    @property
    def chance(self) -> Floats:
        """Of so large an estimate, were the move no larger than the margin: one-sided p-values."""
        beyond = (np.abs(self.estimate) - margins(len(self.estimate))) / self.error
        return np.asarray(stats.t.sf(beyond, self.freedom))

    @property
    def reach(self) -> Floats:
        """Half of the 90 % interval."""
        return self.error * float(stats.t.ppf(SURE, self.freedom))

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Whether moves beyond `EXCLUDED` margins can be excluded."""
        return np.abs(self.estimate) + self.reach <= EXCLUDED * margins(len(self.estimate))

    def more_trials(self) -> int:
        """A side, so that all is settled if no more moved than it seems; 0: nothing is missing."""
        if self.known and self.settled.all():
            return 0
        margin = margins(len(self.estimate))
        room = EXCLUDED * margin - np.minimum(np.abs(self.estimate), margin)
        have = min(self.trials)
        for n in range(have + 1, MOST_TRIALS):
            reach = stats.t.ppf(SURE, 2 * n - 2 + USUAL_FREEDOM) * self.deviation * np.sqrt(2.0 / n)
            if n >= LEAST_TRIALS and (reach <= room).all():
                return n - have
        return MOST_TRIALS - have


def margins(features: int) -> Floats:
    """Of each feature, shape (features,)."""
    return np.array([SHARE_MARGIN] * (features - 2) + [RATIO_MARGIN] * 2)


def shift(base: Features, head: Features) -> Shift:
    """Between sides, from trials as units: calls of one trial share its machine's mood.

    The variance between trials is shrunk to the usual one and to what the number of calls alone explains, as
    variances in limma (Smyth 2004): four trials that agree by chance are no proof.
    """
    sides = [(s.values[keep], s.noise[keep]) for s in (base, head) for keep in [~np.isnan(s.values[:, -1])]]
    trials = (len(sides[0][0]), len(sides[1][0]))
    width = base.values.shape[1]
    if min(trials) == 0:
        return Shift(np.zeros(width), np.full(width, inf), trials)
    means = [values.mean(axis=0) for values, _ in sides]
    squares = sum(((values - mean) ** 2).sum(axis=0) for (values, _), mean in zip(sides, means, strict=True))
    noise = np.concatenate([n for _, n in sides]).mean(axis=0)
    usual = np.array([USUAL_SHARE] * (width - 2) + [USUAL_RATIO] * 2) ** 2 + noise
    variance = (squares + USUAL_FREEDOM * usual) / (sum(trials) - 2 + USUAL_FREEDOM)
    return Shift(means[1] - means[0], np.sqrt(np.maximum(variance, noise)), trials)
