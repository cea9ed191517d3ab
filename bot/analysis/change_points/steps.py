"""A sum of steps fitted to trials, and what the trials say of one more step, or of one step's term."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import huber

from bot.analysis.change_points.matched_filter import MatchedFilter
from bot.analysis.change_points.noise import EXACT, Floats, Ints
from bot.analysis.change_points.terms import Term, Terms
from bot.analysis.change_points.trials import TrialLog
from bot.analysis.change_points.weighing import Columns, Walk, bayes_factor, gram, means, nearest

SLAB = 0.1
"""Scale of a step's size beforehand, as a share of the median level of all configurations."""
SMALL = 0.1
"""... or of this share of that scale: options may be cheap, and then so are their steps."""
LOOSE = 0.05
"""In an exact search a step may differ by this share of itself between configurations."""
DIFFERENT = 10.0
"""Standard deviations of two trials that differ without noise."""
WAVES, DRIFT = 6, 0.02
"""Half waves over the range of which drift is made; scale of the slowest, as a share of the level."""
CLIPPED = 4.0
"""Scales from which on a single trial counts no more for an episode, and linearly for a unit."""
PLACES = 96
"""Revisions at which a step is looked for at once."""


@dataclass(eq=False)
class Step:
    """A step: from revision `at` on (between `low` and `high`) in the configurations that hold `term`.

    size, error: seconds, or a share of a configuration's level. settled: term and place were measured.
    """

    term: Term
    at: int
    low: int
    high: int
    size: float = 0.0
    error: float = np.inf
    probability: float = 1.0
    settled: bool = False
    confirmed: tuple[Term, int] | None = None
    """Term and place for which fresh trials showed the step again."""
    partner: Step | None = None
    """The other end, where this is one end of an episode."""


