"""Calls of a method as tests of checking need them: two groups of paths, and a machine that wavers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bot.model.assertions import AssertedGroup, Assertion, CallObservation, Condition, Floats, NamedPath

READ: NamedPath = ("main", "read", "fetch")
WRITE: NamedPath = ("main", "write", "fetch")
EDGES = {"e1": ("read", "fetch")}
FAST, SLOW = 1e-3, 1e-2

TWO = Assertion(
    method="fetch",
    file="store.py",
    places=(0.65,),
    groups=(
        AssertedGroup(Condition("e1", EDGES), (0.99, 0.01), 4000),
        AssertedGroup(Condition("not e1", EDGES), (0.31, 0.69), 4000),
    ),
    mined="0123abc",
    trials=8,
)
"""Read is fast, write is slow in two calls of three; both as often."""


@dataclass(frozen=True)
class Calls:
    """How calls over a path are: share of fast ones, a factor on all of them, calls in a trial."""

    fast: float
    factor: float = 1.0
    calls: int = 300

    def draw(self, rng: np.random.Generator) -> Floats:
        seconds = np.where(rng.random(self.calls) < self.fast, FAST, SLOW)
        return np.asarray(seconds * np.exp(0.1 * rng.standard_normal(self.calls)) * self.factor)


USUAL: Mapping[NamedPath, Calls] = {READ: Calls(0.99), WRITE: Calls(0.31)}


def trials(
    paths: Mapping[NamedPath, Calls] = USUAL, *, n: int = 4, seed: int = 0, slow: float = 1.0
) -> list[CallObservation]:
    """Trials on a machine that is up to some percent slower or faster in each."""
    rng = np.random.default_rng(seed)
    found = []
    for at in range(n):
        speed = slow * np.exp(0.04 * rng.standard_normal())
        found.append(CallObservation(at, at + 1, {p: c.draw(rng) * speed for p, c in paths.items()}))
    return found
