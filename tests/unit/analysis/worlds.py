"""Small spaces, samples and noise with known truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bot.analysis.diagnose import PairedEstimator, Rule
from bot.model.space import Configuration, Option, Space, Term

CPU = (Rule("cpu", "lower", 0.01),)


def flags(count: int) -> Space:
    """A space of switches a, b, c, ..."""
    return Space(tuple(Option(chr(97 + i), "flag", (False, True), False) for i in range(count)))


def mixed() -> Space:
    """Four switches, a choice and a number."""
    return Space(
        (
            *flags(4).options,
            Option("mode", "choice", ("fast", "safe", "tiny"), "fast"),
            Option("level", "number", (0, 3, 6, 9), 6),
        )
    )


def sample(space: Space, count: int, rng: np.random.Generator) -> list[Configuration]:
    """Distinct random configurations."""
    every = list(product(*(o.values for o in space.options)))
    return [every[i] for i in rng.choice(len(every), min(count, len(every)), replace=False)]


def holds(space: Space, term: Term, configurations: Sequence[Configuration]) -> NDArray[np.bool_]:
    """Where a term holds."""
    return np.array([all(space.holds(space.level_of[t], c) for t in term) for c in configurations])


def planted(
    space: Space, effects: Mapping[Term, float], configurations: Sequence[Configuration]
) -> NDArray[np.float64]:
    """True log ratio of each configuration: the sum of the effects of the terms it holds."""
    truth = np.zeros(len(configurations))
    for term, size in effects.items():
        truth += size * holds(space, term, configurations)
    return truth


def same_everywhere(space: Space, valid: Callable[[Configuration], bool]) -> Callable[[Term, Term], bool]:
    """The oracle of equivalence, by enumeration."""
    every = [c for c in product(*(o.values for o in space.options)) if valid(c)]

    def equivalent(first: Term, second: Term) -> bool:
        return bool((holds(space, first, every) == holds(space, second, every)).all())

    return equivalent


def never(first: Term, second: Term) -> bool:
    """No two different terms are the same."""
    return first == second


def estimator(
    space: Space,
    configurations: Sequence[Configuration],
    *,
    rules: Sequence[Rule] = CPU,
    equivalent: Callable[[Term, Term], bool] = never,
) -> PairedEstimator:
    """An estimator with the usual settings."""
    return PairedEstimator(
        space=space,
        configurations=configurations,
        rules=rules,
        false_alarms=0.01,
        equivalent=equivalent,
        rng=np.random.default_rng(0),
    )


def feed(
    found: PairedEstimator,
    truth: Mapping[str, NDArray[np.float64]],
    *,
    rounds: int,
    rng: np.random.Generator,
    noise: float = 0.02,
) -> PairedEstimator:
    """Rounds over all configurations: the true log ratio per metric plus heavy-tailed noise."""
    for _ in range(rounds):
        for c in range(len(found.configurations)):
            found.partial_fit(c, {m: float(v[c] + noise * rng.standard_t(5)) for m, v in truth.items()})
    return found
