"""What blurs steps: noise of a trial, small changes in every revision, and what no sum of steps describes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bot.analysis.explanations.cells import Floats, Table

LEVEL = 25.0
"""Variance of a configuration's level beforehand, in squared units: nothing is known of it. Where levels are
further apart it is larger: a configuration that takes a hundred units would be odd by itself."""
EVERYTHING, OPTION, MISFIT = 0.006, 0.002, 0.01
"""Standard deviations beforehand, in units: small changes of everything and of an option that is on, by
revision; and what a cell is off the sum of its steps."""
SLAB, LARGE = 0.12, 2.5
"""Slab beforehand; the largest step known is at most so many slabs."""
BLUR = 6.0
"""Standard deviations of its noise by which a configuration's trials may differ."""
BLURRED = 30.0
"""The factor is at least so many times the threshold: of changes that large, a third is blur."""
STEADY, UNSTEADY = 3.0, 6.0
"""Trials that the common noise counts for beside a cell's own; the cell's noise counts from so many times the
common variance on."""


@dataclass(frozen=True)
class Scales:
    """Of all that blurs.

    noise: relative standard deviation of a trial. lively: factor on what else blurs; least: it is never
    smaller, because smaller changes are not asked for. slab: standard deviation of a step's size beforehand,
    in units. unit: seconds. uneven: standard deviation of a configuration's move around the sum of its
    steps, as a share of these: where much moves, something does that no sum describes, and it stays.
    noisier: by which factor each option that is on makes a trial noisier, (n_options,); empty: by none.
    suspected: numbers of the options that would be taken to be noisier if second trials said so.
    """

    noise: float = 0.01
    lively: float = 1.0
    unit: float = 1.0
    least: float = 0.0
    slab: float = SLAB
    uneven: float = 0.0
    noisier: tuple[float, ...] = ()
    suspected: tuple[int, ...] = ()

    @classmethod
    def for_changes(cls, threshold: float) -> Self:
        """Beforehand, when changes below a threshold (a share) do not matter."""
        return cls(least=BLURRED * threshold)

    def wide_enough(self, table: Table) -> Self:
        """With a slab in which the largest move of a configuration, beyond its noise, is not rare."""
        return replace(self, slab=max(self.slab, table.reach(BLUR * self.noise) / self.unit / LARGE))

    @property
    def misfit(self) -> float:
        """Standard deviation of a cell around the sum of its steps, in units."""
        return MISFIT * self.lively

    def level(self, table: Table) -> float:
        """Variance of a configuration's level beforehand, in squared units."""
        return max(LEVEL, float(np.ptp(table.value) / self.unit) ** 2)

    def noises(self, on: Floats) -> Floats:
        """Relative standard deviation of a trial of each configuration, (n,). on: as in `covariance`."""
        found: Floats = self.noise * np.prod(np.where(on > 0, self.noisier or 1.0, 1.0), axis=1)
        return found

    def wander(self, options_on: Floats) -> Floats:
        """Variance by which a configuration wanders in one revision, in squared units."""
        wandered: Floats = self.lively**2 * (EVERYTHING**2 + OPTION**2 * options_on)
        return wandered

    def covariance(
        self, table: Table, on: Floats, moved: Floats | None = None, *, doubt: Floats | None = None
    ) -> Floats:
        """Of all cells but for steps, in squared units, (n, n).

        on: 0 or 1, (n_configurations, n_options). moved: how far known steps move each configuration
        in each revision, in units, (n_configurations, n_revisions); None: not at all.
        """
        c, r = table.configuration, table.revision
        found = self.wander(on @ on.T)[np.ix_(c, c)]
        found *= np.minimum.outer(r, r)
        own = np.full_like(found, self.level(table))
        if moved is not None and self.uneven:
            since = self.uneven * moved[c] * (r[:, None] >= np.arange(moved.shape[1]))
            own += since @ since.T
        np.add(found, own, out=found, where=c[:, None] == c)
        doubt = table.doubt if doubt is None else doubt
        trial = self._trial(table, self.noises(on)[c]) * doubt / np.maximum(table.count, 1)
        trial[table.count == 0] = 0.0
        found[np.diag_indices_from(found)] += trial + self.misfit**2
        return np.asarray(found, dtype=np.float64)

    def _trial(self, table: Table, noise: Floats) -> Floats:
        """Variance of a trial of each cell, in squared units: where a machine stalls, its own is larger.

        noise: relative, of each cell's configuration; it knows nothing of a cell whose trials were nearly all
        disturbed, and their median would pass for a step.
        """
        common: Floats = (noise * table.level() / self.unit) ** 2
        own = STEADY * common + table.count * (table.spread / self.unit) ** 2
        own /= STEADY + table.count
        return np.where(own > UNSTEADY * common, own, common)
