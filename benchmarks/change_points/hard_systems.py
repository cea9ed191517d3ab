"""Programs whose history is as unkind as real ones: the hard kind of system, with all true steps known."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.change_points.hard_spaces import hard_space
from benchmarks.change_points.truth import ExactTerms, TrueFailure, TrueStep
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Term
from bot.sampling.constraints import ConstraintSolver

INFLUENCE = 0.05  # mean influence of a level or interaction, as a share of the base
INTERACTIONS = 0.3  # for each option
DEGREES = (0.08, 0.52, 0.28, 0.12)  # how many of the changing terms have 0, 1, 2, 3 levels
STEP = (0.031, 0.5)  # relative, in the smallest valid configuration with the term; log-uniform
MOST_NEGATIVE = 0.5  # of the base: so much may all additive steps together take away
TRANSIENT, CANCELLING, FAILING = 0.7, 0.5, 0.6  # how many systems have one
EPISODE = (5, 60)  # commits of a transient or of a run of failures
UNBUILDABLE, RUN = 0.15, 2.0  # share of commits; mean commits in a run of them
CARRIED, STRETCH = 0.10, (5, 40)  # share of commits; commits of a stretch
NOISE = (0.01, 0.05)  # standard deviation, log-uniform, each configuration its own
WIDE, OFTEN = 5.0, 0.05  # contaminated noise: so much wider, so often
DRIFT = 0.02  # largest shared drift to either side
NOTHING = 1e-9  # seconds or logarithms that rounding makes


@dataclass(frozen=True)
class _Event:
    """From a commit on, a term's influence is another, by a size relative to its smallest configuration."""

    commit: int
    term: Term
    size: float
    passing: bool = False
    cancelled: bool = False
    undoes: int | None = None  # the event whose change it takes back, or whose opposite it is


