"""A sample that aims: two configurations of three exercise given terms, every third is chosen blindly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.model.space import Configuration, Level, Space, Term, Value
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.one_hot import OneHot
from bot.sampling.pull_request import (
    LISTED,
    Balance,
    Columns,
    Floats,
    Pool,
    improved,
    proposals,
    pull_request_sample,
    worth,
)
from bot.sampling.sampler import random_values

BLIND_EVERY = 3
"""One configuration in so many is chosen without the terms: they may be the wrong ones."""
WEIGHT = 2.0
"""What a state of a term, with all that is chosen with it, is worth beside an option's values."""
EVEN = 32.0
"""What it is worth that each state of a term is as frequent as it should be; both by trial."""
LONGEST = 3
"""Levels of a term; longer ones have too many states, and nobody measures influences of them."""


def weighted_sample(
    space: Space, solver: ConstraintSolver, count: int, *, terms: Sequence[Term], rng: np.random.Generator
) -> list[Configuration]:
    """`count` valid, distinct configurations, or all of a space that has fewer; the default comes first.

    A change of a term is seen and told from others best when half of the configurations hold it. So in two
    turns of three each term counts as an option of its own, whose values are the ways in which it holds or
    not: a pair as a whole, or one of its levels, or none. These are worth with each other and with values of
    options what pairs of values are in `pull_request_sample`, and the rarer ones more (`WEIGHT`, `EVEN`).
    Every third configuration is chosen by the latter's worth alone, given all before it. Terms that hold
    always or never, or that the space does not know, are left out; with none left the sample is that of
    `pull_request_sample`.
    """
    known = [
        t
        for t in dict.fromkeys(terms)
        if 0 < len(t) <= LONGEST and all(level in space.level_of for level in t)
    ]
    known = [t for t in known if solver.possible(t) and not solver.equivalent(t, ())]
    if not known:
        return pull_request_sample(space, solver, count, rng=rng)
    exercise = _Exercise(space, known, rng)
    balance = Balance(exercise.codes, rng)
    listed = solver.configurations(max(LISTED, count))
    offered = listed if listed is not None else proposals(space, solver, rng)
    pool = Pool(balance, offered)
    offered_columns = exercise.encode(offered)
    sample: dict[Configuration, None] = {}
    chosen: Configuration | None = solver.default()
    while chosen is not None and len(sample) < count:
        sample[chosen] = None
        pool.add(chosen)
        exercise.add(chosen)
        blind = len(sample) % BLIND_EVERY == 0
        candidates = pool.best(0.0 if blind else exercise.score(offered_columns))
        if listed is None:
            drawn = improved(space, solver, balance, rng)
            candidates += drawn if blind else exercise.steered(drawn, solver)
        fresh = [c for c in candidates if c not in sample]
        if not fresh and listed is None:
            another = solver.complete(near=random_values(space, rng), excluding=sample)
            fresh = [] if another is None else [another]
        chosen = max(
            fresh,
            key=lambda c: balance.score(c) + (0.0 if blind else exercise.score(exercise.encode([c]))[0]),
            default=None,
        )
    return list(sample)


class _Exercise:
    """How often each term was chosen in which state, with what, and what seeing it again is worth.

    A state says which of the term's levels hold: bit k for the k-th. Columns are those of `OneHot`, then the
    states of each term; the table has a row for each state, shape (n_states, columns + n_states).
    """

    def __init__(self, space: Space, terms: Sequence[Term], rng: np.random.Generator) -> None:
        self.codes = OneHot(space)
        self._space, self._rng = space, rng
        self._terms = [[space.level_of[text] for text in term] for term in terms]
        counts = np.array([1 << len(term) for term in terms])
        self._starts = np.cumsum(counts) - counts
        # Half for the term, the other half for all that is like it and is not it.
        self._wanted = np.repeat(0.5 / (counts - 1), counts)
        self._wanted[self._starts + counts - 1] = 0.5
        self._chosen = 0
        self._seen = np.zeros((counts.sum(), self.codes.columns + counts.sum()), dtype=np.int32)

    def encode(self, configurations: Sequence[Configuration]) -> Columns:
        """Columns of values and states, shape (n_configurations, n_options + n_terms)."""
        values = [self.codes.encode(c) for c in configurations]
        states = [[self._state(term, c) for term in self._terms] for c in configurations]
        return np.hstack([np.array(values), self.codes.columns + self._starts + np.array(states)])

    def add(self, configuration: Configuration) -> None:
        """Counts a chosen configuration."""
        columns = self.encode([configuration])[0]
        self._seen[np.ix_(self._rows(columns), columns)] += 1
        self._chosen += 1

    def score(self, columns: Columns) -> Floats:
        """Worth of encoded configurations, shape (n_configurations,)."""
        rows = self._rows(columns)
        table = worth(self._chosen)[self._seen]
        behind = 1.0 - np.diagonal(self._seen, self.codes.columns) / (self._chosen * self._wanted)
        found: Floats = table[rows[:, :, None], columns[:, None, :]].sum(axis=(1, 2))
        found += EVEN * behind[rows].sum(axis=1)
        return WEIGHT * found

    def steered(
        self, configurations: Sequence[Configuration], solver: ConstraintSolver
    ) -> list[Configuration]:
        """Valid configurations near these, with each term in a drawn state as far as that is possible."""
        found = []
        for configuration in configurations:
            values = list(configuration)
            for place in self._rng.permutation(len(self._terms)):
                self._move(values, self._terms[int(place)])
            found.append(solver.complete(near=tuple(values)))
        return [c for c in found if c is not None]

    def _move(self, values: list[Value], term: Sequence[Level]) -> None:
        """Brings values to a state of a term, in half of the cases to that in which it holds."""
        whole = (1 << len(term)) - 1
        state = whole if self._rng.random() < 0.5 else int(self._rng.integers(whole))
        for place, level in enumerate(term):
            option = self._space.index[level.option]
            held = bool(state >> place & 1)
            if level.holds(values[option]) != held:
                fitting = [v for v in self._space.options[option].values if level.holds(v) == held]
                values[option] = fitting[int(self._rng.integers(len(fitting)))]

    def _state(self, term: Sequence[Level], configuration: Configuration) -> int:
        return sum(self._space.holds(level, configuration) << place for place, level in enumerate(term))

    def _rows(self, columns: Columns) -> Columns:
        """Rows of the states among encoded columns, shape (..., n_terms)."""
        return columns[..., -len(self._terms) :] - self.codes.columns
