"""Trials of several nights in arrays: what one night measured is compared within that night only."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from bot.analysis.change_points.hopeless import HopelessThere, hopeless
from bot.analysis.change_points.noise import EXACT, POOLED, Bools, Floats, Ints
from bot.analysis.change_points.probable_failures import ProbableFailures
from bot.analysis.change_points.trials import TrialLog
from bot.analysis.noise_pattern import WILDEST, expected_noise
from bot.model.change_points import Observation
from bot.model.space import Configuration, Level, Space

FEW = 32
"""Of a program with so few configurations the same ones are measured again and again, on either side of large
steps: the mean of their trials, which shares are of, is another one in each night."""
LARGE, LEAST, SOME = 2.0, 3, 0.05
"""Times that a configuration moved within a night, and how many have to (at least, and as a share): shares of
means that a step has in it to an unlike degree are not alike, and logs are."""
FEWEST = 4
"""Configurations whose trials were repeated, from which on a noise of each value of an option is learned."""


class NightLog(TrialLog):
    """A log in which each configuration has a level of its own in each night.

    A machine that was replaced, or one more kernel mitigation, moves every trial of a night: what is the same
    for all revisions of a configuration is that night's level, and no step. So nothing that happens between
    two nights can look like a commit, and no trial has to be divided by a noisy one.

    Most configurations have few trials in a night, too few to show how noisy they are. So the repeated trials
    of all nights say how noisy an option's value makes a configuration.
    """

    def __init__(self, space: Space, levels: Sequence[Level]) -> None:
        self._far: bool | None = None
        """Whether some moved far; None: not worked out yet."""
        self._tonight: tuple[Bools, HopelessThere] | None = None
        """Which levels are broken tonight, at all revisions and at single ones; None: not worked out yet."""
        self._ever: tuple[Bools, HopelessThere] | None = None
        """The same of all nights."""
        self._few = math.prod(len(option.values) for option in space.options) <= FEW
        super().__init__(space, levels, logs=self._few)
        self._record = False
        """Whether all nights are one record, of which nothing is kept twice."""
        self.broken_before: Sequence[Level] = ()
        """Levels at which nothing worked in the last night: one more failure shows that it is so still."""
        self._repeated: dict[Configuration, tuple[float, int]] = {}
        """Relative scale of configurations with repeated trials, and from how many differences."""

    def add_night(self, observations: Sequence[Observation], factor: float = 1.0) -> None:
        """Takes in an earlier night, whose seconds times `factor` are tonight's; `add` is for tonight."""
        tonight, self.place = self.place, {}
        self.add([replace(o, value=o.value * factor) for o in observations])
        self.broken_before = self._named(self._nowhere(list(self.place.values())))
        self.place = tonight

    def learn_scale(self, moved: Collection[int] = ()) -> None:
        """The relative scale of one trial; a record stays one though no repetition is left in it."""
        super().learn_scale(moved)
        self.frozen |= self._record and self.scale > EXACT

    def unite(self) -> None:
        """Takes all nights as one where trials repeat a noisy value: each counts once.

        So do those of a small table, where no other configurations could confirm what these show. No machine
        is in such values, so that a configuration has one level in all nights.
        """
        if not (self._few and self.frozen) or self.walk:  # of counts, repetitions tell how they walk
            return
        names = [self.configurations[row] for row in self._c.tolist()]
        cells = set(zip(names, self._r.tolist(), strict=True))
        if len(set(zip(names, self._r.tolist(), self._y.tolist(), strict=True))) > len(cells):
            return  # a trial of another night differs
        self._record = len(cells) < len(names)
        self._merge()
        self.learn_scale()

    def _merge(self) -> None:
        """One row for each configuration, and each of its trials once."""
        first: dict[Configuration, int] = {}
        rows = [first.setdefault(one, row) for row, one in enumerate(self.configurations)]
        self._c = np.array(rows, dtype=np.intp)[self._c]
        _, kept = np.unique(np.stack([self._c, self._r, self._y]), axis=1, return_index=True)
        kept = np.sort(kept)
        self._c, self._r, self._y = self._c[kept], self._r[kept], self._y[kept]
        self._failed = [set(trials) for trials in self._failed]
        for row, home in enumerate(rows):
            self._failed[home] |= {(home, revision) for _, revision in self._failed[row]}
        self._last = {(rows[row], revision): value for (row, revision), value in self._last.items()}
        self._seen = {(rows[row], value): revision for (row, value), revision in self._seen.items()}
        self.unusable = {(rows[row], revision) for row, revision in self.unusable}
        self._origins = {(rows[row], revision): origin for (row, revision), origin in self._origins.items()}
        self.place = first
        self.forget()

    def broken_levels(self) -> list[Level]:
        """Levels at which nothing works tonight, whatever earlier nights ran."""
        return self._named(self._hopeless_tonight[0])

    def lost(self, revision: int) -> list[Level]:
        """Levels that gave no value there and around it, or none anywhere, in any night."""
        if self._ever is None:
            self._ever = self._hopeless(range(len(self.configurations)))
        nowhere, there = self._ever
        return self._named(nowhere | there.at(revision))

    def usable(self, configuration: Configuration, revision: int) -> bool:
        """As ever; and no level of it is broken tonight, there or everywhere: untried, that fails, too."""
        if configuration in self.pardoned and configuration not in self.place:
            return revision not in self.unbuilt
        broken, there = self._hopeless_tonight
        held = self.holding(configuration)
        if (held & broken).any() or not super().usable(configuration, revision):
            return False
        return self.known(configuration, revision) or not (held & there.at(revision)).any()

    def _learned(self) -> ProbableFailures:
        """Which levels work tonight, but not together."""
        mine = set(self.place.values())
        failed = {cell for row in mine for cell in self._failed[row]}
        worked = [cell for cell in self._last if cell[0] in mine] if failed else ()
        return ProbableFailures(self.holds, failed=failed, worked=worked, pairs_alone=True)

    @property
    def _hopeless_tonight(self) -> tuple[Bools, HopelessThere]:
        if self._tonight is None:
            self._tonight = self._hopeless(list(self.place.values()))
        return self._tonight

    def _hopeless(self, rows: Sequence[int]) -> tuple[Bools, HopelessThere]:
        """Levels with which nothing worked in some configurations: at any revision, and by revision.

        What fails at the anchor or anywhere says nothing of the revision at which it was tried.
        """
        nowhere = self._nowhere(rows)
        mine, explained = set(rows), set(np.flatnonzero((self.holds & nowhere).any(axis=1)).tolist())
        failed = {cell for row in mine - self._valueless - explained for cell in self._failed[row]}
        well = [cell for cell in self._last if cell[0] in mine]
        return nowhere, HopelessThere(self.levels, self.holds, failed=failed, worked=well)

    def _nowhere(self, rows: Sequence[int]) -> Bools:
        """Levels with which nothing worked in some configurations at any revision, (n_levels,)."""
        holds, worked = self.holds[rows], self.means()[rows] > 0.0
        tried = np.array([bool(self._failed[row]) for row in rows], dtype=bool)
        failing, alive = holds[tried & ~worked], np.asarray(holds[worked].any(axis=0))
        alone = failing[(failing & ~alive).sum(axis=1) == 1].any(axis=0) & ~alive
        still = np.array([level in self.broken_before for level in self.levels], dtype=bool)
        return np.asarray(hopeless(self.levels, failing, alive) | (alone & still))

    def _named(self, which: Bools) -> list[Level]:
        return [level for level, chosen in zip(self.levels, which, strict=True) if chosen]

    def forget(self) -> None:
        """Trials, scale or unit changed: compute the columns again."""
        super().forget()
        self._tonight = self._ever = self._far = self._probable = None

    @property
    def logarithmic(self) -> bool:
        """As ever; and where steps are large."""
        return super().logarithmic or (self.relative and self._moved_far)

    @property
    def _moved_far(self) -> bool:
        if self._far is None:
            least, most = np.full(len(self.configurations), np.inf), np.zeros(len(self.configurations))
            np.minimum.at(least, self._c, self._y)
            np.maximum.at(most, self._c, self._y)
            far = (most >= LARGE * least).sum()
            self._far = bool(far >= max(LEAST, SOME * len(least)) and (self._y > 0.0).all())
        return self._far

    def _scales(self, c: Ints, y: Floats) -> Floats:
        """Relative scale of each configuration's trials: its own, drawn to what its values let expect."""
        self._repeated = {} if self.scale <= EXACT or self.frozen else self._repetitions()
        if len(self._repeated) < FEWEST:
            return super()._scales(c, y)
        expected = self._expected(self.configurations)
        known = [self._repeated.get(configuration, (0.0, 0)) for configuration in self.configurations]
        own, count = np.array(known).T
        scales: Floats = np.sqrt((count * own**2 + POOLED * expected**2) / (count + POOLED))
        return np.asarray(np.clip(scales, self.scale / WILDEST, self.scale * WILDEST))

    def _unknown_scales(self, count: int) -> Floats:
        """The newest configurations' relative scale."""
        if len(self._repeated) < FEWEST or not count:
            return super()._unknown_scales(count)
        return self._expected(self.configurations[-count:])

    def _expected(self, configurations: Sequence[Configuration]) -> Floats:
        return np.asarray(self.scale * np.exp(expected_noise(self._repeated, configurations)))

    def _repetitions(self) -> dict[Configuration, tuple[float, int]]:
        """What trials of one configuration, revision and night, one after the other, differ by."""
        order = np.lexsort((self._r, self._c))
        c, r, y = self._c[order], self._r[order], self._y[order]
        again = (np.diff(c) == 0) & (np.diff(r) == 0)
        step = np.abs(np.diff(y))[again] / np.maximum((y[1:] + y[:-1])[again] / 2.0, 1e-300)
        found: dict[Configuration, list[float]] = {}
        for row, size in zip(c[1:][again].tolist(), step.tolist(), strict=True):
            found.setdefault(self.configurations[row], []).append(size)
        scales = {k: 1.4826 * float(np.median(x)) / np.sqrt(2.0) for k, x in found.items()}
        return {k: (float(s), len(found[k])) for k, s in scales.items() if s > 0.0}