class HardSystem:
    """Seconds = sum (in every second system: product) of influences, times drift, times heavy-tailed noise.

    An unbuildable commit gives `built=False`; in a carried stretch every trial of a configuration gives the
    one value of the stretch's first commit; while a term fails, what holds it gives NaN.

    Args:
        options: how many. commits: length of the history. changing: False: nothing ever changes.
    """

    def __init__(
        self, options: int, commits: int, rng: np.random.Generator, *, changing: bool = True
    ) -> None:
        self.commits = commits
        self.space = hard_space(options, rng)
        self.solver = ConstraintSolver(self.space)
        self.terms = ExactTerms(self.space, self.solver)
        self.relative = bool(rng.integers(2))
        self.tails = str(rng.choice(["t3", "contaminated"]))
        self._rng, self._key = rng, int(rng.integers(2**32))
        self._known: dict[Configuration, tuple[NDArray[np.float64], float]] = {}
        self.built, self.source = self._calendar()
        events = self._events(3 + options // 16) if changing else []
        self._terms = self._influencing(events)
        self._at = {term: k for k, term in enumerate(self._terms)}
        self._influences = np.zeros((commits, len(self._terms)))
        self._influences[:] = rng.exponential(INFLUENCE, len(self._terms))
        self._influences[:, self._at[()]] = 0.0 if self.relative else 1.0
        self._apply(events)
        self.failures = self._failures() if rng.random() < FAILING else ()
        self.steps = self._realised(events)
        swing = rng.uniform(0.7, 2.0) * commits
        self._drift = DRIFT * np.sin(2.0 * math.pi * (np.arange(commits) / swing + rng.random()))
        self._noise = np.random.default_rng(rng.integers(2**32))
        self._kept: dict[tuple[Configuration, int], float] = {}

    def observe(self, probe: Probe) -> Observation:
        """One trial."""
        if not self.built[probe.revision]:
            return Observation(probe, math.nan, built=False)
        source = int(self.source[probe.revision])
        key = (probe.configuration, source)
        if key not in self._kept:
            clean = self.clean(*key)
            value = clean * math.exp(self._drift[source] + self._spread(probe.configuration) * self._draw())
            if not self.carried[probe.revision]:
                return Observation(probe, value)
            self._kept[key] = value
        return Observation(probe, self._kept[key])

    def clean(self, configuration: Configuration, revision: int) -> float:
        """Seconds at a measured revision without drift and noise; NaN: fails."""
        for failure in self.failures:
            if failure.first <= revision < failure.end and self.holds(failure.term, configuration):
                return math.nan
        return self._sum(configuration, revision)

    def _sum(self, configuration: Configuration, revision: int) -> float:
        whole = float(self._influences[revision] @ self._holding(configuration)[0])
        return math.exp(whole) if self.relative else whole

    def _spread(self, configuration: Configuration) -> float:
        return self._holding(configuration)[1]

    def _holding(self, configuration: Configuration) -> tuple[NDArray[np.float64], float]:
        """Which terms hold, and the noise of a configuration, which does not depend on when it is asked."""
        if configuration not in self._known:
            holds = np.array([self.holds(term, configuration) for term in self._terms], dtype=float)
            rng = np.random.default_rng([self._key, zlib.crc32(repr(configuration).encode())])
            self._known[configuration] = holds, math.exp(rng.uniform(math.log(NOISE[0]), math.log(NOISE[1])))
        return self._known[configuration]

    def holds(self, term: Term, configuration: Configuration) -> bool:
        """Whether a configuration has all levels of a term."""
        return all(self.space.holds(self.space.level_of[text], configuration) for text in term)

    def _draw(self) -> float:
        """Noise of standard deviation 1."""
        if self.tails == "t3":
            return float(self._noise.standard_t(3)) / math.sqrt(3.0)
        wide = WIDE if self._noise.random() < OFTEN else 1.0
        return wide * float(self._noise.standard_normal()) / math.sqrt(1.0 + OFTEN * (WIDE**2 - 1.0))

    def _calendar(self) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Which commits build, and the commit whose values each one has."""
        built = np.ones(self.commits, dtype=bool)
        while (~built).mean() < UNBUILDABLE:
            start = int(self._rng.integers(self.commits))
            built[start : start + self._rng.geometric(1.0 / RUN)] = False
        source = np.arange(self.commits)
        self.carried = np.zeros(self.commits, dtype=bool)
        while self.carried.mean() < CARRIED:
            first = int(self._rng.choice(np.flatnonzero(built & ~self.carried)))
            last = min(first + int(self._rng.integers(*STRETCH)), self.commits)
            if not self.carried[first:last].any():
                source[first:last], self.carried[first:last] = first, True
        return built, source

    def _events(self, count: int) -> list[_Event]:
        """Steps, perhaps an episode and a pair of steps that cancel each other."""
        rng = self._rng
        commits = [int(c) for c in rng.choice(np.arange(1, self.commits), count + 2, replace=False)]
        events = [_Event(c, self._term(), self._size()) for c in commits[:count]]
        if rng.random() < TRANSIENT:
            first, term = commits[count], self._term()
            last = first + int(rng.integers(*EPISODE, endpoint=True))
            if last < self.commits:
                events.append(_Event(first, term, self._size(), passing=True))
                events.append(_Event(last, term, 0.0, passing=True, undoes=len(events) - 1))
        if rng.random() < CANCELLING:
            one, other = self._rivals()
            events.append(_Event(commits[count + 1], one, self._size(), cancelled=True))
            events.append(_Event(commits[count + 1], other, 0.0, cancelled=True, undoes=len(events) - 1))
        return events

    def _term(self, degrees: tuple[float, ...] = DEGREES) -> Term:
        """A possible term in its shortest form."""
        while True:
            degree = int(self._rng.choice(len(degrees), p=np.array(degrees) / sum(degrees)))
            options = self._rng.choice(len(self.space.options), degree, replace=False)
            levels = [self.space.options[i].levels for i in options]
            term = tuple(sorted(str(own[self._rng.integers(len(own))]) for own in levels))
            if self.solver.possible(term):
                return self.terms.canonical(term)

    def _rivals(self) -> tuple[Term, Term]:
        """Two terms that can hold together, alone, and neither: their steps can be told apart."""
        while True:
            one, other = self._term(DEGREES[:3]), self._term(DEGREES[:3])
            if not one or not other:
                continue
            both = tuple(sorted({*one, *other}))
            alone = self.terms.apart(one, other) and self.terms.apart(other, one)
            if alone and self.solver.possible(both) and self.terms.apart((), one, other):
                return one, other

    def _size(self) -> float:
        size = math.exp(self._rng.uniform(math.log(STEP[0]), math.log(STEP[1])))
        return size if self._rng.random() < 0.5 else 1.0 / (1.0 + size) - 1.0

    def _influencing(self, events: list[_Event]) -> list[Term]:
        """Everything, levels other than the first, thresholds, interactions, terms that change."""
        found: dict[Term, None] = {(): None}
        for option in self.space.options:
            if option.kind == "number":
                levels = [x for x in option.levels if x.operator == ">="]
                found |= {(str(x),): None for x in levels or option.levels[1:]}
            else:
                found |= {(str(x),): None for x in option.levels if not x.holds(option.values[0])}
        for _ in range(round(INTERACTIONS * len(self.space.options))):
            found[self._term((0.0, 0.0, 0.8, 0.2))] = None
        found |= {event.term: None for event in events}
        return list(found)

    def _apply(self, events: list[_Event]) -> None:
        """Changes the influences, by seconds or logarithms, in order of time."""
        changes: dict[int, float] = {}
        taken = 0.0
        for i in sorted(range(len(events)), key=lambda i: (events[i].commit, i)):
            event = events[i]
            if event.undoes is not None:
                change = -changes[event.undoes]
            elif self.relative:
                change = math.log1p(event.size)
            else:
                change = event.size * self._sum(self.terms.smallest(event.term), event.commit - 1)
                lost = abs(change) if event.cancelled else max(-change, 0.0)
                if taken + lost > MOST_NEGATIVE:
                    change, lost = abs(change), abs(change) if event.cancelled else 0.0
                taken += lost
            changes[i] = change
            self._influences[event.commit :, self._at[event.term]] += change

    def _failures(self) -> tuple[TrueFailure, ...]:
        """A run of failures of the configurations with some level, not of all."""
        length = int(self._rng.integers(*EPISODE, endpoint=True))
        first = int(self._rng.integers(1, max(self.commits - length, 2)))
        term: Term = ()
        while not term:
            term = self._term((0.0, 1.0))
        return (TrueFailure(first, first + length, term),)

    def _realised(self, events: list[_Event]) -> tuple[TrueStep, ...]:
        """What really moves from one measured commit to the next, term by term."""
        steps: list[TrueStep] = []
        for term in {event.term: None for event in events}:
            seen = self.built & (self.source == np.arange(self.commits))
            for failure in self.failures:
                if not self.terms.apart(term, failure.term):
                    seen[failure.first : failure.end] = False
            revisions = np.flatnonzero(seen)
            moved = np.diff(self._influences[revisions, self._at[term]])
            for k in np.flatnonzero(np.abs(moved) > NOTHING):
                before, after, change = int(revisions[k]), int(revisions[k + 1]), float(moved[k])
                whole = self._sum(self.terms.smallest(term), before)
                own = [e for e in events if e.term == term and before < e.commit <= after]
                steps.append(
                    TrueStep(
                        low=before + 1,
                        high=after,
                        term=term,
                        size=math.expm1(change) if self.relative else change / whole,
                        passing=any(e.passing for e in own),
                        cancelled=any(e.cancelled for e in own),
                        change=change,
                    )
                )
        return tuple(sorted(steps, key=lambda s: (s.high, s.term)))
