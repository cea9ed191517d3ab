"""Simulated pull requests: spaces with constraints, samples, noise, and changes with known truth."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.model.space import Configuration, Option, Space, Term
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.schedule import MOST

Floats = NDArray[np.float64]
Draw = Callable[[], tuple[float, float]]

PAIR_SECONDS = 5.0 / 32.0
"""Run time of one pair of the measured compressor (findings: 5 s for a pair of 32 configurations)."""
SPACES = 12
SAMPLES = 4
"""Different samples drawn of each space."""
KINDS = ("recorded", "student", "quiet", "loud", "spikes")
NOISE = Path(__file__).parents[1] / "noise"


@dataclass(frozen=True)
class World:
    """A space, its solver (answers remembered) and samples as a pull request draws them."""

    space: Space
    solver: ConstraintSolver
    samples: tuple[tuple[Configuration, ...], ...]
    known: dict[tuple[Term, Term], bool] = field(default_factory=dict)

    def equivalent(self, first: Term, second: Term) -> bool:
        """Whether two terms hold in the same valid configurations."""
        key = (first, second) if first <= second else (second, first)
        if key not in self.known:
            self.known[key] = self.solver.equivalent(*key)
        return self.known[key]


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
    rules = []
    for _ in range(4):
        a, b = (order[i] for i in rng.choice(len(order), 2, replace=False))
        rules.append(f"{_condition(a, rng)} implies {_condition(b, rng)}")
    space = Space(tuple(order), tuple(rules))
    solver = ConstraintSolver(space)
    samples = tuple(tuple(pull_request_sample(space, solver, MOST, rng=rng)) for _ in range(SAMPLES))
    return World(space, solver, samples)


def _condition(option: Option, rng: np.random.Generator) -> str:
    """A random level in the language of constraints."""
    level = option.levels[int(rng.integers(len(option.levels)))]
    return str(level).replace("!", "not ")


@cache
def recorded() -> tuple[tuple[Floats, Floats], ...]:
    """Recorded pairs of base against base: (base seconds, log ratios) of each program's configurations."""
    series: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for path in sorted(NOISE.glob("*.csv.gz")):
        with gzip.open(path, "rt", newline="") as lines:
            for row in csv.DictReader(lines):
                pair = (float(row["base_cpu"]), float(row["log_ratio_cpu"]))
                series.setdefault((row["program"], row["configuration"]), []).append(pair)
    found = [np.array(v) for v in series.values() if len(v) >= 8]
    return tuple((v[:, 0] / np.median(v[:, 0]), v[:, 1]) for v in found)


def noise(kind: str, rng: np.random.Generator) -> Iterator[Draw]:
    """Draws of one pair (base seconds, log ratio), one source per configuration."""
    while True:
        match kind:
            case "recorded":
                yield _block(*recorded()[int(rng.integers(len(recorded())))], rng)
            case "student":  # a busy machine, each configuration with its own noise
                yield _student(float(np.clip(0.022 * np.exp(0.4 * rng.standard_normal()), 0.01, 0.04)), rng)
            case "quiet":
                yield _normal(0.005, 0.0, rng)
            case "loud":
                yield _normal(0.03, 0.0, rng)
            case "spikes":  # one trial in twenty takes 5 to 50 % longer, on either side
                yield _normal(0.01, 0.05, rng)
            case _:
                raise ValueError(kind)


def _student(sd: float, rng: np.random.Generator) -> Draw:
    """Student's t with 5 degrees of freedom; what both sides share varies by 5 %."""

    def draw() -> tuple[float, float]:
        return float(np.exp(0.05 * rng.standard_normal())), float(sd / np.sqrt(5 / 3) * rng.standard_t(5))

    return draw


def _normal(sd: float, spikes: float, rng: np.random.Generator) -> Draw:
    """Two independent trials with normal noise (standard deviation `sd`), each sometimes much longer."""

    def draw() -> tuple[float, float]:
        trials = np.exp(sd * rng.standard_normal(2)) * (
            1 + (rng.random(2) < spikes) * rng.uniform(0.05, 0.5, 2)
        )
        return float(trials[0]), float(np.log(trials[1] / trials[0]))

    return draw


