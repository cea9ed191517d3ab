"""Simulated pairs come from a function or a table, on a clock that counts every trial."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.adapters.simulated.bench import FIRST_FAILURE_SECONDS, SimulatedBench, simulated_comparison
from bot.adapters.simulated.revisions import SimulatedRange
from bot.adapters.simulated.sources import (
    CallableSource,
    TableSource,
    load_callable,
    load_source,
)
from bot.model.change_points import Probe
from bot.model.errors import UsageError
from bot.model.space import Configuration
from bot.model.subject import CallableProgram, ChoiceOption, FlagOption, NumberOption, Subject, TableProgram
from bot.model.trials import Pair, Side, Wish

FLAGS = {"a": FlagOption(flag="-a"), "b": FlagOption(flag="-b")}
PROGRAM = TableProgram(table="t.csv", revision="commit", metric="perf")


def bench_of(function: Any, *, budget: float = 1e9, revisions: int = 10) -> SimulatedBench:
    """A bench for revision 0 against 1 of a function."""
    source = CallableSource(function, "m:f", revisions)
    comparison = simulated_comparison("0", "1", source.revisions)
    return SimulatedBench(source, comparison, budget=budget, rng=np.random.default_rng(1))


def table(path: Path, text: str, options: Mapping[str, Any] | None = None) -> TableSource:
    """A table of this text."""
    (path / "t.csv").write_text(text)
    source = load_source(Subject(program=PROGRAM, options=dict(options or FLAGS)), path)
    assert isinstance(source, TableSource)
    return source


def measured(source: TableSource, wishes: Sequence[Wish], base: str = "0", head: str = "1") -> list[Pair]:
    """The pairs of a table bench without a budget."""
    comparison = simulated_comparison(base, head, source.revisions)
    bench = SimulatedBench(source, comparison, budget=1e9, rng=np.random.default_rng(1))
    return list(bench.measure(iter(wishes)))


def values(pair: Pair, metric: str = "perf") -> tuple[float, float]:
    """Both values of a pair."""
    return pair.first.metrics[metric], pair.second.metrics[metric]


def test_a_function_is_asked_for_one_configuration_at_a_revision() -> None:
    asked: list[tuple[int, list[list[int]]]] = []

    def function(revision: int, configurations: Any) -> Any:
        asked.append((revision, configurations.tolist()))
        assert configurations.dtype.kind == "i"
        configurations[:] = 9  # what it does to its argument is its own affair
        return np.full(len(configurations), 1.0 + revision)

    bench = bench_of(function)
    wishes = [Wish((False, True)), Wish((False, True), sides=("head", "head")), Wish((True, True))]
    pairs = list(bench.measure(iter(wishes)))
    assert [values(p, "cpu") for p in pairs] == [(1.0, 2.0), (2.0, 2.0), (1.0, 2.0)]
    assert [p.wish for p in pairs] == wishes
    assert sorted(asked[:2]) == [(0, [[0, 1]]), (1, [[0, 1]])]
    assert bench.elapsed() == 10.0
    assert [p.seconds for p in pairs] == [3.0, 4.0, 3.0]
    assert all(p.ok for p in pairs)
    assert bench.slots == 1 and not bench.stopped()


def test_the_start_order_is_random() -> None:
    first: list[int] = []

    def function(revision: int, configurations: Any) -> Any:
        first.append(revision)
        return np.ones(1)

    bench = bench_of(function)
    list(bench.measure(iter([Wish((True, True))] * 400)))
    assert 150 < Counter(first[::2])[0] < 250


def test_a_failed_trial_costs_the_median_so_far() -> None:
    series = iter([float("nan"), 2.0, 4.0, 8.0, 3.0, float("nan"), float("inf"), -1.0])
    bench = bench_of(lambda revision, c: [next(series)])
    pairs = list(bench.measure(iter([Wish((True, True))] * 4)))
    costs = [FIRST_FAILURE_SECONDS + 2.0, 12.0, 3.0 + 3.5, 3.5 + 3.5]
    assert [p.seconds for p in pairs] == costs
    assert [p.ok for p in pairs] == [False, True, False, False]
    assert not any(p.cut for p in pairs)


@pytest.mark.parametrize(("budget", "whole", "cut"), [(10.0, 5, 0), (9.0, 4, 1), (0.5, 0, 1)])
def test_no_trial_starts_once_the_budget_is_spent(budget: float, whole: int, cut: int) -> None:
    bench = bench_of(lambda revision, c: [1.0], budget=budget)
    sides: tuple[tuple[Side, Side], ...] = (("base", "base"), ("base", "head"))
    endless = (Wish((True, True), sides=sides[i % 2]) for i in range(1000))
    pairs = list(bench.measure(endless))
    assert (sum(p.ok for p in pairs), sum(p.cut for p in pairs)) == (whole, cut)
    assert budget <= bench.elapsed() < budget + 1.0


def test_a_stop_ends_the_run() -> None:
    source = CallableSource(lambda revision, c: [1.0], "m:f", 2)
    comparison = simulated_comparison("0", "1", source.revisions)
    bench = SimulatedBench(source, comparison, budget=9, rng=np.random.default_rng(1), stop=lambda: True)
    assert list(bench.measure(iter([Wish((True,))]))) == []
    assert bench.stopped()


def test_a_flow_that_waits_for_nothing_is_not_waited_for() -> None:
    bench = bench_of(lambda revision, c: [1.0])

    def wishes() -> Iterator[Wish | None]:
        yield None
        yield Wish((True, True))
        while True:
            yield None

    assert len(list(bench.measure(wishes()))) == 1


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (1.0, r"shape \(\)"),
        ([1.0, 2.0], r"shape \(2,\)"),
        ([[1.0]], r"shape \(1, 1\)"),
        ("fast", "not str"),
        (None, r"shape \(\)"),
        ([object()], "not list"),
    ],
)
def test_a_function_that_returns_something_else_is_one_line(returned: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        list(bench_of(lambda revision, c: returned).measure(iter([Wish((True, True))])))


def test_a_function_that_raises_is_one_line() -> None:
    def function(revision: int, configurations: Any) -> Any:
        raise KeyError("first\nsecond")

    with pytest.raises(UsageError, match=r"m:f raised at revision \d: KeyError: 'first.*second'") as caught:
        list(bench_of(function).measure(iter([Wish((True, True))])))
    assert "\n" not in str(caught.value)


def test_a_callable_lies_beside_the_configuration_file(tmp_path: Path) -> None:
    (tmp_path / "statistics.py").write_text(
        "import neighbour_of_statistics as other\n"
        "def run(revision, configurations):\n    return configurations.sum(axis=1) + other.ONE\n"
    )
    (tmp_path / "neighbour_of_statistics.py").write_text("ONE = 1.0\n")
    program = CallableProgram(callable="statistics:run", revisions=3)
    real = sys.modules.get("statistics")
    try:
        source = load_source(Subject(program=program, options=dict(FLAGS)), tmp_path)
    finally:
        sys.path.remove(str(tmp_path))
        if real is not None:
            sys.modules["statistics"] = real
    assert source.revisions == ("0", "1", "2")
    assert list(source.draw((True, True), (0, 1), np.random.default_rng(1))) == [3.0, 3.0]


@pytest.mark.parametrize(
    ("named", "text", "message"),
    [
        ("absent:run", "", "there is no .*absent.py"),
        ("module_one:run", "x = 1", "has no function 'run'"),
        ("module_two:run", "run = 5", "has no function 'run'"),
        ("module_three:run", "def run(:", "importing module_three.py failed: SyntaxError"),
        ("module_four:run", "raise SystemExit(3)", "importing module_four.py failed: SystemExit: 3"),
        ("module_five", "def run(): ...", "has no function ''"),
    ],
)
def test_a_callable_that_cannot_be_had_is_one_line(
    tmp_path: Path, named: str, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    if text:
        (tmp_path / f"{named.partition(':')[0]}.py").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_callable(named, tmp_path)


def test_a_table_gives_its_values_and_its_failed_trials(tmp_path: Path) -> None:
    source = table(tmp_path, "a,b,commit,perf\n0,0,x,1.5\n0,0,y,3\n1,0,x,2\n1,0,y,\n")
    pairs = measured(source, [Wish((False, False)), Wish((True, False))])
    assert values(pairs[0]) == (1.5, 3.0)
    assert pairs[1].first.ok and not pairs[1].second.ok and not pairs[1].cut
    assert source.revisions == ("x", "y")


def test_revisions_that_are_numbers_are_in_their_order(tmp_path: Path) -> None:
    source = table(tmp_path, "a,b,commit,perf\n0,0,10,1\n0,0,9,2\n0,0,2,3\n")
    assert source.revisions == ("2", "9", "10")
    assert values(measured(source, [Wish((False, False))], "0", "2")[0]) == (3.0, 1.0)


def test_a_wish_is_served_by_the_nearest_configuration_known_at_both(tmp_path: Path) -> None:
    text = "a,b,commit,perf\n0,0,x,1\n0,0,y,2\n1,1,x,5\n1,1,y,6\n1,0,x,9\n"
    source = table(tmp_path, text)
    wishes = [Wish((True, True)), Wish((True, False)), Wish((True, False), sides=("base", "base"))]
    pairs = measured(source, wishes)
    assert [p.wish.configuration for p in pairs] == [(True, True), (False, False), (False, False)]
    assert [values(p) for p in pairs] == [(5.0, 6.0), (1.0, 2.0), (1.0, 1.0)]
    comparison = simulated_comparison("0", "1", source.revisions)
    bench = SimulatedBench(source, comparison, budget=1, rng=np.random.default_rng(1))
    assert bench.served((True, False)) == (False, False)


def test_repeated_rows_are_drawn_at_random_and_a_control_takes_two_different_ones(tmp_path: Path) -> None:
    rows = "".join(f"0,0,{c},{v}\n" for c, v in (("x", 1), ("x", 2), ("x", 3), ("y", 4), ("y", 5)))
    source = table(tmp_path, "a,b,commit,perf\n" + rows)
    here: Configuration = (False, False)
    pairs = [values(p) for p in measured(source, [Wish(here)] * 200)]
    assert set(pairs) == {(float(x), float(y)) for x in (1, 2, 3) for y in (4, 5)}
    control = [values(p) for p in measured(source, [Wish(here, sides=("base", "base"))] * 200)]
    assert set(control) == {(float(x), float(y)) for x in (1, 2, 3) for y in (1, 2, 3) if x != y}


def test_option_columns_hold_flags_values_or_levels(tmp_path: Path) -> None:
    options = {
        "a": FlagOption(flag="-a"),
        "mf": ChoiceOption(choice={"hc3": "", "hc4": ""}),
        "n": NumberOption(number=(0, 3, 6)),
    }
    text = "commit,perf,a,mf,n,other\n0,1,1,hc4,3,z\n0,2,!a,mf=hc3,6.0,z\n0,3,True,hc3,n=0,z\n"
    source = table(tmp_path, text, options)
    pairs = measured(
        source, [Wish((True, "hc4", 3)), Wish((False, "hc3", 6)), Wish((True, "hc3", 0))], "0", "0"
    )
    assert [values(p)[0] for p in pairs] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column commit is missing"),
        ("a,b,commit\n", "column perf is missing; columns: a, b, commit"),
        ("a,commit,perf\n", "column b is missing"),
        ("a,b,b,commit,perf\n", "column b is there twice"),
        ("a,b,commit,perf\n0,0,x,\n", "column perf holds no measurement"),
        ("a,b,commit,perf\n", "column perf holds no measurement"),
        ("a,b,commit,perf\n0,0,x,fast\n", r"t.csv:2: perf is 'fast', not a number"),
        ("a,b,commit,perf\n0,7,x,1\n", r"t.csv:2: b is '7'; allowed: false, true"),
        ("a,b,commit,perf\n0,0,x,1\n0,0,x\n", r"t.csv:3: 3 cells instead of 4"),
        ('a,b,commit,perf\n0,0,x,"1\n', "the table cannot be read"),
    ],
)
def test_a_wrong_table_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        table(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_values_that_are_too_large_for_seconds_count_by_their_median_and_that_is_said(tmp_path: Path) -> None:
    counts = "commit,a,b,perf\n0,0,0,4000000\n1,0,0,5000000\n0,1,0,\n1,1,0,6000000\n"
    source = table(tmp_path, counts)
    assert source.second == 5_000_000 and source.unit == "metric"
    comparison = simulated_comparison("0", "1", source.revisions)
    bench = SimulatedBench(source, comparison, budget=10.0, rng=np.random.default_rng(1))
    pairs = list(bench.measure(iter([Wish((False, False))] * 50)))
    assert values(pairs[0]) == (4e6, 5e6) and len(pairs) == 6 and bench.elapsed() == pytest.approx(10.0)
    assert "5,000,000 of perf, a median trial, count as a second" in bench.notes()[1]
    line = SimulatedRange(source, first=0, rng=np.random.default_rng(1), budget=3.0)
    asked = [Probe((flag, False), revision) for flag in (False, True) for revision in (0, 1)]
    assert [o.value for o in line.measure(asked)][:2] == [4e6, 5e6]
    assert line.spent().seconds == pytest.approx(0.8 + 1.0 + 0.9 + 1.2) and line.notes() == bench.notes()


def test_a_budget_holds_no_more_trials_than_a_machine_could_start() -> None:
    bench = bench_of(lambda _, configurations: np.full(len(configurations), 1e-9), budget=1.0)
    pairs = list(bench.measure(iter([Wish((False, False))] * 1000)))
    assert len(pairs) == 50 and values(pairs[0], "cpu") == (1e-9, 1e-9)


def test_values_that_may_be_seconds_are(tmp_path: Path) -> None:
    source = table(tmp_path, "commit,a,b,perf\n0,0,0,59\n1,0,0,60\n")
    assert source.second == 1.0 and source.unit == "seconds"
    assert len(measured(source, [Wish((False, False))])) == 1


def test_a_table_that_is_missing_or_measured_nothing_twice_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_source(Subject(program=PROGRAM, options=dict(FLAGS)), tmp_path)
    source = table(tmp_path, "a,b,commit,perf\n0,0,x,1\n1,0,y,1\n")
    with pytest.raises(UsageError, match="no configuration was measured at both x and y"):
        measured(source, [Wish((True, True))])


@pytest.mark.parametrize("word", ["10", "-1", "01x", "", "¹", "HEAD"])
def test_a_revision_that_does_not_exist_is_one_line(word: str) -> None:
    with pytest.raises(UsageError, match="they are 0 to 9"):
        simulated_comparison("0", word, [str(i) for i in range(10)])


def test_revisions_are_numbers_or_labels() -> None:
    comparison = simulated_comparison("v2", "0", ["v1", "v2"])
    assert (comparison.base.id, comparison.base.label, comparison.head.id) == ("1", "v2", "0")
    assert not comparison.same_tree
    assert simulated_comparison("1", "1", ["v1", "v2"]).same_tree


def test_each_repetition_of_a_table_comes_once_before_one_comes_again(tmp_path: Path) -> None:
    rows = [f"{r},0,0,{1 + r + i / 10}" for r in (0, 1) for i in range(3)]
    source = table(tmp_path, "\n".join(["commit,a,b,perf", *rows]) + "\n")
    pairs = [values(pair) for pair in measured(source, [Wish((False, False))] * 6)]
    for turn in (pairs[:3], pairs[3:]):
        assert sorted(base for base, _ in turn) == [1.0, 1.1, 1.2]
        assert sorted(head for _, head in turn) == [2.0, 2.1, 2.2]
