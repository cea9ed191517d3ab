"""How far head's trials lie from base's, and whether that is more than trials differ and than matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, sqrt

import numpy as np

from bot.analysis.assertions.checking_trials import MEAN, OTHERS, TYPICAL, Features
from bot.analysis.distributions import cauchy_tail, student_quantile, student_tail
from bot.model.assertions import Floats

SHARE_MARGIN, RATIO_MARGIN = 0.10, log(1.25)
"""Smaller moves of a share of calls, and of the logarithm of a duration, are not worth a reader's time."""
EXCLUDED = 2.0
"""Margins: an assertion holds when moves beyond so many can be excluded. Arbitrary."""
USUAL_SHARE, USUAL_TIMES = 0.03, (0.05, 0.1, 0.05)
"""How much trials of one build usually differ: deviations of a share, and of the logarithms in order."""
USUAL_FREEDOM = 4
"""Degrees of freedom that the usual difference counts for, beside what the trials themselves show."""
CALM = 2.0
"""Times the usual variance: up to there the usual one counts in full. Arbitrary."""
FAR = 3.0
"""Deviations beyond which a trial counts as if it were no further from the median of its side."""
NORMAL, FEW = 1.4826, 1.7
"""Standard deviations in a median of absolute ones; what medians of few trials hide of it, generously."""
LEAST_TRIALS = 4
"""Of each side; fewer do not show how much trials differ."""
MOST_TRIALS = 100
SURE = 0.95


@dataclass(frozen=True)
class Shift:
    """Head minus base for each feature (see `Features`), how trials deviate, and how well that is known.

    Shapes (n_features,). freedom: degrees of freedom of the deviation. trials: of base and head.
    """

    estimate: Floats
    deviation: Floats
    freedom: Floats
    trials: tuple[int, int]

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
    def size(self) -> float:
        """The largest move, in margins."""
        return float((np.abs(self.estimate) / margins(len(self.estimate))).max())

    @property
    def chance(self) -> Floats:
        """Of so large an estimate, were nothing different: two-sided p-values."""
        return np.asarray(2.0 * student_tail(np.abs(self.estimate) / self.error, self.freedom))

    @property
    def reach(self) -> Floats:
        """Half of the 90 % interval."""
        return np.asarray(self.error * student_quantile(SURE, self.freedom))

    @property
    def beyond(self) -> Floats:
        """How far the nearer end of the 90 % interval lies beyond the margin, in margins."""
        margin = margins(len(self.estimate))
        return (np.abs(self.estimate) - self.reach) / margin - 1.0

    def more_trials(self) -> int:
        """A side, so that moves beyond `EXCLUDED` margins can be excluded; 0: they are.

        Of what is asserted: shares of calls, and how long calls take within the clusters. Means over clusters
        vary with the shares, much more than these.
        """
        asserted = np.delete(np.arange(len(self.estimate)), [TYPICAL, MEAN])
        estimate, deviation = np.abs(self.estimate[asserted]), self.deviation[asserted]
        margin = margins(len(self.estimate))[asserted]
        if self.known and (estimate + self.reach[asserted] <= EXCLUDED * margin).all():
            return 0
        have = min(self.trials)
        prior = (self.freedom - (sum(self.trials) - 2))[asserted]
        for n in range(max(have + 1, LEAST_TRIALS), MOST_TRIALS):
            reach = student_quantile(SURE, 2 * n - 2 + prior) * deviation * np.sqrt(2.0 / n)
            if (np.minimum(estimate, margin) + reach <= EXCLUDED * margin).all():
                return n - have
        return max(MOST_TRIALS - have, 1)


def combined(chances: Floats) -> float:
    """One p-value of several that may depend on each other (the Cauchy combination; Liu and Xie 2020)."""
    return float(cauchy_tail(np.tan(np.pi * (0.5 - chances.clip(1e-15, 0.9))).mean()))


def margins(features: int) -> Floats:
    """Of each feature, shape (features,)."""
    return np.array([SHARE_MARGIN] * (features - len(OTHERS)) + [RATIO_MARGIN] * len(OTHERS))


def shift(base: Features, head: Features) -> Shift:
    """Between sides, from trials as units: calls of one trial share its machine's mood.

    The variance between trials is shrunk to the usual one and to what the number of calls alone explains, as
    in limma (Smyth 2004): four trials that agree by chance are no proof. The more they differ beyond that,
    the more they count alone: a machine may be noisier than any that was thought of. A trial that is far from
    the others of its side, because it had to share its core, counts as if it were nearer (winsorized; the
    variance is then that of the trials that stayed, as in Huber 1981, section 6.5).
    """
    sides = [(s.values[keep], s.noise[keep]) for s in (base, head) for keep in [~np.isnan(s.values[:, -1])]]
    trials = (len(sides[0][0]), len(sides[1][0]))
    width = base.values.shape[1]
    if min(trials) == 0:
        return Shift(np.zeros(width), np.full(width, inf), np.ones(width), trials)
    noise = np.concatenate([n for _, n in sides]).mean(axis=0)
    usual = np.array([USUAL_SHARE] * (width - len(OTHERS)) + [*USUAL_TIMES]) ** 2 + noise
    near, kept = _winsorized([values for values, _ in sides], usual)
    means = [values.mean(axis=0) for values in near]
    squares = sum(((values - mean) ** 2).sum(axis=0) for values, mean in zip(near, means, strict=True))
    squares = squares / kept**2
    free = max(sum(trials) - 2, 1)
    prior = USUAL_FREEDOM * np.minimum(1.0, CALM * usual * free / np.maximum(squares, 1e-300))
    variance = (squares + prior * usual) / (free + prior)
    return Shift(means[1] - means[0], np.sqrt(np.maximum(variance, noise)), free + prior, trials)


def _winsorized(sides: Sequence[Floats], usual: Floats) -> tuple[list[Floats], Floats]:
    """Trials of each side, (n_trials, n_features), drawn to its median where far from it; share that is not.

    usual: variances; what deviates less than they say is not far.
    """
    middles = [np.median(values, axis=0) for values in sides]
    away = [values - middle for values, middle in zip(sides, middles, strict=True)]
    spread = FEW * NORMAL * np.median(np.abs(np.concatenate(away)), axis=0)
    far = FAR * np.maximum(spread, np.sqrt(usual))
    kept = np.mean(np.abs(np.concatenate(away)) <= far, axis=0)
    return [middle + np.clip(a, -far, far) for middle, a in zip(middles, away, strict=True)], kept