def _block(base: Floats, log_ratios: Floats, rng: np.random.Generator) -> Draw:
    """Neighbours in time, to keep what correlation there is; the start order was random: so is the sign."""
    position = [int(rng.integers(len(base)))]

    def draw() -> tuple[float, float]:
        i = position[0] = (position[0] + 1) % len(base)
        swap = bool(rng.random() < 0.5)
        return float(base[i] * np.exp(log_ratios[i] * swap)), float(log_ratios[i] * (-1 if swap else 1))

    return draw


@dataclass(frozen=True)
class Case:
    """What is planted: sizes of options and pairs, code layout, seconds of run time.

    shift: code layout moves all configurations (some: half of them) by a size of this range, either way, and
    each by its own (standard deviation), as any rebuild does. uneven: range of the standard deviation of an
    effect between configurations, as a share of it.
    """

    name: str
    seconds: float
    configurations: int
    options: tuple[float, ...] = ()
    pairs: tuple[float, ...] = ()
    shift: tuple[float, float] = (0.0, 0.003)
    some: bool = False
    each: float = 0.0015
    uneven: tuple[float, float] = (0.2, 0.4)


@dataclass
class PullRequest:
    """One simulated pull request: its sample, the true log ratio of each configuration, and its noise."""

    world: World
    configurations: tuple[Configuration, ...]
    planted: dict[Term, float]
    truth: Floats
    draws: list[Draw] = field(repr=False)

    def pair(self, configuration: int) -> tuple[float, float]:
        """Measures one pair: base seconds, log(head / base)."""
        base, log_ratio = self.draws[configuration]()
        return base, float(self.truth[configuration] + log_ratio)


def pull_request(case: Case, kind: str, rng: np.random.Generator) -> PullRequest:
    """Draws a pull request of a case."""
    w = world(int(rng.integers(SPACES)))
    chosen = w.samples[int(rng.integers(SAMPLES))][: case.configurations]
    while (terms := planted(case.options, case.pairs, w.space, chosen, rng)) is None:
        pass
    n = len(chosen)
    truth = np.zeros(n)
    if case.shift[1] > 0 or case.each > 0:
        shift = rng.uniform(*case.shift) * rng.choice([-1, 1])
        moved = rng.random(n) < (0.5 if case.some else 1.0)
        truth += shift * moved + case.each * rng.standard_normal(n)
    uneven = rng.uniform(*case.uneven)
    for term, size in terms.items():
        cover = holds(w.space, term, chosen)
        truth += cover * np.log1p(size) * (1 + uneven * rng.standard_normal(n))
    sources = noise(kind, rng)
    return PullRequest(w, chosen, terms, truth, [next(sources) for _ in chosen])


def holds(space: Space, term: Term, configurations: Sequence[Configuration]) -> NDArray[np.bool_]:
    """Where a term holds, shape (n_configurations,)."""
    return np.array([all(space.holds(space.level_of[t], c) for t in term) for c in configurations])


def planted(
    options: Sequence[float],
    pairs: Sequence[float],
    space: Space,
    chosen: Sequence[Configuration],
    rng: np.random.Generator,
) -> dict[Term, float] | None:
    """Random terms for sizes of options and pairs that a sample exercises (3 on and off); None: try again."""
    terms: dict[Term, float] = {}
    used: set[str] = set()
    for size, wide in [(s, 1) for s in options] + [(s, 2) for s in pairs]:
        free = [o for o in space.options if o.name not in used]
        involved = [free[i] for i in rng.choice(len(free), wide, replace=False)]
        used |= {o.name for o in involved}
        levels = [_culprit(o, rng) for o in involved]
        term = tuple(sorted(levels))
        cover = holds(space, term, chosen).sum()
        least = min(int(holds(space, (level,), chosen).sum()) for level in levels)
        if not 3 <= cover <= len(chosen) - 3 or (wide == 2 and cover == least):
            return None
        terms[term] = size
    return terms


def _culprit(option: Option, rng: np.random.Generator) -> str:
    """A level to blame: a flag is on in four cases of five, a number is a value or a threshold."""
    if option.kind == "flag":
        return option.name if rng.random() < 0.8 else f"!{option.name}"
    return str(option.levels[int(rng.integers(len(option.levels)))])
