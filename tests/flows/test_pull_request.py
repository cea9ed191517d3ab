"""The pull-request flow on fakes: every way it can end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from bot.flows.pull_request import pull_request
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import UNREAD, Side
from tests.fakes import FakeBench, FakeWorkshop, job_of

NAMES = ["extreme", "check", "sparse", "threads", "verbose", "keep"]


def subject(**more: Any) -> Subject:
    program = {"run": "./xz {options}", **more.pop("program", {})}
    options = {name: {"flag": f"--{name}"} for name in NAMES}
    return Subject.model_validate({"program": program, "options": options, **more})


def extreme_slower(configuration: Configuration) -> float:
    return 1.08 if configuration[0] else 1.0


def unchanged(_configuration: Configuration) -> float:
    return 1.0


def bench(**more: Any) -> FakeBench:
    return FakeBench(**{"rng": np.random.default_rng(1), "budget": 40.0, "truth": {"cpu": unchanged}, **more})


class Idle(FakeBench):
    """A bench whose trials leave their input unread."""

    def notes(self) -> Sequence[str]:
        return (f"{UNREAD} `a` (workload `a`).",)


def test_a_pull_request_whose_trials_never_opened_their_input_is_not_green() -> None:
    def faster(configuration: Configuration) -> float:
        return 1.0 / extreme_slower(configuration)

    told = {}
    for name, truth in {"same": unchanged, "slower": extreme_slower, "faster": faster}.items():
        idle = Idle(rng=np.random.default_rng(1), budget=40.0, truth={"cpu": truth})
        read = pull_request(job_of(subject(), bench(truth={"cpu": truth}))).verdict
        told[name] = (read, pull_request(job_of(subject(), idle)).verdict)
    assert told == {
        "same": ("none", "inconclusive"),
        "slower": ("regression", "regression"),
        "faster": ("improvement", "inconclusive"),
    }


def test_the_guilty_option_is_named_with_its_size() -> None:
    report = pull_request(job_of(subject(), bench(truth={"cpu": extreme_slower})))
    assert report.verdict == "regression"
    first = report.suspects.options[0]
    assert first.term == ("extreme",)
    assert first.ratio == pytest.approx(1.08, abs=0.01)
    assert first.interval[0] < first.ratio < first.interval[1]
    assert first.probability > 0.9


def test_three_options_together_are_named_by_configurations_that_are_added_to_tell_them_apart() -> None:
    def slower(configuration: Configuration) -> float:
        return 1.2 if all(configuration[:3]) else 1.0

    report = pull_request(job_of(subject(), bench(truth={"cpu": slower}, budget=10.0)))
    assert [effect.term for effect in report.suspects.options] == [("check", "extreme", "sparse")]
    assert any("added to tell apart" in note for note in report.notes)


def test_an_option_that_is_named_at_once_needs_no_further_configurations() -> None:
    report = pull_request(job_of(subject(), bench(truth={"cpu": extreme_slower})))
    assert not any("added to tell apart" in note for note in report.notes)


def test_an_option_that_adds_an_amount_of_work_is_named_without_those_that_take_long_themselves() -> None:
    def seconds(configuration: Configuration) -> float:
        return 5.0 if configuration[1] else 1.0

    def longer(configuration: Configuration) -> float:
        return 1.0 + 0.3 / seconds(configuration) if configuration[0] else 1.0

    report = pull_request(job_of(subject(), bench(truth={"cpu": longer}, cost=seconds)))
    assert [effect.term for effect in report.suspects.options] == [("extreme",)]
    assert any("cpu of extreme changed by about the same amount" in note for note in report.notes)


def test_an_unchanged_program_ends_none_and_says_what_it_could_have_seen() -> None:
    report = pull_request(job_of(subject(), bench()))
    assert report.verdict == "none"
    assert not report.suspects.options
    assert {v.option for v in report.visible.options} == set(NAMES)
    assert all(v.slow_down is not None and 0.0 < v.slow_down < 0.04 for v in report.visible.options)


def test_the_default_configuration_comes_first_and_is_marked() -> None:
    report = pull_request(job_of(subject(), bench()))
    assert [c.default for c in report.configurations] == [True] + [False] * (len(report.configurations) - 1)
    assert not any(report.configurations[0].options.values())


def test_equal_trees_are_not_built_or_measured() -> None:
    workshop, idle = FakeWorkshop(), bench()
    report = pull_request(job_of(subject(), idle, workshop=workshop, same_tree=True))
    assert report.verdict == "none"
    assert not report.measured
    assert not workshop.built
    assert not idle.asked
    assert "same tree" in " ".join(report.notes)


@pytest.mark.parametrize("sides", [("base",), ("head",), ("base", "head")])
def test_a_failed_build_is_an_outcome_with_its_log(sides: tuple[Side, ...]) -> None:
    workshop = FakeWorkshop(failing=dict.fromkeys(sides, "`build` ended with exit code 2."))
    report = pull_request(job_of(subject(), bench(), workshop=workshop))
    assert report.verdict == "inconclusive"
    assert [f.side for f in report.build_failures] == list(sides)
    assert all(f.log == "last line" for f in report.build_failures)
    assert not report.measured


def test_failing_configurations_are_counted_and_shown_and_the_rest_is_decided() -> None:
    failing = bench(truth={"cpu": extreme_slower}, fails=lambda c: "exit" if c[2] and c[3] else None)
    report = pull_request(job_of(subject(), failing))
    failed = [c for c in report.configurations if c.state == "failed"]
    assert failed
    assert all(c.options["sparse"] and c.options["threads"] for c in failed)
    assert all("exit code 3" in c.failure for c in failed)
    assert report.spent.failed_trials >= len(failed)
    assert report.suspects.options[0].term == ("extreme",)


def test_a_program_that_always_fails_is_never_green() -> None:
    report = pull_request(job_of(subject(), bench(fails=lambda _c: "exit")))
    assert report.verdict == "inconclusive"
    assert not report.measured
    assert all(c.state == "failed" for c in report.configurations)


def test_a_signal_gives_a_partial_report_that_says_so() -> None:
    report = pull_request(job_of(subject(), bench(stop_after=5)))
    assert report.interrupted == "signal"
    assert report.spent.pairs <= 5
    assert report.verdict == "inconclusive"


def test_a_budget_of_one_pair_ends_in_an_honest_report() -> None:
    report = pull_request(job_of(subject(), bench(seconds=50.0)))
    assert report.spent.pairs <= 1
    assert report.verdict == "inconclusive"


def test_a_budget_that_holds_no_pair_measures_nothing() -> None:
    report = pull_request(job_of(subject(), bench(budget=0.0)))
    assert report.verdict == "inconclusive"
    assert not report.measured


def test_this_runs_own_noise_is_stated_from_base_against_base() -> None:
    report = pull_request(job_of(subject(), bench(noise=0.02)))
    noise = report.environment.noise[0]
    assert noise.metric == "cpu"
    assert noise.pairs >= 20
    assert noise.sd_percent == pytest.approx(100 * 0.02 * 2**0.5, rel=0.6)


def test_a_waiting_program_gets_a_wall_clock_track() -> None:
    waiting = bench(truth={"cpu": unchanged, "wall": extreme_slower}, cpu_share=0.5, budget=120.0)
    report = pull_request(job_of(subject(), waiting))
    assert {w.track for w in waiting.asked} == {"duet", "wall"}
    assert any(e.metric == "wall" and e.term == ("extreme",) for e in report.suspects.options)


def test_wall_time_is_the_primary_metric_of_a_parallel_program() -> None:
    wall = bench(truth={"cpu": unchanged, "wall": extreme_slower}, budget=120.0)
    report = pull_request(job_of(subject(program={"parallel": True}), wall))
    assert report.primary_metric == "wall"
    assert {w.track for w in wall.asked} == {"wall"}
    assert report.suspects.options[0].term == ("extreme",)


def test_instructions_are_counted_only_on_flagged_configurations() -> None:
    truth = {"cpu": extreme_slower, "instructions": extreme_slower}
    counting = bench(truth=truth)
    report = pull_request(job_of(subject(metrics=["cpu", "instructions"]), counting))
    counted = [w for w in counting.asked if w.track == "instructions"]
    assert 1 <= len(counted) <= 3
    exact = [c for c in report.configurations if c.metric == "instructions"]
    assert all(c.state == "slower" and c.options["extreme"] for c in exact)
    assert len(exact) == len(counted)


def test_a_flagged_configuration_can_be_reproduced_by_its_commands() -> None:
    report = pull_request(
        job_of(subject(program={"build": "make -j2"}), bench(truth={"cpu": extreme_slower}))
    )
    commands = "\n".join(report.reproduce[0].commands)
    assert "make -j2" in commands
    assert "./xz --extreme" in commands
    assert "b" * 40 in commands


def test_a_throughput_that_falls_is_a_regression() -> None:
    falling = bench(truth={"cpu": unchanged, "rate": lambda c: 0.9 if c[1] else 1.0}, budget=60.0)
    metrics = ["cpu", {"rate": {"regex": r"rate=(\d+)", "better": "higher"}}]
    report = pull_request(job_of(subject(metrics=metrics), falling))
    assert report.verdict == "regression"
    assert report.suspects.options[0].metric == "rate"
    assert report.suspects.options[0].term == ("check",)
    assert report.suspects.options[0].ratio < 1
