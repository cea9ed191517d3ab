"""Hard systems with known change points: constraints, groups, broken builds, carried values, odd noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bot.model.change_points import Observation, Probe, Shape
from bot.model.space import Configuration, Option, Space, Term, Value
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import UniformDraw

SAMPLED = 300  # valid configurations that tell levels and how large a step is
SMALLEST, LARGEST = 0.03, 0.8  # of a step, as a share of the median level of what holds its term
NOISE = (0.01, 0.05)  # scale of a configuration's noise
TAIL = 3.0  # degrees of freedom
OUTLIER, OUTLIER_RATIO = 0.01, (1.2, 3.0)  # share of trials that something else slowed down, and by how much
STRETCH = 6.0  # mean commits of an unbuildable stretch
EPISODE = (0.03, 0.15)  # of the history
LEAST = 0.15  # of its level without any step: no configuration gets faster than that


@dataclass(frozen=True)
class Truth:
    """A realised step: the canonical term, and its median relative size where the term holds."""

    revision: int
    term: Term
    size: float
    shape: Shape = "step"
    seconds: float = math.nan


@dataclass(frozen=True)
class HardCell:
    """A kind of hard system.

    table: configurations that can be measured at all (0: every valid one), one frozen value per revision,
    values of revisions that do not build carried forward from the last one that did.
    """

    commits: int
    options: int
    steps: int
    table: int = 0

    @property
    def name(self) -> str:
        """All of it."""
        table = f", table of {self.table}" if self.table else ""
        return f"hard {self.commits}x{self.options}, {self.steps}{table}"


@dataclass
class _Move:
    term: Term
    at: int
    seconds: float
    shape: Shape = "step"


@dataclass
class HardSystem:
    """Seconds = (base + influences of all terms that hold + steps so far) x drift x noise of heavy tails.

    Noise is of a scale of its own for each configuration. Some revisions do not build; at some, one option's
    configurations fail. Steps at a revision that does not build are realised at the next one that does.
    """

    cell: HardCell
    rng: np.random.Generator
    space: Space = field(init=False)
    truth: list[Truth] = field(init=False)

    def __post_init__(self) -> None:
        self.space = _space(self.cell.options, self.rng)
        self._solver = ConstraintSolver(self.space)
        draw = UniformDraw(self.space, self._solver)
        self._sample = [draw(self.rng) for _ in range(SAMPLED)]
        self.candidates = (
            list(dict.fromkeys(draw(self.rng) for _ in range(self.cell.table))) if self.cell.table else None
        )
        self._built = _built(self.cell.commits, self.rng)
        self._influences = self._draw_influences()
        self._drift = 1.0 + self.rng.normal(0.0, 0.015) * np.linspace(0.0, 1.0, self.cell.commits)
        self._moves: list[_Move] = []
        self._draw_moves()
        self.truth = self._realised()
        self._failing = self._draw_failing()
        self._noise = np.random.default_rng(self.rng.integers(2**32))
        self._of: dict[Configuration, tuple[NDArray[np.float64], float]] = {}
        self._frozen: dict[Probe, float] = {}

    def observe(self, probe: Probe) -> Observation:
        """One trial: NaN when it fails, not built where nothing can be built."""
        revision = probe.revision
        if not self._built[revision]:
            if not self.cell.table:
                return Observation(probe, math.nan, built=False)
            revision = int(np.flatnonzero(self._built[: revision + 1])[-1])
            probe = Probe(probe.configuration, revision)
        clean, scale = self._history(probe.configuration)
        failing = self._failing
        if failing and failing[0] <= revision < failing[1] and self._holds(failing[2], probe.configuration):
            return Observation(probe, math.nan)
        value = float(clean[revision]) * self._factor(scale)
        if self.cell.table:
            value = self._frozen.setdefault(probe, value)
        return Observation(probe, value)

    def _factor(self, scale: float) -> float:
        factor = 1.0 + scale * math.sqrt((TAIL - 2.0) / TAIL) * float(self._noise.standard_t(TAIL))
        if self._noise.random() < OUTLIER:
            factor *= float(self._noise.uniform(*OUTLIER_RATIO))
        return max(factor, 0.1)

    def _history(self, configuration: Configuration) -> tuple[NDArray[np.float64], float]:
        known = self._of.get(configuration)
        if known is None:
            scale = float(np.exp(self._noise.uniform(*np.log(NOISE))))
            known = self._of[configuration] = (self._clean(configuration) * self._drift, scale)
        return known

    def _clean(self, configuration: Configuration) -> NDArray[np.float64]:
        start = sum(s for term, s in self._influences.items() if self._holds(term, configuration))
        seconds = np.full(self.cell.commits, start)
        for move in self._moves:
            if self._holds(move.term, configuration):
                seconds[move.at :] += move.seconds
        return seconds

    def _holds(self, term: Term, configuration: Configuration) -> bool:
        return all(self.space.holds(self.space.level_of[text], configuration) for text in term)

    def _draw_influences(self) -> dict[Term, float]:
        """Heavy-tailed influences of values that are on or chosen, and of a few interactions."""
        present = [str(v) for v in self.space.levels if v.operator in ("on", "=", ">=")]
        found: dict[Term, float] = {(): float(self.rng.uniform(2.0, 5.0))}
        for text in present:
            found[(text,)] = float(self.rng.lognormal(-2.0, 1.0))
        for _ in range(len(present) // 4):
            found[self._draw_term(int(self.rng.geometric(0.7)) + 1)] = float(self.rng.lognormal(-2.0, 1.0))
        return found

    def _draw_term(self, degree: int) -> Term:
        """A possible term; a fifth of its levels say that an option is off."""
        weight = np.array([{"off": 0.2, "<": 0.5}.get(v.operator, 1.0) for v in self.space.levels])
        while True:
            picked = self.rng.choice(len(weight), size=degree, replace=False, p=weight / weight.sum())
            levels = [self.space.levels[int(i)] for i in picked]
            term = tuple(sorted(str(v) for v in levels))
            if len({v.option for v in levels}) == degree and self._solver.possible(term):
                return term

    def _draw_moves(self) -> None:
        """Steps of all shapes until as many are there as the cell wants."""
        last = self.cell.commits - 1
        while len(self._moves) < self.cell.steps:
            degree = int(self.rng.choice([0, 1, 2, 3], p=[0.08, 0.62, 0.22, 0.08]))
            at = self._buildable(int(self.rng.integers(1, last + 1)))
            term = self._draw_term(degree) if degree else ()
            move = self._sized(term, at)
            if move is None:
                continue
            moves, kind = [move], self.rng.random()
            length = int(self.rng.uniform(*EPISODE) * self.cell.commits)
            if kind < 0.12 and self._buildable(at + length) <= last:
                moves[0].shape = "transient"
                moves.append(_Move(term, self._buildable(at + length), -move.seconds, "transient"))
            elif kind < 0.25:
                moves.append(_Move(self._draw_term(1), at, -move.seconds))
            if all(0 < m.at <= last for m in moves):
                self._moves += moves
                if not self._positive():
                    del self._moves[-len(moves) :]

    def _sized(self, term: Term, at: int) -> _Move | None:
        """A step of a size drawn relative to the median level where its term holds."""
        holding = [c for c in self._sample if self._holds(term, c)]
        if at > self.cell.commits - 1 or not holding:
            return None
        share = float(np.exp(self.rng.uniform(math.log(SMALLEST), math.log(LARGEST))))
        if self.rng.random() < 0.4:
            share = -share / (1.0 + share)
        level = float(np.median([self._clean(c)[at - 1] for c in holding]))
        return _Move(term, at, share * level)

    def _positive(self) -> bool:
        start = {c: self._clean(c) for c in self._sample}
        return all(bool((s > LEAST * s[0]).all()) for s in start.values())

    def _realised(self) -> list[Truth]:
        """Steps of equal terms at one revision are one; what cancels to nothing is none."""
        merged: dict[tuple[int, Term], _Move] = {}
        for move in self._moves:
            key = (move.at, canonical(move.term, self.space, self._solver))
            shape = merged[key].shape if key in merged else move.shape
            total = move.seconds + (merged[key].seconds if key in merged else 0.0)
            merged[key] = _Move(key[1], move.at, total, shape)
        truth = []
        for (at, term), move in sorted(merged.items()):
            levels = [self._clean(c)[at - 1] for c in self._sample if self._holds(term, c)]
            size = move.seconds / float(np.median(levels)) if levels else 0.0
            if abs(move.seconds) > 1e-9:
                truth.append(Truth(at, term, size, move.shape, move.seconds))
        return truth

    def _buildable(self, at: int) -> int:
        """The first revision from here on that builds; the length of the history when none does."""
        later = np.flatnonzero(self._built[at:])
        return at + int(later[0]) if len(later) else self.cell.commits

    def _draw_failing(self) -> tuple[int, int, Term] | None:
        """In every third system one level's configurations fail for a while."""
        if self.rng.random() > 1 / 3 or self.cell.commits < 100:
            return None
        first = int(self.rng.integers(10, self.cell.commits - 20))
        return first, first + int(self.rng.integers(3, 15)), self._draw_term(1)


