"""Simulated machines with their own speed, noise and code layout, and a pull request measured on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from bot.adapters.terminal import QuietProgress
from bot.flows.pull_request import pull_request
from bot.flows.run.job import Job
from bot.flows.shards.choice import LeftShard, choose
from bot.flows.shards.merging import merge
from bot.flows.shards.sharding import Sharing
from bot.model.history import RunRecord, known_options, program_fingerprint
from bot.model.report import Environment, Report
from bot.model.revisions import Comparison, Revision
from bot.model.shards import Manifest, Shard, planned
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import Pair, Trial, Wish
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample

LAYOUT = 0.003
"""Rebuilt code lands elsewhere: every configuration's own shift (log ratio) on a kind of machine."""
TAIL = 4.0
"""Degrees of freedom of a pair's noise: recorded noise has such tails."""
COMPARED = Comparison(Revision("b" * 40, "base", "t1"), Revision("h" * 40, "head", "t2"))


@dataclass(frozen=True)
class Kind:
    """A kind of machine: seconds beside the usual one's, noise of a pair, and whether it has the change."""

    name: str
    speed: float = 1.0
    noise: float = 0.03
    shows: float = 1.0


@dataclass
class MachineBench:
    """The port Bench: pairs of a known change on one machine, on a simulated clock."""

    kind: Kind
    change: Callable[[Configuration], float]
    layout: Callable[[Configuration, str], float]
    rng: np.random.Generator
    budget: float
    seconds: float = 0.25
    clock: float = 0.0
    slots: int = 1
    known: set[Configuration] = field(default_factory=set)

    def served(self, configuration: Configuration) -> Configuration:
        """The same."""
        return configuration

    def elapsed(self) -> float:
        """Simulated seconds."""
        return self.clock

    def stopped(self) -> bool:
        """Never."""
        return False

    def notes(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def environment(self) -> Environment:
        """The kind of machine."""
        return Environment(cpu=self.kind.name, cores=2)

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:
        """Pairs until the budget ends."""
        for wish in wishes:
            if wish is None or self.clock >= self.budget:
                return
            cost = self.seconds * self.kind.speed * (1 if wish.configuration in self.known else 2)
            self.known.add(wish.configuration)  # the first time there is a warm-up
            self.clock += cost
            noise = self.kind.noise * float(self.rng.standard_t(TAIL)) / np.sqrt(TAIL / (TAIL - 2))
            moved = 0.0
            if not wish.control:
                moved = self.kind.shows * self.change(wish.configuration)
                moved += self.layout(wish.configuration, self.kind.name)
            base = self.seconds * self.kind.speed / 2
            trials = [Trial("ok", {"cpu": base * float(np.exp(v))}, 0) for v in (0.0, noise + moved)]
            yield Pair(wish, trials[0], trials[1], cost)


def subject(options: int) -> Subject:
    """A program with so many flags."""
    flags = {f"o{i}": {"flag": f"--o{i}"} for i in range(options)}
    return Subject.model_validate({"program": {"run": "./p {options}"}, "options": flags})


@dataclass(frozen=True)
class Case:
    """A change of some options (log ratio where all are on; none: nothing changed) and the fleet it meets."""

    name: str
    term: tuple[int, ...]
    size: float
    fleet: tuple[Kind, ...]
    budget: float = 60.0
    options: int = 8

    def change(self, configuration: Configuration) -> float:
        """What head adds in a configuration (log ratio)."""
        return self.size if all(configuration[i] for i in self.term) else 0.0

    def alone(self) -> Case:
        """The same on the first machine only, which has all of the budget."""
        return replace(self, fleet=self.fleet[:1])


def job_of(case: Case, kind: Kind, seed: Sequence[int], budget: float) -> Job:
    """The job of one machine; layouts are drawn by the first of `seed`, the rest is the machine's own."""
    wanted = subject(case.options)
    solver = ConstraintSolver(wanted.space)
    measuring, deciding, sampling = np.random.default_rng(seed).spawn(3)

    def layout(configuration: Configuration, name: str) -> float:
        own = [seed[0], int.from_bytes(name.encode(), "big") % 2**32, *map(int, configuration)]
        return float(np.random.default_rng(own).normal(0.0, LAYOUT))

    return Job(
        subject=wanted,
        name="program",
        comparison=COMPARED,
        budget=budget,
        solver=solver,
        sampler=lambda count: pull_request_sample(wanted.space, solver, count, rng=sampling),
        workshop=None,
        open_bench=lambda s: MachineBench(kind, case.change, layout, measuring, s),
        progress=QuietProgress(),
        rng=deciding,
    )


def measured(case: Case, seed: int) -> Report:
    """The pull request's report: of one machine, or merged of the fleet's shards, which share its budget."""
    if len(case.fleet) == 1:
        return pull_request(job_of(case, case.fleet[0], [seed, 0], case.budget))
    count = len(case.fleet)
    base, head = COMPARED.base.id, COMPARED.head.id
    plan = planned(count, base=base, head=head, budget=case.budget, sample_seed=seed)
    left = [shard_of(case, shard, seed) for shard in plan.include]
    job = job_of(case, case.fleet[0], [seed, 99], case.budget)
    default = job.solver
    assert isinstance(default, ConstraintSolver)
    return merge(replace(job, sampler=lambda n: [default.default()][:n]), choose(left))


def shard_of(case: Case, shard: Shard, seed: int) -> LeftShard:
    """What one machine of the fleet leaves."""
    job = job_of(case, case.fleet[shard.shard], [seed, 1 + shard.shard], shard.budget)
    together = np.random.default_rng(shard.sample_seed)
    space, solver = job.subject.space, ConstraintSolver(job.subject.space)
    job = replace(job, sampler=lambda n: pull_request_sample(space, solver, n, rng=together))
    record = RunRecord(
        id=f"{seed}-{shard.shard}",
        mode="pull_request",
        started=datetime(2024, 1, 1, tzinfo=UTC),
        program=program_fingerprint(job.subject),
        options=known_options(space),
    )
    found = Sharing(job, shard, np.random.default_rng(shard.sample_seed)).run(record)
    trials = found.trials
    return LeftShard(Manifest(shard=shard), found.report, lambda: iter([trials] if trials else []))
