"""Exact terms of true steps: the shortest of those that hold in the same valid configurations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Level, Option, Space, Term, Value
from bot.sampling.constraints import ConstraintSolver


@dataclass(frozen=True)
class TrueStep:
    """A change that trials can show.

    low, high: the first revision it may be placed at, and the first where it can be measured (between them
    nothing builds, or old values are carried on). size: relative change of the run time in the smallest
    valid configuration that holds the term. passing: of an episode that passes. cancelled: an opposite step
    on another term happens at the same revision. change: in what the system adds up, seconds or logarithms.
    """

    low: int
    high: int
    term: Term
    size: float
    passing: bool = False
    cancelled: bool = False
    change: float = math.nan


@dataclass(frozen=True)
class TrueFailure:
    """Configurations that hold a term fail from a revision up to before another."""

    first: int
    end: int
    term: Term


class System(Protocol):
    """A program with a known history."""

    space: Space
    solver: ConstraintSolver
    commits: int
    steps: tuple[TrueStep, ...]
    failures: tuple[TrueFailure, ...]

    def observe(self, probe: Probe) -> Observation:
        """One trial."""
        ...


MOST_VALUES = 20_000
"""Combinations of values that are looked at to compare terms."""


class ExactTerms:
    """Questions about terms; all answers come from the constraints alone."""

    def __init__(self, space: Space, solver: ConstraintSolver) -> None:
        self._space, self._solver = space, solver
        self._canonical: dict[Term, Term] = {}
        self._smallest: dict[Term, Configuration] = {}
        self._empty: Configuration = tuple(o.values[0] for o in space.options)

    def levels(self, term: Term) -> list[Level]:
        """The levels of a term."""
        return [self._space.level_of[text] for text in term]

    def smallest(self, term: Term) -> Configuration:
        """A valid configuration with a possible term in which little else is on."""
        # Kept, for how the solver repairs a misfit depends on what it was asked before.
        if term not in self._smallest:
            found = self._solver.complete(self.levels(term), near=self._empty)
            assert found is not None, term
            self._smallest[term] = found
        return self._smallest[term]

    def apart(self, holding: Term, *violating: Term) -> bool:
        """Whether a valid configuration holds one term and none of some others."""
        held = self.levels(holding)
        against = [[o for x in self.levels(term) for o in self._opposites(x)] for term in violating]
        return any(
            self._solver.complete([*held, *others], near=self._empty) is not None
            for others in product(*against)
        )

    def table(self, terms: Sequence[Term]) -> NDArray[np.float64] | None:
        """Which terms hold in which valid combination of the values of their options, (n, n_terms).

        None: these are too many.
        """
        names = sorted({level.option for term in terms for level in self.levels(term)})
        options = [self._space.options[self._space.index[name]] for name in names]
        if math.prod(len(option.values) for option in options) > MOST_VALUES:
            return None
        rows = []
        for values in product(*(option.values for option in options)):
            pairs = list(zip(options, values, strict=True))
            if self._solver.complete([_level(o, v) for o, v in pairs], near=self._empty) is not None:
                chosen = {option.name: value for option, value in pairs}
                rows.append([all(x.holds(chosen[x.option]) for x in self.levels(term)) for term in terms])
        return np.array(rows, dtype=np.float64)

    def canonical(self, term: Term) -> Term:
        """The shortest, then alphabetically first term that holds in the same valid configurations.

        Every level of such a term holds wherever the given term does, so only those levels are combined.
        """
        if term not in self._canonical:
            self._canonical[term] = self._search(term)
        return self._canonical[term]

    def _search(self, term: Term) -> Term:
        implied = sorted(str(x) for x in self._space.levels if not self.apart(term, (str(x),)))
        for degree in range(len(term)):
            for other in combinations(implied, degree):
                if self._solver.equivalent(term, other):
                    return other
        return next(
            other for other in combinations(implied, len(term)) if self._solver.equivalent(term, other)
        )

    def _opposites(self, level: Level) -> Iterator[Level]:
        """Levels of which one holds wherever the given one does not."""
        option = self._space.options[self._space.index[level.option]]
        for value in option.values:
            if not level.holds(value):
                yield _level(option, value)


def _level(option: Option, value: Value) -> Level:
    """The level that only one value has."""
    return next(x for x in option.levels if x.operator in ("on", "off", "=") and x.holds(value))
