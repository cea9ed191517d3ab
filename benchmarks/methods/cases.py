"""What a runtime offers to the benchmark of blamed methods, and how a case is drawn from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from bot.flows.ports import Profiler
from bot.model.profiles import Method, Profile, Target

EFFECTS = (0.05, 0.30)
SHARES = (0.003, 0.4)
"""Of a program's time, that methods have to which slow-downs are planted."""
GATED = 0.3
"""Share of cases whose slow-down needs one option."""
DECOYS = 6
"""Other methods whose text changes too, without effect: changed text alone must not give a method away."""


@dataclass(frozen=True)
class Program:
    """A program in a folder of its own: its command, run there; option: words that turn one option on.

    A planted slow-down that needs the option looks for its first word among the program's arguments.
    """

    name: str
    words: tuple[str, ...]
    option: tuple[str, ...]


@dataclass(frozen=True)
class Slowdown:
    """Additional work of a method: every so many calls (`every`) an amount of a kind; only with an option."""

    kind: str
    amount: int
    every: int
    only: str = ""


class Runtime(Protocol):
    """Programs of one runtime and how slow-downs are planted into them."""

    name: str
    programs: Sequence[Program]
    kinds: Sequence[str]
    prepared: frozenset[str]
    """Kinds whose work is there at base too, with an amount of 1: head does more of the same."""
    profiler: Profiler
    effects: tuple[float, float]

    def install(self, folder: Path) -> None:
        """Sources and inputs of all programs, each in a folder of its name; called once, uses the network."""
        ...

    def build(self, root: Path, program: Program) -> None:
        """Makes a copy of the program runnable; called again after each change."""
        ...

    def plant(self, root: Path, method: Method, work: Slowdown) -> frozenset[str]:
        """Adds work to a method; names of methods that are as guilty as itself (new ones made for it).

        Raises:
            ValueError: it cannot be changed.
        """
        ...

    def decoy(self, root: Path, method: Method) -> None:
        """Changes a method's text without effect.

        Raises:
            ValueError: it cannot be changed.
        """
        ...


@dataclass(frozen=True)
class Case:
    """What is drawn from a seed, before the program is known: effect as a share of the program's time."""

    seed: int
    program: Program
    kind: str
    effect: float
    gated: bool

    @property
    def words(self) -> tuple[str, ...]:
        """The command that is profiled: the flagged configuration."""
        return self.program.words + (self.program.option if self.gated else ())

    def target(self, root: Path, scratch: Path, env: dict[str, str]) -> Target:
        """A trial of it."""
        return Target(self.words, env, root, root, scratch, timeout=60.0, one_core=True)


def draw(runtime: Runtime, seed: int) -> tuple[Case, np.random.Generator]:
    """A case and the generator that goes on drawing (methods, decoys). Programs and kinds take turns."""
    rng = np.random.default_rng(seed)
    program = runtime.programs[seed % len(runtime.programs)]
    kind = runtime.kinds[seed // len(runtime.programs) % len(runtime.kinds)]
    low, high = runtime.effects
    return Case(seed, program, kind, float(rng.uniform(low, high)), bool(rng.random() < GATED)), rng


def candidates(profile: Profile, rng: np.random.Generator) -> list[Method]:
    """Methods of the checkout that cost enough and not too much, in random order."""
    low, high = SHARES
    able = [
        method
        for method, cost in profile.methods.items()
        if method.file is not None and method.line is not None and low <= cost.self_share <= high
    ]
    return [able[i] for i in rng.permutation(len(able))]
