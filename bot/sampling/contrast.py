"""Configurations that show a term well: few or many options on, near a wanted one, or balanced over pairs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

import numpy as np

from bot.model.space import Configuration, Level, Option, Space, Value, distance
from bot.sampling.constraints import ConstraintSolver

ON = 0.4
"""Share of options on in configurations drawn at random: pairs are shown often, and little else disturbs."""
DRAWS = 8
"""Configurations drawn for each one that is taken."""


Preference = Callable[[Option], Value]
Apart = tuple[tuple[Level, ...], ...]


class Configurator:
    """Valid configurations on demand; `candidates`: the only ones that can be measured (a table's)."""

    def __init__(
        self,
        space: Space,
        solver: ConstraintSolver,
        *,
        rng: np.random.Generator,
        candidates: Collection[Configuration] | None = None,
    ) -> None:
        self._space, self._solver, self._rng = space, solver, rng
        self._candidates = None if candidates is None else tuple(dict.fromkeys(candidates))
        self.sparse = self._wanted(_fewest)
        """As few options on as can be: the program at its fastest, where a step is largest against noise."""
        self._empty = self.sparse
        self.dense = self._wanted(_most)
        """As many options on as can be: most terms at once."""
        self.avoided: tuple[Level, ...] = ()
        """Levels that configurations drawn at random are kept off (nothing works there)."""
        self.failing: Callable[[], Apart] = tuple
        """Levels, and levels beside each other, that are left out unless they are asked for."""
        self._remembered: dict[tuple[tuple[Level, ...], Configuration, Apart], Configuration | None] = {}

    @property
    def default(self) -> Configuration:
        """What the program runs without options, or close to it."""
        return self.fitting(self._space.default)

    @property
    def extremes(self) -> list[Configuration]:
        """The emptiest and the fullest configuration; only one when they are the same."""
        return list(dict.fromkeys([self.sparse, self.dense]))

    @property
    def needed(self) -> list[int]:
        """Options in which the emptiest configuration is another one than was wanted: that did not work."""
        return [i for i, (a, b) in enumerate(zip(self._empty, self.sparse, strict=True)) if a != b]

    def near(self, held: Iterable[Level], wanted: Configuration) -> Configuration | None:
        """A configuration at these levels, close to a wanted one; None: there is none."""
        levels = tuple(held)
        apart = tuple(together for together in self.failing() if not set(together) <= set(levels))
        key = (levels, wanted, apart)
        if key not in self._remembered:
            found = self._near(levels, wanted, apart)
            self._remembered[key] = self._near(levels, wanted, ()) if found is None and apart else found
        return self._remembered[key]

    def fitting(self, wanted: Configuration) -> Configuration:
        """A valid configuration close to a wanted one, whatever is expected of it."""
        if self._candidates is not None:
            return min(self._candidates, key=lambda c: distance(c, wanted))
        found = self._solver.complete(near=wanted)
        assert found is not None
        return found

    def alone(self, levels: Iterable[Level]) -> list[Configuration]:
        """Each of these levels by itself, with as few options on as can be; those that there are, once."""
        found = [self.near([level], self.sparse) for level in levels]
        return list(dict.fromkeys(c for c in found if c is not None))

    def otherwise(self, level: Level, failed: Collection[Configuration]) -> list[Configuration]:
        """Some at a level at which others failed, but without what may have been why.

        That is all that is common to these, and what the emptiest configuration needs: where one of two
        options is needed, what lacks the first works beside the second.
        """
        mine = [c for c in failed if self._has([level], c)]
        shared = {x.option: x for x in self._space.levels if all(self._has([x], c) for c in mine)}
        without = [self.without(x) for x in shared.values() if mine and x.option != level.option]
        instead = [self.level_at(i, self._empty, self.sparse) for i in self.needed]
        held = [[level, *(x for x in others if x is not None)] for others in (without, instead)]
        found = [self.near(levels, self.sparse) for levels in held if len(levels) > 1]
        return list(dict.fromkeys(c for c in found if c is not None))

    def allows(self, configuration: Configuration) -> bool:
        """Whether it can be measured: an earlier night's may be forbidden since."""
        if self._candidates is not None:
            return configuration in self._candidates
        return self._checker.valid(configuration)

    @cached_property
    def _checker(self) -> ConstraintSolver:
        """One of its own: what the other finds depends on all that it was asked before."""
        return ConstraintSolver(self._space)

    def replace(self, failing: Collection[Configuration], working: Collection[Configuration]) -> None:
        """Uses the nearest working configuration instead of an emptiest or a fullest one that fails."""
        if self.sparse in failing:
            self.sparse = min(working, key=lambda c: distance(c, self.sparse))
        if self.dense in failing:
            self.dense = min(working, key=lambda c: distance(c, self.dense))

    def random(self, on: float = ON) -> Configuration:
        """A configuration with about this share of its options on."""
        if self._candidates is not None:
            return self._candidates[int(self._rng.integers(len(self._candidates)))]
        wanted = tuple(self._draw(option, on) for option in self._space.options)
        held = [other for level in self.avoided if (other := self.without(level)) is not None]
        found = self._solver.complete(tuple(held), near=wanted) or self._solver.complete(near=wanted)
        assert found is not None
        return found

    def balanced(
        self,
        count: int,
        known: Sequence[Configuration],
        works: Callable[[Configuration], bool] = lambda _: True,
    ) -> list[Configuration]:
        """New configurations, each the one of several drawn that shows pairs of levels seen least so far.

        works: whether one is worth a trial.
        """
        levels = self._space.levels
        held = [self._holding(configuration, levels) for configuration in known]
        seen = np.array(held).T @ np.array(held) if held else np.zeros((len(levels), len(levels)))
        found: dict[Configuration, None] = {}
        for _ in range(count):
            drawn = {self.random(): None for _ in range(DRAWS)}
            fresh = [c for c in drawn if c not in found and c not in known and works(c)]
            if not fresh:
                break
            rows = [self._holding(c, levels) for c in fresh]
            scores = [float(row @ (1.0 / (1.0 + seen)) @ row) for row in rows]
            best = int(np.argmax(scores))
            found[fresh[best]] = None
            seen += np.outer(rows[best], rows[best])
        return list(found)

    def opposite(self, configuration: Configuration) -> Configuration:
        """A configuration that differs in as many options as can be."""
        pairs = zip(self._space.options, configuration, strict=True)
        return self.fitting(tuple(_other(option, value) for option, value in pairs))

    def level_at(self, place: int, configuration: Configuration, other: Configuration) -> Level:
        """The widest level of an option that one configuration holds and another does not."""
        option = self._space.options[place]
        fitting = [x for x in option.levels if x.holds(configuration[place]) and not x.holds(other[place])]
        return max(fitting, key=lambda x: sum(x.holds(v) for v in option.values))

    def without(self, level: Level) -> Level | None:
        """A level of the same option that excludes this one."""
        option = self._space.options[self._space.index[level.option]]
        for other in option.levels:
            if not any(level.holds(v) and other.holds(v) for v in option.values):
                return other
        return None

    def _near(self, held: tuple[Level, ...], wanted: Configuration, apart: Apart) -> Configuration | None:
        if self._candidates is None:
            return self._solver.complete(held, near=wanted, apart=apart)
        fitting = [c for c in self._candidates if self._has(held, c)]
        fitting = [c for c in fitting if not any(self._has(together, c) for together in apart)]
        return min(fitting, key=lambda c: distance(c, wanted), default=None)

    def _has(self, levels: Sequence[Level], configuration: Configuration) -> bool:
        return all(self._space.holds(level, configuration) for level in levels)

    def _wanted(self, choose: Preference) -> Configuration:
        return self.fitting(tuple(choose(option) for option in self._space.options))

    def _draw(self, option: Option, on: float) -> Value:
        if option.kind == "flag":
            return bool(self._rng.random() < on)
        return option.values[int(self._rng.integers(len(option.values)))]

    def _holding(self, configuration: Configuration, levels: Sequence[Level]) -> np.ndarray:
        return np.array([self._space.holds(level, configuration) for level in levels], dtype=np.float64)


def _fewest(option: Option) -> Value:
    return False if option.kind == "flag" else option.default


def _most(option: Option) -> Value:
    return True if option.kind == "flag" else option.values[-1]


def _other(option: Option, value: Value) -> Value:
    """Another value, as far away as can be."""
    first, last = option.values[0], option.values[-1]
    return first if value == last else last
