"""Simulated pull requests: spaces with constraints, samples, noise, and changes with known truth."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.model.space import Configuration, Option, Space, Term

Floats = NDArray[np.float64]
Draw = Callable[[], float]

ROUND_SECONDS = 5.0
"""One pair of all 32 configurations of the measured compressor (findings: 28-190 ms a run)."""
CONFIGURATIONS = 32
SPACES = 12
POOL = 20_000
"""Valid configurations by which two terms are held to be the same."""
NOISE = Path(__file__).parents[1] / "noise"


@dataclass(frozen=True)
class World:
    """A space and many of its valid configurations."""

    space: Space
    pool: tuple[Configuration, ...]
    covers: dict[str, NDArray[np.bool_]]

    def holds(self, term: Term) -> NDArray[np.bool_]:
        """Where a term holds in the pool."""
        result = np.ones(len(self.pool), dtype=bool)
        for level in term:
            result &= self.covers[level]
        return result

    def equivalent(self, first: Term, second: Term) -> bool:
        """Whether two terms hold in the same configurations of the pool."""
        return bool((self.holds(first) == self.holds(second)).all())


@cache
def world(number: int) -> World:
    """One of the fixed spaces: 13 options (8 flags, 3 choices, 2 numbers) and 4 implications."""
    rng = np.random.default_rng([2024, number])
    options = [Option(f"f{i}", "flag", (False, True), False) for i in range(8)]
    for i in range(3):
        values = tuple(f"v{j}" for j in range(int(rng.integers(2, 6))))
        options.append(Option(f"c{i}", "choice", values, values[0]))
    for i in range(2):
        numbers = tuple(int(v) for v in (0, 1, 3, 6, 9)[: int(rng.integers(3, 6))])
        options.append(Option(f"n{i}", "number", numbers, numbers[0]))
    order = [options[i] for i in rng.permutation(len(options))]
    space = Space(tuple(order))
    rules = []
    for _ in range(4):
        a, b = rng.choice(13, 2, replace=False)
        left = _random_level(order[a], rng)
        right = _random_level(order[b], rng)
        rules.append((left, right))
    columns = [np.array(o.values, dtype=object)[rng.integers(0, len(o.values), 4 * POOL)] for o in order]
    draws = list(zip(*columns, strict=True))
    valid = [c for c in draws if all(not space.holds(a, c) or space.holds(b, c) for a, b in rules)]
    pool = tuple(dict.fromkeys(tuple(_plain(v) for v in c) for c in valid))[:POOL]
    covers = {str(level): np.array([space.holds(level, c) for c in pool]) for level in space.levels}
    return World(space, pool, covers)


def _plain(value: object) -> bool | int | str:
    assert isinstance(value, bool | int | str)
    return value


def _random_level(option: Option, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    return option.levels[int(rng.integers(len(option.levels)))]


@lru_cache(maxsize=1)
def recorded() -> tuple[Floats, ...]:
    """Recorded log ratios of base against base: one series per configuration; empty: none there."""
    series: dict[tuple[str, str], list[float]] = {}
    for path in sorted(NOISE.glob("*.csv.gz")):
        with gzip.open(path, "rt", newline="") as lines:
            for row in csv.DictReader(lines):
                series.setdefault((row["program"], row["configuration"]), []).append(
                    float(row["log_ratio_cpu"])
                )
    return tuple(np.array(v) for v in series.values() if len(v) >= 8)


def noise(kind: str, rng: np.random.Generator) -> Iterator[Draw]:
    """Draws of one pair's log ratio, one source per configuration."""
    while True:
        if kind == "recorded":
            # A block of neighbours in time keeps what correlation there is; the start order was random, so
            # each pair's sign is too.
            own = recorded()[int(rng.integers(len(recorded())))]
            yield _block(own, rng)
        else:
            sd = float(np.clip(0.022 * np.exp(0.4 * rng.standard_normal()), 0.01, 0.04))
            yield lambda sd=sd: float(sd / np.sqrt(5 / 3) * rng.standard_t(5))  # type: ignore[misc]


