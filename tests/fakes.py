"""Fakes of the ports: a bench with known truth on a simulated clock, a workshop, silent progress."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bot.flows.run.job import Job
from bot.model.profiles import CallSeries, Method, MethodCost, Profile, Tool
from bot.model.report import Environment, Spent
from bot.model.resources import Count, Counted, Source
from bot.model.revisions import Build, Comparison, Revision
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import Outcome, Pair, Side, Trial, Wish
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample

LOG = "last line"
Truth = Callable[[Configuration], float]
"""Ratio head / base of a configuration."""


@dataclass
class FakeBench:
    """Pairs take `seconds` on a simulated clock; base is near `scale` (or 1), head `truth` times as much.

    cost: what a configuration takes beside the others.
    """

    rng: np.random.Generator
    budget: float
    truth: Mapping[str, Truth]
    noise: float = 0.01
    seconds: float = 0.1
    fails: Callable[[Configuration], Outcome | None] = lambda _c: None
    cpu_share: float = 1.0
    stop_after: int | None = None
    slots: int = 1
    clock: float = 0.0
    scale: Mapping[str, float] = field(default_factory=dict)
    cost: Callable[[Configuration], float] = lambda _c: 1.0
    asked: list[Wish] = field(default_factory=list)
    _known: set[Configuration] = field(default_factory=set)

    def served(self, configuration: Configuration) -> Configuration:
        return configuration

    def elapsed(self) -> float:
        return self.clock

    def stopped(self) -> bool:
        return self.stop_after is not None and len(self.asked) >= self.stop_after

    def notes(self) -> Sequence[str]:
        return ("A fake bench.",)

    def environment(self) -> Environment:
        return Environment(cpu="fake", cores=self.slots)

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:
        for wish in wishes:
            if wish is None:
                raise AssertionError("nothing is running, so nothing can be waited for")
            if self.clock >= self.budget:
                return
            self.asked.append(wish)
            self.clock += self.seconds
            yield self._pair(wish)

    def _pair(self, wish: Wish) -> Pair:
        failed = self.fails(wish.configuration)
        if failed is not None and not wish.control:
            return Pair(wish, Trial("ok", {}, 0), Trial(failed, {}, 3, detail="exit code 3"), self.seconds)
        first, second = ({}, {})  # type: tuple[dict[str, float], dict[str, float]]
        for name, truth in self.truth.items():
            ratio = 1.0 if wish.control else truth(wish.configuration)
            scale = self.scale.get(name, 1.0) * self.cost(wish.configuration)
            first[name] = scale * float(np.exp(self.rng.normal(0, self.noise)))
            second[name] = scale * ratio * float(np.exp(self.rng.normal(0, self.noise)))
        alone: Mapping[Side, tuple[float, float]] | None = None
        if wish.configuration not in self._known:
            self._known.add(wish.configuration)
            alone = {"base": (self.cpu_share, 1.0), "head": (self.cpu_share, 1.0)}
        return Pair(wish, Trial("ok", first, 0), Trial("ok", second, 0), self.seconds, alone)


@dataclass
class FakeWorkshop:
    """Builds that end as told."""

    failing: Mapping[Side, str] = field(default_factory=dict)
    built: int = 0

    def build(self, comparison: Comparison) -> Mapping[Side, Build]:
        self.built += 1
        sides: tuple[Side, Side] = ("base", "head")
        return {
            side: Build(side, side not in self.failing, 2.0, reason=self.failing.get(side, ""), log=LOG)
            for side in sides
        }

    def notes(self) -> Sequence[str]:
        return ()


FINE = Tool("fake", "1", "fine", frozenset({"calls", "durations", "arguments"}))


@dataclass
class FakeProfiles:
    """Profiles of `seconds` of each method at a side in a configuration; each takes `takes` on the clock."""

    bench: FakeBench
    seconds: Callable[[Side, Configuration], Mapping[str, float]]
    takes: float = 1.0
    outcome: Outcome = "ok"
    lacking: tuple[str, ...] = ()
    asked: list[tuple[Side, Configuration]] = field(default_factory=list)
    watched: list[tuple[Side, Configuration, tuple[Method, ...]]] = field(default_factory=list)
    notes: Callable[[Configuration], tuple[str, ...]] = lambda _configuration: ()
    text: str = ""
    """Of every method, at both sides; empty: not known."""

    def missing(self) -> Sequence[str]:
        return self.lacking

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = math.inf) -> Profile:
        self.asked.append((side, configuration))
        self.bench.clock += min(self.takes, seconds)
        tool = Tool("fake", "1", "coarse", frozenset({"calls", "instructions", "edges"}))
        if self.takes > seconds:
            return Profile(tool, "cut", seconds)
        costs = self.seconds(side, configuration)
        noisy = {name: cost * float(np.exp(self.bench.rng.normal(0, 0.003))) for name, cost in costs.items()}
        total = sum(noisy.values())
        methods = {
            Method(name, f"{name}.py", 1): MethodCost(
                noisy[name] / total, self_seconds=noisy[name], calls=10, instructions=round(1e9 * costs[name])
            )
            for name in costs
        }
        return Profile(tool, self.outcome, total, methods, samples=10_000, notes=self.notes(configuration))

    def watch(
        self,
        side: Side,
        configuration: Configuration,
        methods: Sequence[Method],
        coarse: Profile,
        *,
        seconds: float = math.inf,
        overhead: float | None = None,
        rests: int = 1,
    ) -> Profile:
        """Ten calls of each method, every second one with twice the work."""
        self.watched.append((side, configuration, tuple(methods)))
        self.bench.clock += min(self.takes, seconds)
        if self.takes > seconds:
            return Profile(FINE, "cut", seconds)
        costs = self.seconds(side, configuration)
        each = np.array([1.0, 2.0] * 5) / 15
        given = (("n=int 1",), ("n=int 2",)) * 5
        empty = np.zeros(0)
        series = [
            CallSeries(m, (), 10, costs[m.name], costs[m.name] * each, empty, empty.astype(np.int64), given)
            for m in methods
            if m in coarse.methods
        ]
        return Profile(FINE, self.outcome, 1.1 * sum(costs.values()), series=series, notes=("Watched.",))

    def bodies(self, side: Side, methods: Iterable[Method]) -> Mapping[Method, str]:
        del side
        return dict.fromkeys(methods, self.text) if self.text else {}


@dataclass
class FakeCounter:
    """Counts of a side in a configuration; each counted trial takes `takes` on the clock."""

    bench: FakeBench
    counts: Callable[[Side, Configuration], Mapping[Count, float]]
    takes: float = 0.5
    noise: float = 0.0
    outcome: Outcome = "ok"
    lacking: Mapping[Source, Sequence[str]] = field(default_factory=dict)
    start: Mapping[Count, float] | None = None
    asked: list[tuple[Side, Configuration, Source]] = field(default_factory=list)

    def missing(self) -> Mapping[Source, Sequence[str]]:
        return self.lacking

    def count(
        self, side: Side, configuration: Configuration, source: Source, *, seconds: float = math.inf
    ) -> Counted:
        self.asked.append((side, configuration, source))
        self.bench.clock += min(self.takes, seconds)
        if self.takes > seconds:
            return Counted(source, "cut", notes=("The program was stopped with the run.",))
        chance = float(np.exp(self.bench.rng.normal(0, self.noise)))
        counts = {count: n * chance for count, n in self.counts(side, configuration).items()}
        calls = {"openat": round(counts.get("filesystem_calls", 0.0)), "read": 7}
        volumes = {"heap_peak": 1e6 if side == "base" else 2e6}
        return Counted(source, self.outcome, counts, volumes, {"filesystem_calls": calls}, tool="fake 1")

    def start_up(self, side: Side, source: Source, *, seconds: float = math.inf) -> Counted | None:
        del side, seconds
        return None if self.start is None else Counted(source, "ok", self.start)


@dataclass
class RecordingProgress:
    """Remembers what it was told."""

    stages: list[str] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    leaders: list[str] = field(default_factory=list)

    def stage(self, text: str) -> None:
        self.stages.append(text)

    def trials(self, spent: Spent, budget: float, found: str) -> None:
        self.spent = spent

    def pairs(self, done: int, seconds: float, budget: float, leader: str) -> None:
        self.leaders.append(leader)


def job_of(
    subject: Subject, bench: FakeBench, *, workshop: FakeWorkshop | None = None, same_tree: bool = False
) -> Job:
    """A job on fakes; the bench's budget is the job's."""
    solver = ConstraintSolver(subject.space)
    rng = np.random.default_rng(5)

    def open_bench(seconds: float) -> FakeBench:
        bench.budget = min(bench.budget, seconds)
        return bench

    return Job(
        subject=subject,
        name="program",
        comparison=Comparison(
            Revision("b" * 40, "base", "t1"), Revision("h" * 40, "head", "t1" if same_tree else "t2")
        ),
        budget=bench.budget,
        solver=solver,
        sampler=lambda count: pull_request_sample(subject.space, solver, count, rng=rng),
        workshop=workshop or FakeWorkshop(),
        open_bench=open_bench,
        progress=RecordingProgress(),
        rng=np.random.default_rng(6),
    )
