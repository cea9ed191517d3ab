"""Hardware with known speeds, and programs whose time is known to go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bot.analysis.machines.hardware import Floats

GROUPS = ("compute", "memory", "kernel", "disk")
MEMBERS = 3
STRESSORS = tuple(f"{group}-{number}" for group in GROUPS for number in range(MEMBERS))


@dataclass(frozen=True)
class World:
    """Types of hardware; rates, (n, 12): stressors of a group go together, and differ by a few percent."""

    rates: Floats
    rng: np.random.Generator

    def seconds(self, shares: Mapping[str, float], *, noise: float = 0.01) -> Floats:
        """Of a program that spends these shares of its time (on a middling machine) as these stressors."""
        work = 1 / self.rates
        relative = work / np.exp(np.log(work).mean(axis=0))
        exact = 3.0 * sum(
            (relative[:, STRESSORS.index(name)] * share for name, share in shares.items()),
            np.zeros(len(work)),
        )
        return np.asarray(exact * np.exp(self.rng.normal(0, noise, len(exact))))


def world(types: int = 12, *, seed: int = 0, own: float = 0.12) -> World:
    rng = np.random.default_rng(seed)
    speed = rng.normal(0, 0.4, (types, len(GROUPS)))
    logs = np.repeat(speed, MEMBERS, axis=1) + rng.normal(0, own, (types, len(STRESSORS)))
    return World(np.exp(logs + rng.normal(5, 2, len(STRESSORS))), rng)
