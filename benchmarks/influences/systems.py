"""Generates programs with the traits of the recorded systems: what calls what, and what a call costs where.

Calls follow from a call graph whose edges are taken always, under an option, or as often as a number says;
seconds per call depend on options by factors, powers, steps where a cache is full, and interactions of three
options that no pair-wise design shows on purpose. Seconds are noisy, counts mostly exact, few calls are long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.influences.costs import CostTable, Floats, Quantity
from bot.model.space import Configuration, Option, Space, Value

Of = Callable[[dict[str, Floats]], Floats]
"""A quantity over configurations, from each option's values (choices by the place of the value)."""
REPETITIONS = 5
SECONDS = 5.0
FAILING = 0.005
"""Share of runs that fail."""


@dataclass(frozen=True)
class System:
    """A generated program. calls: exact; each: seconds of one call; both a function per method."""

    space: Space
    methods: tuple[str, ...]
    calls: tuple[Of, ...]
    each: tuple[Of, ...]
    uneven: Floats
    """Relative standard deviation of each method's seconds between runs, shape (n_methods,)."""
    inexact: Floats
    """The same of its calls (threads): mostly 0."""

    def truth(self, configurations: Sequence[Configuration]) -> tuple[Floats, Floats]:
        """Calls and seconds without noise, shape (n_configurations, n_methods) each."""
        values = _values(self.space, configurations)
        calls = np.stack([f(values) for f in self.calls], axis=1)
        each = np.stack([f(values) for f in self.each], axis=1)
        return calls, calls * each

    def measure(self, configurations: Sequence[Configuration], rng: np.random.Generator) -> CostTable:
        """Runs of each configuration with a coarse profiler."""
        calls, seconds = self.truth(configurations)
        shape = (*calls.shape, REPETITIONS)
        run = np.exp(rng.normal(0, 0.008, (len(calls), 1, REPETITIONS)))
        own = np.exp(rng.normal(0, 1, shape) * self.uneven[:, None])
        long = 1.0 + np.where(rng.random(shape) < 0.05, rng.pareto(1.5, shape) * self.uneven[:, None], 0.0)
        measured = seconds[:, :, None] * run * own * np.minimum(long, 3.0)
        counted = np.round(calls[:, :, None] * np.exp(rng.normal(0, 1, shape) * self.inexact[:, None]))
        gone = (calls == 0)[:, :, None] | (rng.random((len(calls), 1, REPETITIONS)) < FAILING)
        quantities: dict[Quantity, Floats] = {
            "calls": np.where(gone, np.nan, counted),
            "seconds": np.where(gone, np.nan, measured),
        }
        return CostTable(self.space, tuple(configurations), self.methods, quantities)


def _values(space: Space, configurations: Sequence[Configuration]) -> dict[str, Floats]:
    found = {}
    for i, option in enumerate(space.options):
        column = [c[i] for c in configurations]
        if option.kind == "choice":
            column = [option.values.index(v) for v in column]
        found[option.name] = np.array(column, dtype=np.float64)
    return found


def generate(rng: np.random.Generator, *, methods: int) -> System:
    """A program with 4 to 9 flags, up to two choices, one to three numbers, and its call graph."""
    space = _space(rng)
    typical = _values(space, [_drawn(space, rng) for _ in range(400)])
    calls: list[Of] = [lambda v: np.ones(len(next(iter(v.values()))))]
    for _ in range(methods - 1):
        callers = rng.choice(len(calls), 1 + int(rng.random() < 0.15 and len(calls) > 1), replace=False)
        calls.append(
            _sum([_times(calls[int(i)], _often(space, rng, calls[int(i)], typical)) for i in callers])
        )
    weights = rng.pareto(0.9, methods) + 0.01
    weights /= weights.sum()
    each = []
    for j in range(methods):
        shape = _shape(space, rng)
        mean = float((calls[j](typical) * shape(typical)).mean())
        each.append(_scaled(shape, SECONDS * float(weights[j]) / mean if mean > 0 else 1e-7))
    return System(
        space,
        tuple(f"pkg.C{j // 7}.m{j}" for j in range(methods)),
        tuple(_counted(f) for f in calls),
        tuple(each),
        uneven=rng.uniform(0.01, 0.05, methods) * np.where(rng.random(methods) < 0.1, 4.0, 1.0),
        inexact=np.where(rng.random(methods) < 0.1, rng.uniform(0.002, 0.03, methods), 0.0),
    )


