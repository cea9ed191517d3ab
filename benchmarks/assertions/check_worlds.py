"""Methods with known groups of call paths, and trials of them on a machine that is never quiet."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from bot.model.assertions import (
    AssertedGroup,
    Assertion,
    CallObservation,
    Condition,
    Floats,
    NamedPath,
    shares,
)

METHOD = "lib.store.fetch"


@dataclass(frozen=True)
class Behaviour:
    """How calls over a path behave: shares of modes (fastest first), seconds and logarithmic spread of each.

    factor: on every call; delay: seconds, added to a share of them.
    """

    shares: tuple[float, ...]
    seconds: tuple[float, ...]
    spread: tuple[float, ...]
    factor: float = 1.0
    delayed: float = 0.0
    delay: float = 0.0

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Durations, (n,); modes come in runs, as calls of one trial do."""
        mode = rng.choice(len(self.shares), size=n, p=np.array(self.shares))
        again = rng.random(n) < 0.3
        again[0] = False
        mode = mode[np.maximum.accumulate(np.where(again, 0, np.arange(n)))]
        z = np.where(rng.random(n) < 0.9, rng.standard_normal(n), 2.5 * np.abs(rng.standard_normal(n)))
        drawn = np.array(self.seconds)[mode] * np.exp(np.array(self.spread)[mode] * z) * self.factor
        return np.asarray(drawn + self.delay * (rng.random(n) < self.delayed))


@dataclass(frozen=True)
class World:
    """A method: paths with their groups, frequencies and behaviours; calls in a trial; the clock's tick."""

    paths: tuple[NamedPath, ...]
    group: tuple[int, ...]
    weights: Floats
    behaviours: tuple[Behaviour, ...]
    conditions: tuple[Condition, ...]
    calls: int
    tick: float

    def trial(
        self, slow: float, start: float, rng: np.random.Generator, *, burst: float = 0.0
    ) -> CallObservation:
        """One trial; the mix of paths varies a little. burst: share that is three times slower."""
        mix = rng.dirichlet(self.weights * 2000.0)
        counts = rng.multinomial(self.calls, mix)
        durations = {}
        for path, behaviour, n in zip(self.paths, self.behaviours, counts, strict=True):
            if n:
                # Paths wander a little by themselves too: caches, allocation, inputs.
                wander = np.exp(0.015 * rng.standard_t(4))
                drawn = behaviour.draw(n, rng) * slow * wander
                drawn *= np.where(np.arange(n) < burst * n, 3.0, 1.0)
                drawn *= np.where(rng.random(n) < 0.002, rng.pareto(1.5, n) + 1.0, 1.0)
                durations[path] = np.round(drawn / self.tick) * self.tick if self.tick else drawn
        return CallObservation(start, start + 1.0, durations)


def draw(rng: np.random.Generator) -> World:
    """A method with 1 to 4 groups, each of 1 to 6 paths, of 1 to 3 common modes."""
    n_groups = int(rng.choice([1, 2, 3, 4], p=[0.2, 0.4, 0.25, 0.15]))
    n_modes = int(rng.integers(1 if n_groups == 1 else 2, 4))
    scale = 10.0 ** rng.uniform(-6, -2)
    seconds = tuple((scale * np.cumprod([1.0, *rng.uniform(3.0, 12.0, n_modes - 1)])).tolist())
    spread = tuple(rng.uniform(0.05, 0.35, n_modes).tolist())
    vectors = rng.dirichlet(np.full(n_modes, 0.4), size=n_groups)
    while any(np.abs(np.cumsum(a - b)).max() < 0.25 for a, b in combinations(vectors, 2)):
        vectors = rng.dirichlet(np.full(n_modes, 0.4), size=n_groups)
    paths, group, behaviours = [], [], []
    for g, vector in enumerate(vectors):
        for p in range(int(rng.integers(1, 7))):
            near = np.abs(vector + rng.normal(0.0, 0.01, n_modes)) if n_modes > 1 else vector
            paths.append(("main", f"serve{p}", f"handle{g}", METHOD))
            group.append(g)
            behaviours.append(Behaviour(tuple((near / near.sum()).tolist()), seconds, spread))
    share = rng.dirichlet(np.full(n_groups, 3.0)) * 0.8 + 0.2 / n_groups
    weights = np.zeros(len(paths))
    for g in range(n_groups):
        own = [i for i, k in enumerate(group) if k == g]
        weights[own] = share[g] * rng.dirichlet(np.full(len(own), 2.0))
    tick = scale * rng.choice([0.0, 0.02, 0.2])
    calls = int(10.0 ** rng.uniform(np.log10(200), np.log10(5000)))
    return World(tuple(paths), tuple(group), weights, tuple(behaviours), conditions(n_groups), calls, tick)