@dataclass
class StepModel:
    """Steps, and the trials they explain."""

    log: TrialLog
    terms: Terms
    steps: list[Step] = field(default_factory=list)
    drifts: bool = False
    """Whether all configurations may slowly move together, which no step is."""
    compared: dict[tuple[object, ...], int] = field(default_factory=dict, repr=False)
    """Pairs of steps for which a simpler explanation was looked for, and with how many trials."""
    _drift: Floats = field(default_factory=lambda: np.zeros(WAVES), init=False)
    _waving: tuple[Columns, Floats] | None = field(default=None, init=False, repr=False)
    _scanned: tuple[Columns, MatchedFilter] | None = field(default=None, init=False, repr=False)
    _walking: tuple[Columns, Walk] | None = field(default=None, init=False, repr=False)

    @property
    def exact(self) -> bool:
        """Whether trials are (nearly) without noise."""
        return self.log.scale <= EXACT

    def cover(self, step: Step) -> NDArray[np.bool_]:
        """Configurations that hold a step's term."""
        return self.terms.cover(step.term, self.log.holds)

    @property
    def level(self) -> float:
        """What a step's size is a share of: 1 when it is a share, else the median configuration's seconds."""
        means = self.log.means()
        known = means[means > 0.0]  # where every trial failed there is none
        return 1.0 if self.log.relative or not len(known) else max(float(np.median(known)), 1e-300)

    @property
    def slab(self) -> float:
        """Precision of a step's size beforehand."""
        return (SLAB * self.level) ** -2

    def fit(self) -> float:
        """Least squares of all sizes and each configuration's level; the weighted sum of squares left.

        Without noise a settled step keeps the size that was measured right beside it.
        """
        c, r, y, sd = self.log.columns()
        if not len(y):
            return 0.0
        known = [s for s in self.steps if self.exact and s.settled]
        for step in known:
            step.error = min(step.error, EXACT * abs(step.size))
        free = [s for s in self.steps if s not in known]
        w = sd**-2.0
        y = self._centred(y - self._design(known, c, r) @ np.array([s.size for s in known]), c, w)
        x = self._design(free, c, r)
        prior: Floats = np.full(len(free), self.slab)
        if self.drifts:
            x = np.hstack([x, self._waves()])
            prior = np.append(prior, (np.arange(1.0, WAVES + 1.0) / DRIFT) ** 2)
        if len(prior):
            sizes, errors = self._sizes(x, y, c, w, prior)
            for step, size, error in zip(free, sizes, errors, strict=False):
                step.size, step.error = float(size), float(error)
            self._drift = np.asarray(sizes[len(free) :])
            y = self._centred(y - x @ sizes, c, w)
        walk = self._walk()
        return float((w * y**2).sum() if walk is None else y @ walk.precise(y))

    def misfit(self) -> float:
        """Weighted sum of squared log residuals that the best sizes leave: the same measure in any unit.

        Trials that took far too long are further from a sum in seconds than from one in logs.
        """
        left = self.fit()
        c, _, y, sd = self.log.columns()
        rest = self.residual()
        if self._walk() is not None or not ((y > 0) & (y > rest)).all():
            return left
        logs = rest if self.log.logarithmic else np.log(y / (y - rest))
        relative = sd / self.log.means()[c] if not self.log.relative else sd
        return 2.0 * float(huber(CLIPPED, logs / relative).sum())

    def _sizes(self, x: Floats, y: Floats, c: Ints, w: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Sizes of columns that explain centred values best, and their standard errors, (k,) each."""
        if self.exact:  # products would leave 1e-5 of a step where terms are nearly the same: more than noise
            root = np.sqrt(w)
            centred = np.column_stack([self._centred(column, c, w) for column in x.T]) * root[:, None]
            q, upper = np.linalg.qr(np.vstack([centred, np.diag(np.sqrt(prior))]))
            inverse = solve_triangular(upper, np.eye(len(upper)))
            return inverse @ (q[: len(y)].T @ (root * y)), np.linalg.norm(inverse, axis=1)
        walk = self._walk()
        both, with_values = (
            (gram(x, c, w), w * y) if walk is None else (x.T @ walk.precise(x), walk.precise(y))
        )
        inverse = np.linalg.pinv(both + np.diag(prior), hermitian=True)
        return inverse @ (x.T @ with_values), np.sqrt(np.maximum(np.diag(inverse), 0.0))

    def _walk(self) -> Walk | None:
        """How trials that walk weigh; None: they do not walk."""
        columns = self.log.columns()
        if self.log.walk == 0.0:
            return None
        if self._walking is None or self._walking[0] is not columns:
            self._walking = columns, Walk.of(columns, self.log.walk * self._unit(columns[0]))
        return self._walking[1]

    def _unit(self, c: Ints) -> Floats:
        """What a relative change is a share of in each trial, in the values' unit, (n,)."""
        return np.ones(len(c)) if self.log.relative else self.log.means()[c]

    def _waves(self) -> Floats:
        """Slow waves over the range, in the values' unit, (n_trials, WAVES): what drift is made of."""
        columns = self.log.columns()
        if self._waving is None or self._waving[0] is not columns:
            c, r = columns[:2]
            angle = np.pi * r / max(int(r.max(initial=1)), 1)
            waves = np.cos(angle[:, None] * np.arange(1, WAVES + 1))
            self._waving = columns, waves * self._unit(c)[:, None]
        return self._waving[1]

    def _drifted(self) -> Floats | float:
        return self._waves() @ self._drift if self.drifts and len(self._drift) else 0.0

    def _design(self, steps: Sequence[Step], c: NDArray[np.intp], r: NDArray[np.intp]) -> Floats:
        x = np.zeros((len(c), len(steps)))
        for k, step in enumerate(steps):
            x[:, k] = self.cover(step)[c] & (r >= step.at)
        return x

    def _centred(self, values: Floats, c: NDArray[np.intp], w: Floats) -> Floats:
        """Values without their configuration's weighted mean, (n,)."""
        n = len(self.log.configurations)
        total = np.bincount(c, w, n)
        total[total == 0] = 1.0
        return np.asarray(values - (np.bincount(c, w * values, n) / total)[c])

    def contrasts(
        self, without: Step | None, window: tuple[int, int] | None
    ) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Places (in a window), and per configuration and place a matched filter's moment and information."""
        found = self._filter(window)
        return found.places, found.moment(self.residual(without)), found.information

    def information(self, window: tuple[int, int]) -> Floats:
        """A matched filter's information at each place of a window, (n_configurations, n_places).

        Without noise too where nothing moved: what a step there would have shown.
        """
        return self._filter(window, jumps_only=False).information

    def score(
        self, without: Step | None, numbers: Ints | None = None
    ) -> tuple[Ints, Floats | NDArray[np.float32]]:
        """Places, and the log posterior of a step at each of them in each term, (n_places, n_terms).

        numbers: of the only terms that count, where not all do.
        """
        if self.exact:
            places, moment, information = self.contrasts(without, None)
            found = self.evidence(moment, information).T
            return places, found if numbers is None else found[:, numbers]
        columns = self.log.columns()
        if self._scanned is None or self._scanned[0] is not columns:
            self._scanned = columns, self._filter(None)
        known = self._scanned[1]
        slabs = self.slab, self.slab * SMALL**-2
        rows, prior = self.terms.remembered(self.log.holds), self.terms.log_prior
        return known.places, known.score(self.residual(without), rows, prior, slabs=slabs, numbers=numbers)

    def residual(self, without: Step | None = None) -> Floats:
        """What the steps but one leave of each trial, its configuration's mean taken out, (n_trials,)."""
        c, r, y, sd = self.log.columns()
        kept = [s for s in self.steps if s is not without]
        explained = self._design(kept, c, r) @ np.array([s.size for s in kept])
        return self._centred(y - explained - self._drifted(), c, sd**-2.0)

    def _filter(self, window: tuple[int, int] | None, jumps_only: bool = True) -> MatchedFilter:
        c, r, _, sd = self.log.columns()
        places = np.unique(r)[1:]
        if self.exact and jumps_only:
            places = places[np.isin(places, self._jumps())]
        if window is not None:
            places = places[(places >= window[0]) & (places <= window[1])]
        elif len(places) > PLACES:
            places = places[np.unique(np.linspace(0, len(places) - 1, PLACES).astype(int))]
        count = len(self.log.configurations)
        return MatchedFilter(c, r, sd**-2.0, places=places, configurations=count, walk=self._walk())

    def _jumps(self) -> NDArray[np.intp]:
        """Revisions at which some configuration differs from where it was measured before."""
        c, r, y, sd = self.log.columns()
        order = np.lexsort((r, c))
        c, r, y, sd = c[order], r[order], y[order], sd[order]
        moved = (c[1:] == c[:-1]) & (np.abs(np.diff(y)) > DIFFERENT * sd[1:])
        return np.unique(r[1:][moved])

    def beside(self, step: Step, reach: float) -> tuple[Floats, Floats]:
        """Moment and information of each configuration, (n_configurations, 1), from trials near a step alone.

        reach: revisions looked at on either side; nothing further away can disturb it.
        """
        c, r, y, sd = self.log.columns()
        y = y - self._drifted()
        n = len(self.log.configurations)
        for other in self.steps:
            if other is not step:
                y = y - other.size * (self.cover(other)[c] & (r >= other.at))
        early = (r < step.low) & (r >= step.low - reach)
        late = (r >= step.high) & (r < step.high + reach)
        if step.partner is not None and step.partner in self.steps:
            inside = r < step.partner.at if step.at < step.partner.at else r >= step.partner.at
            early, late = early & inside, late & inside
        if self.log.walk:
            walk = self.log.walk * self._unit(c)
            moved, variance, both = nearest((c, r, y, sd), early, late, n, walk=walk)
        else:
            moved, variance, both = means((c, r, y, sd), early, late, n)
        if self.exact:
            variance = variance + (LOOSE * np.abs(moved).max(initial=0.0)) ** 2 + 1e-300
        information = np.where(both, 1.0 / variance, 0.0)
        return (moved * information)[:, None], information[:, None]

    def evidence(self, moment: Floats, information: Floats, grown: Sequence[Term] = ()) -> Floats:
        """Log posterior (not normalised) of a step in each term at each place, (n_terms, n_places)."""
        return self.posterior(*self.sums(moment, information, grown), grown)

    def sums(self, moment: Floats, information: Floats, grown: Sequence[Term] = ()) -> tuple[Floats, Floats]:
        """Moment and information of each term at each place, (n_terms, n_places) each."""
        # Without noise information is huge, and its differences count: single precision would lose them.
        kind: type[np.floating[Any]] = np.float64 if self.exact else np.float32
        both = np.hstack([moment, information]).astype(kind)
        found = self.terms.sums(self.log.holds, both, grown).astype(np.float64)
        places = moment.shape[1]
        return found[:, :places], found[:, places:]

    def posterior(self, moment: Floats, information: Floats, grown: Sequence[Term] = ()) -> Floats:
        """Log posterior (not normalised) of a step in each term from what all its configurations say."""
        return self.gain(moment, information) + self.terms.log_priors(grown)[:, None]

    def gain(self, moment: Floats, information: Floats) -> Floats:
        """Log Bayes factor of a step against none (normal prior of precision `slab`, or a small one)."""
        if self.exact:  # the size of what moved, not of the program, is the scale
            return bayes_factor(moment, information, min(self.slab, 1.0))
        usual, small = (bayes_factor(moment, information, self.slab * SMALL**-power) for power in (0, 2))
        found: Floats = np.maximum(usual, small) - math.log(2.0)
        return found
