"""A program that keeps moving: commits every day, changes of known terms, and a machine that is replaced."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space, Term
from bot.sampling.constraints import ConstraintSolver

SAMPLED = 400
"""Configurations whose median says how large a change is."""
NIGHTS, BEFORE = 10, 30
"""Nights, and revisions before the first one's tip."""
COMMITS = (10, 20)
"""A day's commits."""
CHANGING, SMALLEST, LARGEST = 0.5, 0.05, 0.20
"""Share of days with a change, and its size."""
PAIR, ABSENT, FASTER = 0.4, 0.2, 1 / 3
"""Share of changes of two levels, of levels that say an option is off, and of improvements."""
KINDS = ("usual", "heavy tails", "record", "restless", "young", "large", "broken")
"""Heavy tails: one trial in a hundred takes 20 to 100 % too long. Record: each trial repeats its value, as in
a table, and no machine measures it. Restless: each commit moves everything and each option a little. Young:
some options came before the first night, after its anchor; until then nothing works with them. Large: changes
are so. Broken: with some options nothing ever works."""
FAILING, MANIFOLD = 0.3, (1.0, 4.0)
"""Share of options that are young or broken, and what is added by large changes."""
NEVER = 1 << 30
RESTLESS = 5e-4
"""By how much, as a share of the cheapest configuration."""
HEAVY, TOO_LONG = 0.01, (0.2, 1.0)
MACHINE, UNEVEN = (0.10, 0.30), 0.03
"""By how much another machine is faster or slower, and how unevenly over the program's parts."""


@dataclass(frozen=True)
class Change:
    """Seconds that a term gains at a commit of a night's day; share: of the median level where it holds."""

    night: int
    at: int
    term: Term
    seconds: float
    share: float


@dataclass
class World:
    """Draws everything from `rng`; noise: relative standard deviation of a trial; 0: counts.

    tips: newest revision of each night; night 0 saw what was there before. moved: the night from which on
    another machine measures.
    """

    options: int
    noise: float
    rng: np.random.Generator
    nights: int = NIGHTS
    kind: str = KINDS[0]
    moved: int = field(init=False)
    tips: list[int] = field(init=False)
    changes: list[Change] = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng
        self.names = [f"o{i:02d}" for i in range(self.options)]
        self.space = Space(tuple(Option(n, "flag", (False, True), False) for n in self.names))
        self.solver = ConstraintSolver(self.space)
        self.tips = [BEFORE - 1]
        for _ in range(self.nights):
            self.tips.append(self.tips[-1] + int(rng.integers(COMMITS[0], COMMITS[1] + 1)))
        pairs = [self._term(2) for _ in range(self.options // 4)]
        self._influences: list[tuple[Term, float]] = [((), float(rng.uniform(2.0, 5.0)))]
        self._influences += [((n,), float(rng.lognormal(-2.0, 1.0))) for n in self.names]
        self._influences += [(pair, float(rng.lognormal(-2.0, 1.0))) for pair in pairs]
        self._sample = rng.random((SAMPLED, self.options)) < 0.5
        self.moved = int(rng.integers(3, self.nights))
        speed = 1.0 + float(rng.choice([-1.0, 1.0])) * float(rng.uniform(*MACHINE))
        self._machine = speed * (1.0 + rng.normal(0.0, UNEVEN, len(self._influences)))
        self._wandered = np.zeros((self.tips[-1] + 1, self.options + 1))
        if self.kind == "restless":
            own = rng.normal(0.0, RESTLESS * self._influences[0][1], self._wandered.shape)
            self._wandered = own.cumsum(axis=0)
        self._born = np.zeros(self.options, dtype=np.intp)
        if self.kind in ("young", "broken"):
            failing = rng.random(self.options) < FAILING
            born = rng.integers(1, BEFORE, self.options) if self.kind == "young" else NEVER
            self._born = np.where(failing, born, 0)
        self._record: dict[Probe, float] = {}
        if not self.noise or self.kind == "record":  # counts are the same on every machine
            self._machine[:] = 1.0
        self.changes = []
        self._draw_changes()
        self._noise = np.random.default_rng(rng.integers(2**32))

    def observe(self, probe: Probe, night: int) -> Observation:
        """One trial of a night."""
        rows = np.array([probe.configuration], dtype=bool)
        if (rows[0] & (self._born > probe.revision)).any():
            return Observation(probe, math.nan)
        clean = float(self._seconds(rows, probe.revision, moved=night >= self.moved)[0])
        value = clean * max(1.0 + self.noise * float(self._noise.normal()), 0.2)
        if self.kind == "heavy tails" and self._noise.random() < HEAVY:
            value *= 1.0 + float(self._noise.uniform(*TOO_LONG))
        return Observation(probe, self._record.setdefault(probe, value) if self.kind == "record" else value)

    def _seconds(self, rows: NDArray[np.bool_], revision: int, *, moved: bool = False) -> NDArray[np.float64]:
        own = self._wandered[revision]
        total: NDArray[np.float64] = own[0] + rows.astype(np.float64) @ own[1:]
        for i, (term, seconds) in enumerate(self._influences):
            total += self._holds(term, rows) * seconds * (self._machine[i] if moved else 1.0)
        for change in self.changes:
            if revision >= change.at:
                total += (
                    self._holds(change.term, rows) * change.seconds * (self._machine[0] if moved else 1.0)
                )
        return total

    def _holds(self, term: Term, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        held = np.ones(len(rows), dtype=bool)
        for level in term:
            held &= rows[:, self.space.index[level.removeprefix("!")]] != level.startswith("!")
        return held

    def _draw_changes(self) -> None:
        """Each night but the last, of which no second night would be seen."""
        for night in range(1, self.nights):
            if self.rng.random() > CHANGING:
                continue
            at = int(self.rng.integers(self.tips[night - 1] + 1, self.tips[night] + 1))
            term = self._term(1 + int(self.rng.random() < PAIR))
            large = self.kind == "large"
            share = float(self.rng.uniform(*(MANIFOLD if large else (SMALLEST, LARGEST))))
            if self.rng.random() < FASTER:
                share *= -1.0 / (1.0 + share) if large else -1.0
            levels = self._seconds(self._sample[self._holds(term, self._sample)], at)
            seconds = share * float(np.median(levels))
            there = all(self._born[self.names.index(x.removeprefix("!"))] < at for x in term)
            if there and (levels + seconds).min() > 0.5:
                self.changes.append(Change(night, at, term, seconds, share))

    def _term(self, degree: int) -> Term:
        picked = self.rng.choice(self.options, size=degree, replace=False)
        off = self.rng.random(degree) < ABSENT
        return tuple(sorted("!" * bool(n) + self.names[int(i)] for i, n in zip(picked, off, strict=True)))