def conditions(n_groups: int) -> tuple[Condition, ...]:
    """One edge tells each group, and the last is what is left."""
    if n_groups == 1:
        return (Condition("always", {}),)
    edges = {f"e{g + 1}": (f"handle{g}", METHOD) for g in range(n_groups - 1)}
    rest = " and ".join(f"not {name}" for name in edges)
    return (*(Condition(name, edges) for name in edges), Condition(rest, edges))


def mined(world: World, rng: np.random.Generator) -> Assertion:
    """What ten nights on another machine say of it."""
    speed = np.exp(rng.normal(0.0, 0.4))
    trials = [world.trial(speed * float(np.exp(rng.normal(0, 0.03))), float(i), rng) for i in range(10)]
    every = np.sort(np.concatenate([t.every for t in trials]))
    seconds, spread = np.array(world.behaviours[0].seconds), np.array(world.behaviours[0].spread)
    low, high = np.log(seconds[:-1]) + 2.0 * spread[:-1], np.log(seconds[1:]) - 2.0 * spread[1:]
    borders = np.exp((low + high) / 2.0) * speed
    places = np.searchsorted(every, borders) / len(every)
    keep = (np.diff(places, append=1.0) >= 0.02) & (places >= 0.02)
    borders, places = borders[keep], places[keep]
    groups = []
    for g, condition in enumerate(world.conditions):
        own = [
            d for t in trials for path, d in t.durations.items() if world.group[world.paths.index(path)] == g
        ]
        joined = np.concatenate(own)
        groups.append(AssertedGroup(condition, shares(joined, borders.tolist()), len(joined)))
    return Assertion(METHOD, "lib/store.py", tuple(places.tolist()), tuple(groups), "0123abc", 10)


@dataclass(frozen=True)
class Machine:
    """How slow each of the trials finds it: noise with heavy tails, disturbed trials, drift."""

    noise: float
    disturbed: float
    drift: float
    bursts: float

    def slowness(self, n: int, rng: np.random.Generator) -> Floats:
        """Factors, (n,)."""
        noise = self.noise * rng.standard_t(4, n) / np.sqrt(2.0)
        disturbed = np.where(rng.random(n) < self.disturbed, np.log(1.5), 0.0)
        return np.asarray(np.exp(noise + disturbed + self.drift * np.linspace(-0.5, 0.5, n)))


def machine(rng: np.random.Generator) -> Machine:
    """Noise of 2 to 10 %, drift of up to 20 %, every tenth trial disturbed, every fifth in part, at most."""
    return Machine(
        rng.uniform(0.02, 0.10), rng.uniform(0.0, 0.10), rng.uniform(-0.2, 0.2), rng.uniform(0.0, 0.2)
    )


def measured(
    base: World, head: World, on: Machine, trials: int, rng: np.random.Generator
) -> tuple[list[CallObservation], list[CallObservation]]:
    """Trials of both sides in turn, the first of each pair by chance."""
    slow = on.slowness(2 * trials, rng)
    sides: tuple[list[CallObservation], list[CallObservation]] = ([], [])
    for pair in range(trials):
        first = int(rng.integers(2))
        for k, side in enumerate((first, 1 - first)):
            at = 2 * pair + k
            burst = rng.uniform(0.02, 0.2) * (rng.random() < on.bursts)
            world = (base, head)[side]
            sides[side].append(world.trial(float(slow[at]), float(at), rng, burst=float(burst)))
    return sides


def planted(world: World, where: Collection[int], change: Callable[[Behaviour], Behaviour]) -> World:
    """The world with some paths changed."""
    changed = [change(b) if i in where else b for i, b in enumerate(world.behaviours)]
    return replace(world, behaviours=tuple(changed))
