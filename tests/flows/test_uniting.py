"""The evidence of stored pairs is that of the pairs themselves, seen one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bot.flows.history.experience import Recalled
from bot.flows.pull_request import rules, timed
from bot.flows.run.evidence import Evidence
from bot.flows.shards.choice import LeftShard
from bot.flows.shards.sharding import Sharing
from bot.flows.shards.shares import quiet, read_share
from bot.flows.shards.uniting import evidence_of
from bot.model.history import Measurements, RunRecord, known_options, program_fingerprint
from bot.model.shards import Manifest
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import Outcome, Pair, Wish
from bot.sampling.pull_request import pull_request_sample
from tests.fakes import FakeBench, job_of
from tests.shards import extreme, left, merging_job, shards, subject


class KeepingBench(FakeBench):
    """A fake bench whose pairs are kept."""

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:
        for pair in super().measure(wishes):
            PAIRS.append(pair)
            yield pair


PAIRS: list[Pair] = []


def both(wanted: Subject, count: int, **bench: Any) -> tuple[Evidence, Evidence]:
    """What pairs amount to: seen one by one, and stored and united."""
    seen = Evidence(rules(wanted), timed(wanted))
    found: list[LeftShard] = []
    for shard in shards(count):
        PAIRS.clear()
        machine = KeepingBench(rng=np.random.default_rng(shard.seed), budget=shard.budget, **bench)
        job = replace(job_of(wanted, machine), workshop=None)
        together = np.random.default_rng(1)
        job = replace(
            job,
            sampler=lambda n, job=job, rng=together: pull_request_sample(
                wanted.space, job.solver, n, rng=rng
            ),
        )
        record = RunRecord.model_validate(
            {
                "id": str(shard.shard),
                "mode": "pull_request",
                "started": "2024-01-01T00:00:00Z",
                "program": program_fingerprint(wanted),
                "options": known_options(wanted.space),
            }
        )
        measured = Sharing(job, shard, np.random.default_rng(1)).run(record)
        if any(pair.wish.track == "wall" for pair in PAIRS) and len(seen.rules) == 1:
            seen.rules.append(replace(seen.rules[0], name="wall"))
        for pair in PAIRS:
            seen.observe(pair)
        trials = measured.trials
        assert trials is not None
        found.append(LeftShard(Manifest(shard=shard), measured.report, lambda t=trials: iter([t])))  # type: ignore[misc]
    job = merging_job(wanted)
    shares = [share for one in found if (share := read_share(job, one)) is not None]
    return seen, evidence_of(job, shares, Recalled())


def fails_sometimes(configuration: Configuration) -> Outcome | None:
    return "exit" if configuration[1] and configuration[2] else None


@pytest.mark.parametrize(
    "bench",
    [
        {"truth": {"cpu": extreme(1.05)}},
        {"truth": {"cpu": extreme(1.05)}, "fails": fails_sometimes},
        {"truth": {"cpu": extreme(1.0), "wall": extreme(1.2)}, "cpu_share": 0.5},
    ],
)
def test_nothing_is_lost_or_counted_twice(bench: dict[str, Any]) -> None:
    seen, united = both(subject(), 2, **bench)
    for what in ("pairs", "trials", "failed_trials", "ok_pairs", "failed_pairs"):
        assert getattr(united, what) == getattr(seen, what), what
    assert set(united.failures) == set(seen.failures)
    assert all(text == "head: exit code 3" for text in united.failures.values())
    assert [rule.name for rule in united.rules] == [rule.name for rule in seen.rules]
    for name, values in seen.controls.items():
        assert united.controls[name] == pytest.approx(values, nan_ok=True)
    assert united.base() == pytest.approx(seen.base())
    for ours, theirs in zip(united.noise(), seen.noise(), strict=True):
        assert (ours.metric, ours.pairs) == (theirs.metric, theirs.pairs)
        assert ours.sd_percent == pytest.approx(theirs.sd_percent)
        assert ours.bias_percent == pytest.approx(theirs.bias_percent)


def test_what_base_took_is_told_of_alike_machines() -> None:
    def seconds(configuration: Configuration) -> float:
        return 5.0 if configuration[1] else 1.0

    def longer(configuration: Configuration) -> float:
        return 1.0 + 0.3 / seconds(configuration) if configuration[0] else 1.0

    _, united = both(subject(), 2, truth={"cpu": longer}, cost=seconds)
    assert united.estimator is not None
    assert [effect.term for effect in united.estimator.judge().options] == [("extreme",)]


def test_a_failed_configuration_is_there_and_so_is_its_reason() -> None:
    _, united = both(subject(), 2, truth={"cpu": extreme(1.0)}, fails=fails_sometimes)
    failed = [c for c in united.configurations if not united.ok_pairs[c]]
    assert failed and all(united.failed_pairs[c] for c in failed)


def test_a_biased_machine_is_left_out_by_its_controls_alone() -> None:
    job = merging_job()
    plan = shards(3, budget=60.0)

    def biased(change: Callable[[Measurements], Measurements], number: int) -> LeftShard:
        one = left(plan[number])
        (trials,) = one.trials()
        return replace(one, trials=lambda: iter([change(trials)]))

    def off(trials: Measurements) -> Measurements:
        """The second of two trials at base takes 4 % longer."""
        base = np.array([r.revision == "b" * 40 for r in trials.revisions])[trials.revision]
        return replace(trials, value=np.where(trials.second & base, 1.04, 1.0) * trials.value)

    def slower(trials: Measurements) -> Measurements:
        head = np.array([r.revision == "h" * 40 for r in trials.revisions])[trials.revision]
        return replace(trials, value=np.where(head, 1.5, 1.0) * trials.value)

    found: Sequence[LeftShard] = [biased(off, 0), biased(slower, 1), left(plan[2])]
    shares = [share for one in found if (share := read_share(job, one)) is not None]
    kept, notes = quiet(shares, rules(job.subject)[0])
    assert [share.number for share in kept] == [1, 2]
    (note,) = notes
    assert note.startswith("Shard 0 was left out: base was +") and "(usual)" in note
