"""What pairs amount to before and besides the estimator."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.analysis.diagnose import Rule
from bot.flows.run.evidence import Evidence
from bot.model.trials import Pair, Side, Track, Trial, Wish

CPU, WALL = Rule("cpu", "lower", 0.01), Rule("wall", "lower", 0.01)


def pair(
    head: Mapping[str, float],
    *,
    base: Mapping[str, float] | None = None,
    control: bool = False,
    track: Track = "duet",
    busy: float | None = None,
) -> Pair:
    sides: tuple[Side, Side] = ("base", "base") if control else ("base", "head")
    alone: Mapping[Side, tuple[float, float]] | None = None if busy is None else {"base": (busy, 1.0)}
    first = Trial("ok", base or dict.fromkeys(head, 1.0), 0)
    return Pair(Wish((True,), sides, track), first, Trial("ok", head, 0), 0.1, alone)


def test_a_pair_cut_by_the_budget_is_neither_a_measurement_nor_a_failure() -> None:
    evidence = Evidence([CPU], frozenset())
    evidence.observe(Pair(Wish((True,)), Trial("ok", {"cpu": 1.0}, 0), Trial("cut"), 0.1))
    assert (evidence.trials, evidence.pairs, evidence.failed_trials) == (0, 0, 0)


def test_a_failed_trial_is_counted_and_its_side_named() -> None:
    evidence = Evidence([CPU], frozenset())
    evidence.observe(Pair(Wish((True,)), Trial("ok", {}, 0), Trial("exit", {}, 2, detail="exit code 2"), 0.1))
    assert evidence.failed_trials == 1
    assert evidence.failures[(True,)] == "head: exit code 2"


def test_an_error_that_both_sides_have_is_told_once() -> None:
    evidence = Evidence([CPU], frozenset())
    failed = Trial("exit", {}, 2, detail="exit code 2")
    evidence.observe(Pair(Wish((True,)), failed, failed, 0.1))
    assert evidence.failures[(True,)] == "base and head: exit code 2"


def test_an_error_that_names_a_temporary_file_is_the_same_on_both_sides() -> None:
    evidence = Evidence([CPU], frozenset())
    base, head = (Trial("exit", {}, 1, detail=f"exit code 1: denied: /tmp/h{n}.db") for n in (4291, 5361))
    evidence.observe(Pair(Wish((True,)), base, head, 0.1))
    assert evidence.failures[(True,)] == "base and head: exit code 1: denied: /tmp/h4291.db"


def test_unlike_exit_codes_are_two_errors() -> None:
    evidence = Evidence([CPU], frozenset())
    base, head = (Trial("exit", {}, n, detail=f"exit code {n}") for n in (1, 134))
    evidence.observe(Pair(Wish((True,)), base, head, 0.1))
    assert evidence.failures[(True,)] == "base: exit code 1; head: exit code 134"


def test_that_both_sides_fail_is_told_although_a_control_failed_first() -> None:
    evidence = Evidence([CPU], frozenset())
    failed = Trial("exit", {}, 1, detail="exit code 1")
    evidence.observe(Pair(Wish((True,), ("base", "base")), failed, failed, 0.1))
    assert evidence.failures[(True,)] == "base: exit code 1"
    evidence.observe(Pair(Wish((True,)), failed, failed, 0.1))
    evidence.observe(Pair(Wish((True,)), Trial("ok", {"cpu": 1.0}, 0), failed, 0.1))
    assert evidence.failures[(True,)] == "base and head: exit code 1"
    assert evidence.failed_pairs[(True,)] == 3


def test_different_exit_codes_are_a_failure_although_both_are_allowed() -> None:
    evidence = Evidence([CPU], frozenset())
    evidence.observe(Pair(Wish((True,)), Trial("ok", {"cpu": 1.0}, 0), Trial("ok", {"cpu": 1.0}, 1), 0.1))
    assert evidence.failures[(True,)] == "exit codes differ: base 0, head 1"
    assert not evidence.pairs


def test_controls_state_the_noise_and_never_reach_the_decision() -> None:
    evidence = Evidence([CPU], frozenset())
    for value in (0.98, 1.0, 1.02, 1.0):
        evidence.observe(pair({"cpu": value}, control=True))
    noise = evidence.noise()[0]
    assert noise.pairs == 4
    assert noise.sd_percent == pytest.approx(1.5, abs=0.3)
    assert evidence.pairs == 0


def test_too_few_controls_state_no_noise() -> None:
    evidence = Evidence([CPU], frozenset())
    evidence.observe(pair({"cpu": 1.1}, control=True))
    assert evidence.noise()[0].sd_percent is None


def test_wall_time_of_a_duet_is_not_believed() -> None:
    evidence = Evidence([CPU, WALL], frozenset({"wall"}))
    for _ in range(3):
        evidence.observe(pair({"cpu": 1.0, "wall": 2.0}, control=True))
    assert [n.pairs for n in evidence.noise()] == [3, 0]


def test_cpu_time_of_the_wall_clock_track_is_left_to_the_duets() -> None:
    evidence = Evidence([CPU, WALL], frozenset({"wall"}))
    for _ in range(3):
        evidence.observe(pair({"cpu": 1.0, "wall": 2.0}, control=True, track="wall"))
    assert [n.pairs for n in evidence.noise()] == [0, 3]


def test_a_program_that_is_mostly_busy_does_not_wait() -> None:
    evidence = Evidence([CPU], frozenset())
    for busy in (0.95, 0.99, 0.3):
        evidence.observe(pair({"cpu": 1.0}, busy=busy))
    assert not evidence.waiting(0.8)


def test_a_program_that_mostly_sleeps_waits() -> None:
    evidence = Evidence([CPU], frozenset())
    for busy in (0.2, 0.3, 0.9):
        evidence.observe(pair({"cpu": 1.0}, busy=busy))
    assert evidence.waiting(0.8)


def test_a_metric_of_zero_gives_no_ratio() -> None:
    evidence = Evidence([CPU], frozenset())
    evidence.observe(pair({"cpu": 0.0}, control=True))
    assert evidence.noise()[0].pairs == 0
