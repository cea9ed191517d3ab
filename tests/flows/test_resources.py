"""The resources behind a flagged configuration are named with their counts, and never turn a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bot.flows.pull_request import pull_request
from bot.flows.run.job import Job
from bot.model.report import Report
from bot.model.resources import Count
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import Side
from tests.fakes import FakeBench, FakeCounter, FakeProfiles, job_of

NAMES = ["extreme", "check", "sparse", "verbose"]
Counting = Callable[[Side, Configuration], Mapping[Count, float]]
ONE: Mapping[Count, float] = {"instructions": 1e9, "filesystem_calls": 900.0, "first_misses": 1e6}


def slower(configuration: Configuration) -> float:
    return 1.2 if configuration[0] else 1.0


def opens_more(side: Side, configuration: Configuration) -> Mapping[Count, float]:
    """The 20 ms that `extreme` costs go into 6,000 calls more."""
    more = 6e3 if side == "head" and configuration[0] else 0.0
    return {"instructions": 1e9 + 1e3 * more, "filesystem_calls": 900.0 + more, "first_misses": 1e6}


def job(
    counts: Counting = opens_more,
    *,
    truth: Mapping[str, Callable[[Configuration], float]] | None = None,
    budget: float = 60.0,
    **more: Any,
) -> tuple[Job, FakeCounter]:
    options = {name: {"flag": f"--{name}"} for name in NAMES}
    subject = Subject.model_validate({"program": {"run": "./xz {options}"}, "options": options})
    bench = FakeBench(
        np.random.default_rng(1),
        budget=budget,
        truth={"cpu": slower, **(truth or {})},
        scale={"cpu": 0.1, "minor_faults": 2000.0},
    )
    counter = FakeCounter(bench, counts, **more)
    return replace(job_of(subject, bench), open_resources=lambda: counter), counter


def named(report: Report) -> list[str]:
    return [suspect.feature for suspect in report.suspects.resources]


def test_the_feature_behind_an_option_is_named_with_its_counts_and_the_calls_behind_them() -> None:
    made, counter = job()
    report = pull_request(made)
    (suspect,) = report.suspects.resources
    assert (suspect.feature, suspect.count, suspect.unit) == (
        "filesystem", "filesystem_calls", "file system calls",
    )  # fmt: skip
    assert (suspect.base, suspect.head, suspect.term) == (900.0, 6_900.0, ("extreme",))
    assert suspect.options["extreme"] is True
    assert suspect.change_seconds == pytest.approx(0.02, abs=0.003)
    (counted,) = report.resources
    assert counted.change_seconds == suspect.change_seconds and counted.tools == ("fake 1",)
    (calls,) = [one.calls for one in counted.counts if one.count == "filesystem_calls"]
    assert [(call.name, call.base, call.head) for call in calls] == [("openat", 900, 6_900)]
    assert [(v.name, v.base, v.head) for v in counted.volumes] == [("heap_peak", 1e6, 2e6)]
    sides = [(side, source) for side, _, source in counter.asked]
    assert sides == [(s, source) for source in ("calls", "simulation") for s in ("base", "head", "base")]


def test_free_counts_of_the_pairs_are_used_without_a_trial_of_their_own() -> None:
    faults = {"minor_faults": lambda c: 8.0 if c[0] else 1.0, "major_faults": lambda _c: 1.0}
    made, _ = job(lambda _s, _c: ONE, truth=faults, takes=1e9)
    report = pull_request(made)
    (suspect,) = report.suspects.resources
    assert (suspect.feature, suspect.unit) == ("vm", "page faults")
    assert suspect.head == pytest.approx(16_000, rel=0.02) and suspect.base == pytest.approx(2000, rel=0.02)
    assert any("System calls of a flagged configuration were not counted" in note for note in report.notes)


def test_a_slow_down_that_no_count_explains_is_said_to_be_unexplained() -> None:
    made, _ = job(lambda _s, _c: ONE)
    report = pull_request(made)
    assert not named(report) and report.resources[0].explained == 0.0 and report.resources[0].complete


def test_nothing_is_counted_when_nothing_changed() -> None:
    made, counter = job(truth={"cpu": lambda _c: 1.0, "minor_faults": lambda _c: 1.0})
    report = pull_request(made)
    assert not counter.asked and not report.resources and not named(report)


def test_a_count_that_moved_without_a_time_effect_is_told_but_blamed_for_nothing() -> None:
    truths = {"cpu": lambda _c: 1.0, "minor_faults": lambda _c: 3.0, "major_faults": lambda _c: 1.0}
    made, counter = job(truth=truths)
    report = pull_request(made)
    assert report.verdict == "none" and not named(report) and not counter.asked
    (counted,) = report.resources
    assert (counted.change_seconds, counted.features) == (None, ("vm",))


def test_counts_take_at_most_a_fifth_of_the_budget_and_the_budget_holds() -> None:
    made, counter = job(takes=1.9)
    report = pull_request(made)
    assert 0 < len(counter.asked) * 1.9 <= 12.0
    assert report.spent.seconds <= 60.0


def test_a_count_that_was_stopped_says_one_thing_and_not_that_nothing_was_counted() -> None:
    made, counter = job(takes=11.0, budget=300.0)
    notes = pull_request(made).notes
    assert [source for _, _, source in counter.asked].count("simulation") == 3, "the last one was stopped"
    (said,) = [note for note in notes if "Instructions and cache misses" in note]
    assert "of a flagged configuration were not counted often enough: that would take longer" in said
    assert not any("stopped with the run" in note for note in notes)


def test_methods_come_first_and_counts_get_what_is_theirs() -> None:
    made, counter = job()
    profiles = FakeProfiles(counter.bench, lambda _s, _c: {"find": 1.0}, takes=7.0)
    report = pull_request(replace(made, open_profiles=lambda: profiles))
    assert profiles.asked and named(report) == ["filesystem"]
    assert report.spent.seconds <= 60.0


def test_a_noisy_count_is_counted_again_before_it_is_named() -> None:
    made, counter = job(noise=0.05, budget=300.0)
    assert named(pull_request(made)) == ["filesystem"]
    again = [side for side, _, source in counter.asked if source == "calls"][3:]
    assert again and again == ["head", "base", "head", "base", "head"][: len(again)]


def test_a_missing_source_is_said_and_the_other_one_is_used() -> None:
    made, counter = job(lacking={"simulation": ["`valgrind` is not installed."]})
    report = pull_request(made)
    assert named(report) == ["filesystem"] and {one[2] for one in counter.asked} == {"calls"}
    assert not report.resources[0].complete
    assert "`valgrind` is not installed." in report.notes


def test_a_program_that_fails_when_it_is_counted_is_said_once_and_not_tried_again() -> None:
    made, counter = job(outcome="signal")
    report = pull_request(made)
    assert not named(report) and report.verdict == "regression"
    assert [one[2] for one in counter.asked] == ["calls", "simulation"]
    assert sum("failed when it was counted" in note for note in report.notes) == 1


def test_an_interpreters_start_is_not_part_of_the_growth() -> None:
    def both(side: Side, _configuration: Configuration) -> Mapping[Count, float]:
        head = side == "head"
        return {"instructions": 1.9e9 if head else 1.5e9, "filesystem_calls": 3e4 if head else 1.5e4}

    plain, _ = job(both)
    started, _ = job(both, start={"instructions": 1.49e9})
    assert (named(pull_request(plain)), named(pull_request(started))) == (
        ["filesystem", "cpu"],
        ["cpu", "filesystem"],
    )


def test_where_simulation_cannot_fit_it_is_not_begun_and_that_is_said() -> None:
    made, counter = job(budget=20.0)
    report = pull_request(made)
    assert named(report) == ["filesystem"]
    assert not any(one[2] == "simulation" for one in counter.asked)
    assert any("Instructions and cache misses" in note for note in report.notes)
