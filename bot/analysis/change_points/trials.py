"""The trials of a search in arrays: configurations, revisions, values, and how noisy they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

import numpy as np

from bot.analysis.change_points.hopeless import HOPELESS
from bot.analysis.change_points.noise import (
    EXACT,
    Bools,
    Floats,
    Ints,
    odd_ones,
    own_scales,
    standing_alone,
)
from bot.analysis.change_points.probable_failures import ProbableFailures, holding
from bot.analysis.change_points.scale import NO_NOISE, learned_scale
from bot.analysis.change_points.weighing import Columns
from bot.model.change_points import Observation
from bot.model.space import Configuration, Level, Space

FLOOR = 1e-3
"""A configuration's level counts as at least this share of the highest one: values near 0 have noise, too."""
MORE = 1.1
"""What is to blame for failures is worked out again when so many times as many trials worked."""


class TrialLog:
    """Everything observed so far.

    configurations: in order of appearance; holds: bool, (n_configurations, n_levels).
    scale: relative standard deviation of one trial. relative: whether effects are shares of a
    configuration's level (ratios) rather than seconds. logs: whether relative effects are of logs with noise,
    too: shares of a mean are told apart less well where steps are large, but disturbed less by odd trials.
    """

    def __init__(self, space: Space, levels: Sequence[Level], *, logs: bool = False) -> None:
        self.levels = tuple(levels)
        self.configurations: list[Configuration] = []
        self.place: dict[Configuration, int] = {}
        self.holds: Bools = np.zeros((0, len(levels)), dtype=bool)
        self.scale = NO_NOISE
        self.frozen = False
        """Whether repeating a trial gives the same value again, though values are noisy."""
        self.walk = 0.0
        """Relative standard deviation of what each revision moves values by; 0: they do not walk."""
        self.relative = False
        self.paired = False
        """Whether trials ran beside others, so that what moves them is not the machine."""
        self._logs = logs
        self.left_out: set[int] = set()
        """Configurations whose trials do not count."""
        self.pardoned: set[Configuration] = set()
        """Configurations that are tried until they fail, whatever is expected of them."""
        self.unusable: set[tuple[int, int]] = set()
        """(configuration, revision) that gave no value."""
        self.unbuilt: set[int] = set()
        self.failed = 0
        """How many trials of revisions that are built gave no value."""
        self._space = space
        self._holding: dict[Configuration, Bools] = {}
        self._c, self._r = np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
        self._y: Floats = np.zeros(0)
        self._last: dict[tuple[int, int], float] = {}
        self._seen: dict[tuple[int, float], int] = {}
        """The first revision at which a configuration had a value."""
        self._origins: dict[tuple[int, int], int] = {}
        self._failed: list[set[tuple[int, int]]] = []
        """Failed trials of each configuration."""
        self._valueless: set[int] = set()
        """Configurations that failed at the anchor, beside which all run: they have no value anywhere."""
        self._working: set[int] = set()
        """Revisions that gave any value."""
        self._probable: tuple[int, int, ProbableFailures] | None = None
        """What is expected to fail, by so many trials that failed, and that worked."""
        self._cache: Columns | None = None
        self._means: Floats | None = None
        self._blur: Callable[[int], Floats] | None = None
        """Factors of so many trials that make them noisier than they are."""
        self._own: Floats = np.zeros(0)
        """Relative scale of each configuration that was known when scales were learned."""

    def __len__(self) -> int:
        return len(self._y)

    def add(self, observations: Sequence[Observation]) -> None:
        """Takes in trials; a failed one is remembered as unusable."""
        fresh: list[tuple[int, int, float]] = []
        for o in observations:
            key = (self.row(o.probe.configuration), o.probe.revision)
            seconds = o.value if self._blur is None else o.value * float(self._blur(1)[0])
            self.paired |= o.anchor != 1.0
            if not o.built:
                self.unbuilt.add(o.probe.revision)
            elif not np.isfinite(o.value):
                self.unusable.add(key)
                self._failed[key[0]].add(key)
                self.failed += 1
                if not o.anchor:
                    self._valueless.add(key[0])
            elif self.scale > EXACT and self._carried(*key, seconds):
                self.unusable.add(key)  # a repetition of the same record: nothing new
            else:
                fresh.append((*key, seconds))
                self._last[key] = seconds
                self._seen.setdefault((key[0], seconds), key[1])
                self._working.add(key[1])
        if fresh:
            c, r, y = zip(*fresh, strict=True)
            self._c = np.concatenate([self._c, np.array(c, dtype=np.intp)])
            self._r = np.concatenate([self._r, np.array(r, dtype=np.intp)])
            self._y = np.concatenate([self._y, np.array(y)])
        else:
            self.unbuilt |= self._dead()
        self.forget()

    def blur(self, scale: float, rng: np.random.Generator) -> None:
        """Makes all trials noisier, those to come, too: what is no sum of steps must not look certain.

        scale: relative standard deviation of what is added.
        """
        self._blur = lambda count: np.maximum(1.0 + scale * rng.standard_normal(count), scale)
        self._y = self._y * self._blur(len(self._y))
        self.learn_scale()

    @property
    def blurred(self) -> bool:
        """Whether trials were made noisier than they are."""
        return self._blur is not None

    def _carried(self, row: int, revision: int, value: float) -> bool:
        """Whether a value is one carried on from (or back to) another revision; what lies between is, too."""
        other = self._seen.get((row, value))
        if other is None:
            return False
        first, last = min(other, revision), max(other, revision)
        between = range(first, last + 1)  # another value there: a coarse clock's chance
        if all(self._last.get((row, r), value) == value for r in between):
            self.unusable |= {(row, r) for r in between}
            self._origins |= {(row, r): first for r in between}
            self._seen[row, value] = first
        return True

    def _dead(self) -> set[int]:
        """Revisions where several configurations failed that work elsewhere, and none worked."""
        alive = {row for row, _ in self._last}
        failures = Counter(r for row in alive for _, r in self._failed[row] if r not in self._working)
        return {r for r, count in failures.items() if count >= HOPELESS}

    def row(self, configuration: Configuration) -> int:
        """The number of a configuration, new ones included."""
        if configuration not in self.place:
            self.place[configuration] = len(self.configurations)
            self.configurations.append(configuration)
            self._failed.append(set())
            self.holds = np.vstack([self.holds, [self.holding(configuration)]])
            self.forget()
        return self.place[configuration]

    def holding(self, configuration: Configuration) -> Bools:
        """At which levels a configuration is, (n_levels,)."""
        known = self._holding.get(configuration)
        if known is None:
            self._holding[configuration] = known = holding(self._space, self.levels, configuration)
        return known

    def known(self, configuration: Configuration, revision: int) -> bool:
        """Whether there is a value."""
        return (self.place.get(configuration, -1), revision) in self._last

    def value(self, configuration: Configuration, revision: int) -> float | None:
        """The last value there, in seconds; None: there is none."""
        return self._last.get((self.place.get(configuration, -1), revision))

    def stale_since(self, configuration: Configuration, revision: int) -> int | None:
        """The last revision with a value of its own before a stretch of carried ones; None: it is in none."""
        row = self.place.get(configuration, -1)
        if (first := self._origins.get((row, revision))) is None:
            return None
        return max((r for k, r in self._last if k == row and r < first), default=first)

    def usable(self, configuration: Configuration, revision: int) -> bool:
        """Whether a trial there has not failed so far, nor is expected to by what the others did."""
        row = self.place.get(configuration)
        if revision in self.unbuilt:
            return False
        if row is None:
            return configuration in self.pardoned or not self._doubtful(self.holding(configuration), revision)
        hopeless = row in self._valueless or len(self._failed[row]) >= HOPELESS
        if (hopeless and self.means()[row] == 0.0) or (row, revision) in self.unusable:
            return False
        if (row, revision) in self._last or (configuration in self.pardoned and not self._failed[row]):
            return True
        return not self._doubtful(self.holds[row], revision)

    def _doubtful(self, held: Bools, revision: int) -> bool:
        """Whether what was not tried there would fail, by the levels that it holds."""
        if not self.failed:
            return False
        known = self._probable
        if known is None or self.failed > MORE * known[0] or len(self._last) > MORE * known[1]:
            self._probable = known = self.failed, len(self._last), self._learned()
        return known[2].expects(held, revision)

    def _learned(self) -> ProbableFailures:
        """What is expected to fail, by all trials."""
        cells = [cell for cells in self._failed for cell in cells if cell[0] not in self._valueless]
        failed = [(row, revision) for row, revision in cells if revision not in self.unbuilt]
        return ProbableFailures(self.holds, failed=failed, worked=self._last, valueless=self._valueless)

    def broken_levels(self) -> list[Level]:
        """Levels at which nothing has worked, though several were tried that differ in other levels, too."""
        worked = self.means() > 0.0
        failed = ~worked & np.array([len(trials) > 0 for trials in self._failed], dtype=bool)
        tried, alive = self.holds[failed].sum(axis=0), self.holds[worked].sum(axis=0)
        return [self.levels[i] for i in np.flatnonzero((tried >= HOPELESS) & (alive == 0))]

    def lost(self, revision: int) -> list[Level]:
        """Levels that are expected to give no value there."""
        each = np.eye(len(self.levels), dtype=bool)
        return [
            level for level, alone in zip(self.levels, each, strict=True) if self._doubtful(alone, revision)
        ]

    def columns(self) -> Columns:
        """Configuration (sorted), revision, value and standard deviation of trials that count, (n,) each.

        Values are seconds; or shares of their configuration's mean when effects are `relative`, and logs when
        they are `logarithmic`.
        """
        if self._cache is None:
            order = np.argsort(self._c, kind="stable")
            c, r, y, sd = self._c[order], self._r[order], self._y[order], self._noise()[order]
            odd = odd_ones(c, r, y, sd) & (self.walk == 0.0)  # what walks far is not odd
            keep = ~odd & ~np.isin(c, list(self.left_out))
            unit = self.means()[c] if self.relative else np.ones(len(y))
            values = np.log(y) if self.logarithmic else y / unit
            self._cache = c[keep], r[keep], values[keep], (sd / unit)[keep]
        return self._cache

    @property
    def logarithmic(self) -> bool:
        """Whether relative effects are of logs: means depend on where a configuration was measured."""
        return self.relative and (self._logs or self.scale <= EXACT) and bool((self._y > 0).all())

    def _noise(self) -> Floats:
        """Standard deviation of each trial in seconds, (n,)."""
        level = self.means()
        scale = np.append(self._own, self._unknown_scales(len(level) - len(self._own)))
        return np.asarray((scale * level)[self._c])

    def _unknown_scales(self, count: int) -> Floats:
        """The relative scale of the newest configurations, of which nothing was learned yet, (count,)."""
        return np.full(count, self.scale)

    def odd(self) -> list[tuple[Configuration, int]]:
        """Where the only trial is far from all its neighbours in time: chance, or something that passed."""
        far = standing_alone(self._c, self._r, self._y, self._noise())
        return [(self.configurations[int(self._c[i])], int(self._r[i])) for i in far]

    def since(self, count: int) -> tuple[Ints, Ints, Floats, Floats]:
        """Configuration, revision, seconds and standard deviation of the trials after the first `count`."""
        return self._c[count:], self._r[count:], self._y[count:], self._noise()[count:]

    def forget(self) -> None:
        """Trials, scale or unit changed: compute the columns again."""
        self._cache = self._means = None

    def means(self) -> Floats:
        """Mean size of each configuration's values, (n_configurations,), in seconds; 0: nothing measured."""
        if self._means is None:
            n = len(self.configurations)
            count = np.bincount(self._c, minlength=n)
            mean = np.bincount(self._c, np.abs(self._y), n) / np.maximum(count, 1)
            self._means = np.where(count > 0, np.maximum(mean, FLOOR * mean.max(initial=0.0) + 1e-300), 0.0)
        return self._means

    def learn_scale(self, moved: Collection[int] = ()) -> None:
        """The relative scale of one trial, from repetitions and from neighbours in time.

        moved: revisions at which something did; neighbours on both sides of one say nothing of the noise.
        """
        order = np.lexsort((self._r, self._c))
        # Odd trials were asked for again: most of what was repeated would be what was disturbed.
        order = order[~odd_ones(self._c, self._r, self._y, self._noise())[order]]
        c, r, y = self._c[order], self._r[order], self._y[order]
        learned = learned_scale(c, r, y, moved)
        self.scale, self.walk, self.frozen = learned.trial, learned.walk, learned.frozen
        self._own = self._scales(c, y)
        self.forget()

    def _scales(self, c: Ints, y: Floats) -> Floats:
        return own_scales(c, y, len(self.configurations), self.scale)