def _space(rng: np.random.Generator) -> Space:
    options = [Option(f"flag{k}", "flag", (False, True), False) for k in range(int(rng.integers(4, 10)))]
    for k in range(int(rng.integers(0, 3))):
        names: tuple[Value, ...] = tuple(f"v{i}" for i in range(int(rng.integers(3, 6))))
        options.append(Option(f"choice{k}", "choice", names, names[0]))
    for k in range(int(rng.integers(1, 4))):
        count = int(rng.choice([9, 16, 33, 51]))
        start = int(rng.choice([1, 2, 5]))
        numbers: tuple[Value, ...] = tuple(start + i * start for i in range(count))
        options.append(Option(f"number{k}", "number", numbers, numbers[count // 4]))
    return Space(tuple(options))


def _drawn(space: Space, rng: np.random.Generator) -> Configuration:
    return tuple(o.values[int(rng.integers(len(o.values)))] for o in space.options)


def _often(space: Space, rng: np.random.Generator, caller: Of, typical: dict[str, Floats]) -> Of:
    """How often one call of the caller calls: a number, one that an option sets, or under an option only."""
    kind = rng.choice(
        ["constant", "flag", "choice", "linear", "square", "logarithm"], p=[0.37, 0.2, 0.13, 0.22, 0.03, 0.05]
    )
    option = _any(space, rng, {"flag": "flag", "choice": "choice"}.get(str(kind), "number"))
    if option is None or kind == "constant" or float(np.max(caller(typical))) > 1e7:
        times = float(rng.choice([1, 1, 2, 3, 5, 8, 20]))
        return lambda v: np.full(len(next(iter(v.values()))), times)
    name = option.name
    if kind == "flag":
        on, off = (1.0, 0.0) if rng.random() < 0.7 else (float(rng.integers(2, 6)), 1.0)
        if rng.random() < 0.25:
            on, off = off, on
        return lambda v: np.where(v[name] > 0, on, off)
    if kind == "choice":
        table = np.where(rng.random(len(option.values)) < 0.5, 0.0, rng.integers(1, 6, len(option.values)))
        table[int(rng.integers(len(table)))] = 1.0
        return lambda v: np.asarray(table[v[name].astype(int)], dtype=np.float64)
    if kind == "linear":
        offset = float(rng.choice([0, 0, 1, 10]))
        return lambda v: v[name] + offset
    if kind == "square":
        return lambda v: v[name] ** 2
    return lambda v: np.ceil(np.log2(v[name] + 1))


def _any(space: Space, rng: np.random.Generator, kind: str) -> Option | None:
    found = [o for o in space.options if o.kind == kind]
    return found[int(rng.integers(len(found)))] if found else None


def _shape(space: Space, rng: np.random.Generator) -> Of:
    """Relative seconds of one call."""
    count = int(rng.choice([0, 1, 2, 3], p=[0.15, 0.25, 0.3, 0.3]))
    parts = [_effect(space, rng) for _ in range(count)]
    if rng.random() < 0.4:
        parts.append(_hidden(space, rng))
    return lambda v: np.prod([p(v) for p in parts], axis=0) if parts else np.ones(len(next(iter(v.values()))))


def _effect(space: Space, rng: np.random.Generator) -> Of:
    option = space.options[int(rng.integers(len(space.options)))]
    name = option.name
    if option.kind == "flag":
        factor = float(np.exp(rng.normal(0, 0.8)))
        return lambda v: np.where(v[name] > 0, factor, 1.0)
    if option.kind == "choice":
        factors = np.exp(rng.normal(0, 0.9, len(option.values)))
        return lambda v: np.asarray(factors[v[name].astype(int)])
    numbers = np.array([float(x) for x in option.values])
    if rng.random() < 0.5:
        power = float(rng.uniform(-0.6, 2.0))
        return lambda v: (v[name] / numbers.mean()) ** power
    # A cache or a buffer that is full from somewhere on.
    border, height = float(rng.choice(numbers[1:-1])), float(rng.uniform(0.5, 5.0))
    steep = float(rng.uniform(2, 12))
    return lambda v: 1.0 + height / (1.0 + (border / v[name]) ** steep)


def _hidden(space: Space, rng: np.random.Generator) -> Of:
    """Slower where up to three options come together."""
    chosen = rng.choice(len(space.options), min(3, len(space.options)), replace=False)
    options = [space.options[int(i)] for i in chosen]
    factor = float(np.exp(rng.uniform(0.5, 1.8)))
    borders = {
        o.name: float(np.median([float(x) for x in o.values])) if o.kind == "number" else 0.5 for o in options
    }
    return lambda v: np.where(np.all([v[n] > b for n, b in borders.items()], axis=0), factor, 1.0)


def _times(a: Of, b: Of) -> Of:
    return lambda v: a(v) * b(v)


def _sum(parts: Sequence[Of]) -> Of:
    return lambda v: np.sum([p(v) for p in parts], axis=0)


def _scaled(shape: Of, factor: float) -> Of:
    return lambda v: shape(v) * factor


def _counted(calls: Of) -> Of:
    return lambda v: np.floor(calls(v))
