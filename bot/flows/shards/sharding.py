"""One machine's part of an analysis: measured like a run of its own, and kept instead of concluded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bot.flows.ports import Bench
from bot.flows.pull_request import pull_request
from bot.flows.run.job import Job
from bot.model.history import Measurements, RunRecord
from bot.model.recording import Recorder
from bot.model.report import Environment, Report, RevisionRef
from bot.model.shards import Shard
from bot.model.space import Configuration, Space
from bot.model.trials import Pair, Side, Wish
from bot.sampling.schedule import MOST
from bot.sampling.shares import share


@dataclass
class RecordingBench:
    """A bench that keeps every pair it hands on."""

    bench: Bench
    recorder: Recorder
    revisions: dict[Side, RevisionRef]
    space: Space

    @property
    def slots(self) -> int:
        """Pairs that run at the same time."""
        return self.bench.slots

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:
        """The bench's own pairs."""
        for pair in self.bench.measure(wishes):
            self.recorder.pair(pair, self.revisions, self.space)
            yield pair

    def served(self, configuration: Configuration) -> Configuration:
        """As the bench."""
        return self.bench.served(configuration)

    def elapsed(self) -> float:
        """As the bench."""
        return self.bench.elapsed()

    def stopped(self) -> bool:
        """As the bench."""
        return self.bench.stopped()

    def notes(self) -> Sequence[str]:
        """As the bench."""
        return self.bench.notes()

    def environment(self) -> Environment:
        """As the bench."""
        return self.bench.environment()


@dataclass(frozen=True)
class Measured:
    """What one machine came to: its own report, its trials, and what it could not give.

    trials: None where nothing was measured.
    """

    report: Report
    trials: Measurements | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Sharing:
    """Measures one shard of a job; `dealing` and the job's sampler are seeded alike on all machines."""

    job: Job
    shard: Shard
    dealing: np.random.Generator
    benches: list[RecordingBench] = field(default_factory=list)

    def run(self, record: RunRecord) -> Measured:
        """Measures, with the shard's share of the budget; the job's sampler draws the sample of all shards.

        record: what is told of this run; its environment is filled in.
        """
        job = replace(
            self.job,
            budget=self.shard.budget,
            sampler=lambda count: self._part(self.job.sampler(MOST))[:count],
            open_bench=self._open,
        )
        if (aim := self.job.aim) is not None:
            job = replace(
                job,
                aim=replace(aim, sampler=lambda count, terms: self._part(aim.sampler(MOST, terms))[:count]),
            )
        report = pull_request(job)
        notes = [
            *(job.workshop.notes() if job.workshop else ()),
            *(n for b in self.benches for n in b.notes()),
        ]
        told = tuple(dict.fromkeys(notes))
        if not self.benches or not len(recorder := self.benches[0].recorder):
            return Measured(report, notes=told)
        run = record.model_copy(update={"environment": report.environment})
        return Measured(report, recorder.measurements(run), told)

    def _part(self, sample: Iterable[Configuration]) -> list[Configuration]:
        return share(list(sample), self.shard.shard, self.shard.shards, rng=self.dealing)

    def _open(self, seconds: float) -> Bench:
        base, head = self.job.comparison.base, self.job.comparison.head
        revisions: dict[Side, RevisionRef] = {
            "base": RevisionRef(revision=base.id, label=base.label),
            "head": RevisionRef(revision=head.id, label=head.label),
        }
        bench = RecordingBench(self.job.open_bench(seconds), Recorder(), revisions, self.job.subject.space)
        self.benches.append(bench)
        return bench