def _block(series: Floats, rng: np.random.Generator) -> Draw:
    position = [int(rng.integers(len(series)))]

    def draw() -> float:
        position[0] = (position[0] + 1) % len(series)
        return float(series[position[0]] * (1 if rng.random() < 0.5 else -1))

    return draw


@dataclass(frozen=True)
class Case:
    """What is planted: sizes of options and pairs, code layout, seconds of run time."""

    name: str
    seconds: float
    options: tuple[float, ...] = ()
    pairs: tuple[float, ...] = ()
    shift: tuple[float, float] = (0.0, 0.0)
    some: bool = False
    each: float = 0.0
    uneven: tuple[float, float] = (0.2, 0.4)


@dataclass
class PullRequest:
    """One simulated pull request: its sample, the true log ratio of each configuration, and its noise."""

    world: World
    configurations: tuple[Configuration, ...]
    planted: dict[Term, float]
    truth: Floats
    draws: list[Draw] = field(repr=False)

    def pair(self, configuration: int) -> float:
        """Measures one pair: log(head / base)."""
        return float(self.truth[configuration] + self.draws[configuration]())


def pull_request(case: Case, kind: str, rng: np.random.Generator) -> PullRequest:
    """Draws a pull request of a case."""
    w = world(int(rng.integers(SPACES)))
    while True:
        chosen = [w.pool[i] for i in rng.choice(len(w.pool), CONFIGURATIONS, replace=False)]
        planted = _plant(case, w, chosen, rng)
        if planted is not None:
            break
    truth = np.zeros(CONFIGURATIONS)
    if case.shift[1] > 0 or case.each > 0:
        shift = rng.uniform(*case.shift) * rng.choice([-1, 1])
        moved = rng.random(CONFIGURATIONS) < (0.5 if case.some else 1.0)
        truth += shift * moved + case.each * rng.standard_normal(CONFIGURATIONS)
    uneven = rng.uniform(*case.uneven)
    for term, size in planted.items():
        cover = holds(w.space, term, chosen)
        truth += cover * np.log1p(size) * (1 + uneven * rng.standard_normal(CONFIGURATIONS))
    sources = noise(kind, rng)
    return PullRequest(w, tuple(chosen), planted, truth, [next(sources) for _ in chosen])


def holds(space: Space, term: Term, configurations: Sequence[Configuration]) -> NDArray[np.bool_]:
    """Where a term holds, shape (n_configurations,)."""
    return np.array([all(space.holds(space.level_of[t], c) for t in term) for c in configurations])


def _plant(
    case: Case, w: World, chosen: Sequence[Configuration], rng: np.random.Generator
) -> dict[Term, float] | None:
    """Random terms of the case's kinds that the sample exercises (3 to 29 of 32), or None to draw again."""
    planted: dict[Term, float] = {}
    used: set[str] = set()
    for size, wide in [(s, 1) for s in case.options] + [(s, 2) for s in case.pairs]:
        free = [o for o in w.space.options if o.name not in used]
        options = [free[i] for i in rng.choice(len(free), wide, replace=False)]
        used |= {o.name for o in options}
        levels = [_culprit(o, rng) for o in options]
        term = tuple(sorted(levels))
        cover = holds(w.space, term, chosen)
        least = min(int(holds(w.space, (level,), chosen).sum()) for level in levels)
        if not 3 <= cover.sum() <= CONFIGURATIONS - 3 or (wide == 2 and cover.sum() == least):
            return None
        planted[term] = size
    return planted


def _culprit(option: Option, rng: np.random.Generator) -> str:
    """A level to blame: a flag is on in four cases of five, a number is a value or a threshold."""
    if option.kind == "flag":
        return option.name if rng.random() < 0.8 else f"!{option.name}"
    return str(option.levels[int(rng.integers(len(option.levels)))])
