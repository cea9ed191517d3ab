"""Builders of shards: what machines of a simulated fleet leave, in memory and as folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bot.adapters.stores.shard_folder import write_shard
from bot.flows.run.job import Job
from bot.flows.shards.choice import LeftShard
from bot.flows.shards.sharding import Measured, Sharing
from bot.model.history import RunRecord, known_options, program_fingerprint
from bot.model.report import Environment
from bot.model.shards import Manifest, Shard, planned
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.sampling.pull_request import pull_request_sample
from tests.fakes import FakeBench, job_of

NAMES = ["extreme", "check", "sparse", "threads", "verbose", "keep"]


def subject(**more: Any) -> Subject:
    """Six flags."""
    options = {name: {"flag": f"--{name}"} for name in NAMES}
    return Subject.model_validate({"program": {"run": "./xz {options}"}, "options": options, **more})


class KnownMachine(FakeBench):
    """A fake bench on a named kind of machine."""

    kind = "usual"

    def environment(self) -> Environment:
        return Environment(cpu=self.kind, cores=2)


def extreme(size: float) -> Callable[[Configuration], float]:
    """A change of the option `extreme`."""
    return lambda configuration: size if configuration[0] else 1.0


def shards(count: int, *, budget: float = 10.0, seed: int = 1, **changes: Any) -> tuple[Shard, ...]:
    """The shards of a plan; budget: of each."""
    wanted = {"base": "b" * 40, "head": "h" * 40, "budget": budget * count, "sample_seed": seed, **changes}
    return planned(count, **wanted).include


def merging_job(wanted: Subject | None = None) -> Job:
    """A job that merges: its sampler knows the default only."""
    wanted = wanted or subject()
    bench = FakeBench(rng=np.random.default_rng(0), budget=1.0, truth={})
    job = replace(job_of(wanted, bench), workshop=None)
    return replace(job, sampler=lambda count: [wanted.space.default][:count])


def measured(
    shard: Shard,
    *,
    truth: Callable[[Configuration], float] = lambda _c: 1.0,
    kind: str = "usual",
    wanted: Subject | None = None,
    seed: int | None = None,
    **bench: Any,
) -> Measured:
    """What one machine measures: `truth` is head / base of a configuration."""
    wanted = wanted or subject()
    rng = np.random.default_rng(shard.seed if seed is None else seed)
    machine = KnownMachine(rng=rng, budget=shard.budget, truth={"cpu": truth}, **bench)
    machine.kind = kind
    together = np.random.default_rng(shard.sample_seed)
    job = job_of(wanted, machine)
    job = replace(
        job,
        workshop=None if not bench.pop("workshop", None) else job.workshop,
        sampler=lambda n: pull_request_sample(wanted.space, job.solver, n, rng=together),  # type: ignore[arg-type]
    )
    record = RunRecord(
        id=f"{shard.plan}-{shard.shard}-{seed}",
        mode="pull_request",
        started=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=seed or 0),
        program=program_fingerprint(wanted),
        options=known_options(wanted.space),
    )
    return Sharing(job, shard, np.random.default_rng(shard.sample_seed)).run(record)


def left(shard: Shard, found: Measured | None = None, **how: Any) -> LeftShard:
    """What a shard left, in memory."""
    found = found or measured(shard, **how)
    trials = found.trials
    return LeftShard(
        Manifest(shard=shard, notes=found.notes), found.report, lambda: iter([trials] if trials else [])
    )


def folder(path: Path, shard: Shard, found: Measured | None = None, **how: Any) -> Path:
    """The folder that a shard leaves."""
    found = found or measured(shard, **how)
    path.mkdir(parents=True)
    rows = [found.trials] if found.trials is not None else []
    write_shard(path, Manifest(shard=shard, notes=found.notes), report=found.report, rows=rows)
    return path


def fleet(count: int, **how: Any) -> Sequence[LeftShard]:
    """All shards of a plan."""
    return [left(shard, **how) for shard in shards(count)]
