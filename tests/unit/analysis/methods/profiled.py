"""Programs whose methods have known costs, and profiles of them as four kinds of tools would see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from bot.analysis.methods.blame import Compared
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Tool

Kind = Literal["native", "instructions", "python", "sampled"]
KINDS: tuple[Kind, ...] = ("native", "instructions", "python", "sampled")
TOOL = Tool("a tool", "1", "coarse", frozenset({"calls", "seconds", "instructions", "edges"}))
OVERHEAD = 4e-7
"""Seconds that a tool which times calls adds to each."""


@dataclass(frozen=True)
class Program:
    """Seconds and calls of methods, and calls between them."""

    seconds: Mapping[str, float]
    calls: Mapping[str, int] = field(default_factory=dict)
    edges: Mapping[tuple[str, str], int] = field(default_factory=dict)
    instructions: Mapping[str, int] | None = None

    def changed(self, name: str, *, seconds: float, calls: int = 0) -> Program:
        """With more of both in one method."""
        return replace(
            self,
            seconds={**self.seconds, name: self.seconds.get(name, 0.0) + seconds},
            calls={**self.calls, name: self.calls.get(name, 0) + calls},
        )

    @property
    def total(self) -> float:
        """Seconds of a trial."""
        return sum(self.seconds.values())

    def profile(self, kind: Kind, rng: np.random.Generator, samples: int = 1000) -> Profile:
        """One profiled trial: the machine is a bit slower or faster, each method's time varies by 1 %."""
        true = np.array([*self.seconds.values()]) * np.exp(0.01 * rng.standard_normal(len(self.seconds)))
        seen = rng.multinomial(samples, true / true.sum())
        drift = float(np.exp(0.1 * rng.standard_normal()))
        costs = {}
        counts = self.instructions or {name: round(3e9 * s) for name, s in self.seconds.items()}
        for name, seconds, hits in zip(self.seconds, true, seen, strict=True):
            calls = self.calls.get(name, 1)
            share = hits / samples
            if kind == "instructions":
                cost = MethodCost(counts[name] / sum(counts.values()), calls=calls, instructions=counts[name])
            elif kind == "native":
                cost = MethodCost(share, self_seconds=share * drift, calls=calls, instructions=counts[name])
            elif kind == "python":
                cost = MethodCost(share, self_seconds=(seconds + OVERHEAD * calls) * drift, calls=calls)
            else:
                cost = MethodCost(share, self_seconds=share * drift, calls=calls)
            costs[Method(name, "a.c", 1)] = cost
        edges = {
            (Method(caller, "a.c"), Method(callee, "a.c")): EdgeCost(
                calls if kind != "sampled" else None, calls
            )
            for (caller, callee), calls in self.edges.items()
        }
        few = None if kind == "instructions" else samples
        return Profile(TOOL, "ok", self.total * drift, costs, edges, samples=few)


def program(rng: np.random.Generator, methods: int = 40) -> Program:
    """A chain of callers, a few of which take most of the time."""
    names = [f"f{i}" for i in range(methods)]
    weights = rng.pareto(1.0, methods) + 0.01
    seconds = weights / weights.sum()
    calls = {name: int(10 ** rng.uniform(1, 5)) for name in names}
    edges = {(names[i], names[i + 1]): calls[names[i + 1]] for i in range(methods - 1)}
    return Program(dict(zip(names, seconds.tolist(), strict=True)), calls, edges)


def compared(
    base: Program,
    head: Program,
    kind: Kind,
    rng: np.random.Generator,
    *,
    base_trials: int = 2,
    head_trials: int = 1,
) -> Compared:
    """Profiles of both, and a measured change that is right to half a percent."""
    ratio = head.total / base.total * float(np.exp(0.003 * rng.standard_normal()))
    return Compared(
        [base.profile(kind, rng) for _ in range(base_trials)],
        [head.profile(kind, rng) for _ in range(head_trials)],
        (base.total, base.total * ratio),
        (ratio * 0.995, ratio * 1.005),
    )