def canonical(term: Term, space: Space, solver: ConstraintSolver) -> Term:
    """Of terms that hold in the same valid configurations the shortest, then alphabetically first."""
    texts = sorted(str(level) for level in space.levels)
    if solver.equivalent(term, ()):
        return ()
    for size in range(1, len(term) + 1):
        pool = texts if size < 3 else sorted(set(term))
        for other in combinations(pool, size):
            if solver.equivalent(term, other):
                return other
    return term


def _space(count: int, rng: np.random.Generator) -> Space:
    """About `count` flags, counting each value of a group as one; no all-on, no one-hot configuration."""
    options: list[Option] = []
    constraints: list[str] = []
    left = count
    for g in range(max(count // 12, 1)):
        size = int(rng.integers(3, 6))
        if rng.random() < 0.5:
            values = tuple(f"v{i}" for i in range(size))
            options.append(Option(f"choice{g}", "choice", values, values[0]))
        else:
            names = [f"alt{g}_{i}" for i in range(size)]
            options += [Option(name, "flag", (False, True), i == 0) for i, name in enumerate(names)]
            constraints.append(" or ".join(names))
            constraints += [f"not ({a} and {b})" for a, b in combinations(names, 2)]
        left -= size
    for g in range(max(count // 16, 1)):
        numbers: tuple[Value, ...] = (0, 1, 3, 6, 9)[: int(rng.integers(3, 6))]
        options.append(Option(f"number{g}", "number", numbers, numbers[0]))
        left -= 2
    flags = [f"o{i:02d}" for i in range(max(left, 4))]
    options += [Option(name, "flag", (False, True), False) for name in flags]
    constraints += _between_flags(flags, rng)
    return Space(tuple(options), tuple(constraints))


def _between_flags(flags: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Requirements, exclusions, and one of two that must be on; each flag in at most one of them."""
    order = [flags[int(i)] for i in rng.permutation(len(flags))]
    forms = ["not ({0} and {1})", "{0} or {1}", "{0} implies {1}", "not ({0} and {1})", "{0} implies {1}"]
    count = max(len(flags) // 6, 2)
    pairs = [(order[2 * i], order[2 * i + 1]) for i in range(min(count, len(order) // 2))]
    return [forms[i % len(forms)].format(*pair) for i, pair in enumerate(pairs)]


def _built(commits: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """15 % of the revisions in stretches do not build; the first one does."""
    built = np.ones(commits, dtype=bool)
    while built.mean() > 0.85:
        first = int(rng.integers(1, commits))
        built[first : first + int(rng.geometric(1.0 / STRETCH))] = False
    return built
