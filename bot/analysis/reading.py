"""What one metric's pairs say: the fitted sum, who is named, how large each level can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates
from bot.analysis.distributions import student_quantile
from bot.analysis.likelihood import LAYOUT
from bot.analysis.pairs import Floats
from bot.analysis.sequential import WORTH
from bot.analysis.single_effect import SingleEffect
from bot.analysis.terms import TermFit
from bot.analysis.watch import Watch
from bot.model.space import Term

CERTAIN = 0.9
"""An effect is named when it is there with this probability ..."""
TOP = 0.5
"""... and its best candidate carries it with this one."""
ONE_SIDED = 0.95
"""Confidence of an upper bound, for each level."""
SURELY, MISSED = 3.0, 1 / 3
"""A configuration that, within so many standard errors, shows less than this share of an unproven effect is
not explained by it. Arbitrary."""
CLEAR = 9.0
"""What stands out of the pairs' noise by so many standard errors and has no name will not get one by more
pairs: it is how unevenly a large effect falls."""


@dataclass(frozen=True)
class Reading:
    """One metric: candidates, fitted sum, locations and variances (as harm), alarms of harm and benefit."""

    metric: str
    watch: Watch
    found: Candidates
    fit: TermFit | None
    location: Floats
    variance: Floats
    alarms: NDArray[np.bool_]

    def named(self) -> list[SingleEffect]:
        """Effects that are certain, attributed, beyond the margin, and of a direction that alarmed."""
        if self.fit is None or not self.alarms.any():
            return []
        taken: set[int] = set()
        found = []
        for effect in self.fit.effects:
            direction = 0 if effect.size > 0 else 1
            if (
                self.alarms[direction]
                and self._attributed(effect)
                and abs(effect.size) > self.watch.margin
                and not effect.takes_back
                and effect.top not in taken
                and abs(self.seen(effect)[0]) > self.watch.margin
            ):
                taken.add(effect.top)
                found.append(effect)
        return found

    def suspected(self) -> list[SingleEffect]:
        """Without an alarm: the harm that what was seen fits best, when all of its interval is harm."""
        if self.fit is None or self.alarms.any():
            return []
        return [
            effect
            for effect in self.fit.effects
            if effect.size > self.watch.margin
            and effect.interval[0] > 0.0
            and self._attributed(effect)
            and not effect.takes_back
            and self._borne_out(effect)
        ][:1]

    def _borne_out(self, effect: SingleEffect) -> bool:
        """Whether no configuration that holds an effect is surely far from it.

        A pair of levels that few measured configurations hold is no candidate (`PAIR_COVER`); where it is the
        guilty one, another one that holds where it does, and in more, fits best of those that are left.
        """
        inside = (self.found.covers[effect.top] > 0) & np.isfinite(self.variance)
        reach = self.location + SURELY * np.sqrt(self.variance + LAYOUT**2)
        return not bool((reach[inside] < MISSED * effect.each[inside]).any())

    def spared(self, effect: SingleEffect) -> list[Term]:
        """Terms within a named effect's where nothing of the kind is seen: another one takes it back."""
        return [self.found.told(top).term for top in self._sparing(effect)]

    def seen(self, effect: SingleEffect) -> tuple[float, tuple[float, float]]:
        """Size and interval of a named effect where it is told: without those that another one spares.

        Where the middle one of those is not worth telling, their mean is meant: it is what alarms.
        """
        rows = self.shows(effect)
        if effect.around or not self._sparing(effect) or not rows.any():
            return effect.size, effect.interval
        typical = effect.among(rows)
        worth = abs(typical[0]) > self.watch.margin
        return typical if worth else effect.among(rows, middle=np.mean)

    def shows(self, effect: SingleEffect) -> NDArray[np.bool_]:
        """Measured configurations that hold a named effect and are not spared, (n_configurations,)."""
        inside = (self.found.covers[effect.top] > 0) & np.isfinite(self.variance)
        for top in self._sparing(effect):
            inside &= self.found.covers[top] == 0
        return np.asarray(inside)

    def _sparing(self, effect: SingleEffect) -> list[int]:
        """Candidates within an effect's that take it back."""
        if self.fit is None:
            return []
        return [
            other.top
            for other in self.fit.effects
            if effect.top in other.around
            and self._attributed(other)
            and other.size * np.sign(effect.size) < self.watch.margin
        ]

    def _attributed(self, effect: SingleEffect) -> bool:
        """Whether it is certain, and its best candidate carries it."""
        surely = effect.presence >= CERTAIN and effect.posterior[effect.top] >= TOP
        return bool(surely and self.found.kinds[effect.top] != "configuration")

    @cached_property
    def _levels(self) -> list[int]:
        return [i for i, kind in enumerate(self.found.kinds) if kind in ("everything", "level")]

    @property
    def level_terms(self) -> list[Term]:
        """Everything and each exercised level, in the order of `level_means`."""
        return [self.found.terms[i] for i in self._levels]

    def noise(self) -> Floats:
        """What the pairs alone leave in doubt of the mean of each candidate, (n_terms,)."""
        weight = np.where(np.isfinite(self.variance), 1.0 / np.maximum(self.variance, 1e-300), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / np.sqrt(self.found.covers @ weight))

    def level_means(self, location: Floats | None = None) -> tuple[Floats, Floats]:
        """Mean harm of each of `level_terms`, and how far above its one-sided 95 % bound lies (or inf)."""
        values = self.location if location is None else location
        weight = np.where(np.isfinite(self.variance), 1.0 / (self.variance + LAYOUT**2), 0.0)
        covers = self.found.covers[self._levels]
        total = covers @ weight
        with np.errstate(divide="ignore"):
            error = 1.0 / np.sqrt(total)
        # Few pairs leave the scale itself in doubt.
        freedom = max(self.watch.pairs / 3.0, 1.0)
        reach: Floats = float(student_quantile(ONE_SIDED, freedom)) * error
        return covers @ (weight * values) / np.maximum(total, 1e-12), reach

    def little_left(self, named: Sequence[SingleEffect]) -> bool:
        """Whether more pairs would find little in what the named effects leave in each level."""
        explained = sum((effect.each for effect in named), np.zeros(len(self.location)))
        mean, reach = self.level_means(self.location - explained)
        small = np.abs(mean) + reach < WORTH * self.watch.margin
        return bool(np.all(small | (np.abs(mean) > CLEAR * self.noise()[self._levels])))
