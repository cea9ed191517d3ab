"""Durations of calls drawn from known densities, and where these have their minima."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from bot.model.assertions import Floats

UNIMODAL = ("exponential", "log-normal", "gamma", "pareto")
FAMILIES = ("mixture", "exponentials", "heavy tails")
DEEPEST = {1_000: (0.1, 0.10), 10_000: (0.3, 0.05), 100_000: (0.5, 0.05), 1_000_000: (0.5, 0.05)}
"""Calls -> how deep valleys are (share of the smaller peak) and how large clusters are, at least: fewer calls
cannot show shallower ones, whoever looks."""
GRID = 4000


@dataclass(frozen=True)
class Case:
    """A density: its parts and weights. tick: of the clock, seconds; 0: exact.

    minima: values of the distribution function, an interval for each border: the minimum over time and over
    log time differ a little, and so do both sides of a tick.
    """

    family: str
    parts: tuple[Any, ...]
    weights: tuple[float, ...]
    tick: float
    minima: tuple[tuple[float, float], ...]

    def drawn(self, calls: int, rng: np.random.Generator) -> Floats:
        """So many durations, (calls,), seconds."""
        sizes = rng.multinomial(calls, self.weights)
        exact = np.concatenate([p.rvs(n, random_state=rng) for p, n in zip(self.parts, sizes, strict=True)])
        rng.shuffle(exact)
        return np.maximum(np.floor(exact / self.tick) * self.tick if self.tick else exact, 0.0)

    def below(self, places: Floats) -> Floats:
        """Its distribution function: share of calls that are faster than a border, (n,)."""
        at = np.ceil(places / self.tick - 1e-6) * self.tick if self.tick else places
        parts = [w * p.cdf(at) for w, p in zip(self.weights, self.parts, strict=True)]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


def unimodal(rng: np.random.Generator, *, ticks: bool) -> Case:
    """One cluster of calls: nothing to find."""
    family = str(rng.choice(UNIMODAL))
    scale = 10 ** rng.uniform(-6, -1)
    part = {
        "exponential": lambda: stats.expon(scale=scale),
        "log-normal": lambda: stats.lognorm(rng.uniform(0.1, 1.5), scale=scale),
        "gamma": lambda: stats.gamma(rng.uniform(0.7, 20), scale=scale),
        "pareto": lambda: stats.pareto(rng.uniform(1.2, 4), scale=scale),
    }[family]()
    return Case(family, (part,), (1.0,), part.ppf(0.5) / rng.uniform(2, 40) if ticks else 0.0, ())


def clusters(rng: np.random.Generator, *, calls: int, family: str, ticks: bool) -> Case:
    """Two to four clusters that so many calls can tell apart."""
    depth, least = DEEPEST[calls]
    while True:
        count = int(rng.integers(2, 5))
        weights = least + (1 - count * least) * rng.dirichlet(np.ones(count))
        scale, parts = 10 ** rng.uniform(-6, -2), []
        for i in range(count):
            parts.append(_part(family, scale, i, rng))
            scale *= rng.uniform(1.3, 12)
        fastest = parts[0].ppf(0.5)
        tick = fastest / rng.uniform(3, 40) if ticks else 0.0
        found = Case(family, tuple(parts), tuple(weights.tolist()), tick, ())
        minima = _minima(found, depth=depth, least=least)
        if len(minima) == count - 1:
            return Case(family, found.parts, found.weights, tick, minima)


def _part(family: str, scale: float, number: int, rng: np.random.Generator) -> Any:
    if family == "exponentials":
        return stats.expon(loc=scale * (number > 0), scale=scale * rng.uniform(0.05, 0.6))
    if family == "heavy tails":
        if rng.random() < 0.5:
            return stats.pareto(rng.uniform(1.5, 5), scale=scale)
        return stats.lognorm(rng.uniform(0.3, 1.0), scale=scale)
    kind = rng.integers(3)
    if kind == 0:
        return stats.norm(loc=scale, scale=scale * rng.uniform(0.01, 0.15))
    if kind == 1:
        return stats.lognorm(rng.uniform(0.02, 0.4), scale=scale)
    shape = rng.uniform(4, 100)
    return stats.gamma(shape, scale=scale / shape)


def _minima(case: Case, *, depth: float, least: float) -> tuple[tuple[float, float], ...]:
    """Minima of the density over log time; none at all when one is shallow, or over time there are others."""
    ends = [(p.ppf(1e-4), p.ppf(1 - 1e-4)) for p in case.parts]
    if case.tick:
        low, high = max(min(e[0] for e in ends) // case.tick, 0), max(e[1] for e in ends) // case.tick
        edges = np.unique(np.round(np.geomspace(1, high - low + 2, GRID)) - 1 + low) * case.tick
    else:
        edges = np.geomspace(max(min(e[0] for e in ends), 1e-9), max(e[1] for e in ends), GRID)
    cdf = case.below(edges)
    mass = np.diff(cdf)
    logs = np.log(edges + (case.tick or 0.0))
    over_time = _valleys(mass / np.diff(edges))
    over_logs = _valleys(mass / np.diff(logs))
    if len(over_time) != len(over_logs) or any(v[1] > depth for v in (*over_time, *over_logs)):
        return ()
    found = tuple(
        (float(cdf[min(a[0], b[0])]), float(cdf[max(a[0], b[0]) + 1]))
        for a, b in zip(over_time, over_logs, strict=True)
    )
    sizes = [after[0] - before[1] for before, after in pairwise([(0.0, 0.0), *found, (1.0, 1.0)])]
    narrow = all(high - low < 0.04 for low, high in found)
    return found if narrow and all(size >= 0.8 * least for size in sizes) else ()


def _valleys(density: Floats) -> Sequence[tuple[int, float]]:
    """Places of local minima and their height against the smaller peak; ripples of rounding are none."""
    found: list[tuple[int, float]] = []
    peak, low, at = float(density[0]), None, 0
    lefts: list[float] = []
    for i, value in enumerate(density.tolist()):
        if low is None:
            if value >= peak:
                peak = value
            elif value < peak * 0.999:
                low, at = value, i
        elif value <= low:
            low, at = value, i
        elif value > low * 1.001 + 1e-9 * peak:
            found.append((at, low))
            lefts.append(peak)
            peak, low = value, None
    tops = [*lefts, peak]
    return [(i, v / max(min(tops[k], tops[k + 1]), 1e-300)) for k, (i, v) in enumerate(found)]
