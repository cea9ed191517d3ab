"""Runners that are not alike: what is combined, what is kept apart, and what only some of them show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bot.analysis.machines.merging import (
    STRESSOR_OF,
    Place,
    RunnerChange,
    combined,
    confidence,
    counts_by_place,
    only_on,
    predicted_change,
)
from bot.model.machines import REPRESENTATIVES
from bot.model.resources import SOURCE_OF

X86, ARM = Place("x86_64", "debian 12"), Place("aarch64", "debian 12")


def runner(change: float, error: float = 0.01, kind: str = "amd") -> RunnerChange:
    return RunnerChange(f"{kind}-{change}", kind, change, error)


def test_counts_are_never_averaged_over_places() -> None:
    counts, drifts = counts_by_place([(X86, {"instructions": 1e9}), (ARM, {"instructions": 2e9})])
    assert counts == {X86: {"instructions": 1e9}, ARM: {"instructions": 2e9}} and drifts == []


def test_a_count_on_which_one_place_disagrees_is_drift_and_has_no_value() -> None:
    same = {"page_faults": 500.0}
    counts, (drift,) = counts_by_place(
        [(X86, {"instructions": 1e9, **same}), (X86, {"instructions": 1.2e9, **same})]
    )
    assert drift == (X86, "instructions", (1e9, 1.2e9)) and counts == {X86: same}


def test_a_count_within_the_tolerance_is_one_that_was_counted() -> None:
    counts, drifts = counts_by_place([(X86, {"waits": value}) for value in (1000.0, 1001.0, 1003.0)])
    assert counts[X86]["waits"] == 1001.0 and drifts == []


def test_runners_that_agree_are_known_better_together() -> None:
    one, four = combined([runner(0.1, 0.02)]), combined([runner(0.1, 0.02)] * 4)
    assert one.ratio == pytest.approx(math.exp(0.1)) == pytest.approx(four.ratio)
    assert one.interval[0] == pytest.approx(math.exp(0.1 - 1.96 * 0.02), rel=1e-4)
    assert four.interval[1] - four.interval[0] < one.interval[1] - one.interval[0]
    assert four.spread == 0 and four.alike == 1


def test_the_spread_is_that_of_a_worked_example() -> None:
    """By hand: weights 100, 25, 100; mean 16/90; Q = 8.56; DerSimonian and Laird's variance 0.0472."""
    found = combined([runner(0.0, 0.1), runner(0.2, 0.2), runner(0.4, 0.1)])
    assert found.spread**2 == pytest.approx((8.0 - 2) / (225 - 20625 / 225), rel=1e-9)
    assert found.ratio == pytest.approx(math.exp(0.2)) and found.alike == pytest.approx(math.exp(-4.0))


def test_the_interval_has_the_truth_as_often_as_it_says() -> None:
    rng, inside = np.random.default_rng(5), 0
    for _ in range(400):
        errors = rng.uniform(0.005, 0.03, 5)
        truths = 0.05 + rng.normal(0, 0.03, 5)
        low, high = combined(
            [runner(float(rng.normal(t, e)), float(e)) for t, e in zip(truths, errors, strict=True)]
        ).interval
        inside += low <= math.exp(0.05) <= high
    assert inside >= 0.91 * 400


def test_an_error_of_nothing_is_refused() -> None:
    for changes in ([], [runner(0.1, 0.0)], [runner(0.1, float("nan"))]):
        with pytest.raises(ValueError, match="positive standard error"):
            combined(changes)


def test_a_change_on_one_kind_of_machine_only_is_said_once_the_others_are_known() -> None:
    slow, same = [runner(0.2), runner(0.21)], [runner(c, 0.002, "intel") for c in (0.0, 0.001, 0.0)]
    assert only_on([*slow, *slow, *same], margin=0.03) == ["amd"]
    assert only_on([*slow, *slow, runner(0.0, 0.1, "intel")], margin=0.03) == []
    assert only_on([*slow, *slow, runner(0.2, 0.01, "intel")], margin=0.03) == []
    assert only_on(same, margin=0.03) == []


def test_a_change_costs_more_where_what_it_needs_is_slower() -> None:
    reference, machine = {"mmap": 4.0, "cpu": 100.0}, {"mmap": 2.0, "cpu": 200.0}
    costs = {"page_faults": 5e-7, "instructions": 1e-10}
    faults = predicted_change({"page_faults": 1e6}, costs, reference, machine)  # type: ignore[arg-type]
    work = predicted_change({"instructions": 1e9}, costs, reference, machine)  # type: ignore[arg-type]
    assert faults == pytest.approx(1.0) and work == pytest.approx(0.05)
    assert predicted_change({"ipc_calls": 10}, {"ipc_calls": 1e-6}, reference, machine) == pytest.approx(1e-5)


def test_every_count_has_a_stressor_that_fingerprints_have() -> None:
    assert set(STRESSOR_OF) == set(SOURCE_OF) and set(STRESSOR_OF.values()) <= set(REPRESENTATIVES)


def test_confidence_is_the_correlation_of_ranks() -> None:
    assert confidence([1, 2, 3, 40], [0.1, 0.2, 0.3, 0.4]) == pytest.approx(1.0)
    assert confidence([4, 3, 2, 1], [1, 2, 3, 4]) == pytest.approx(-1.0)
    assert confidence([1, 2], [1, 2]) is None and confidence([1, 1, 1, 1], [1, 2, 3, 4]) is None
