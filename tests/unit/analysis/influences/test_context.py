"""Where a method's variation comes from, and what goes with its slow calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.influences.context import variations
from bot.analysis.influences.watched import newest, watched_trials
from bot.analysis.published.influences.fine import fine_costs
from bot.model.duration_history import DurationRecorder, DurationTable
from bot.model.profiles import CallSeries, Method, Profile, Tool
from bot.model.report import RevisionRef
from bot.model.variation import ContextFactor, Variation
from tests.profiled import SPACE, drawn, record
from tests.unit.analysis.influences.programs import Program, measured
from tests.unit.analysis.influences.programs import drawn as drawn_programs

WORK, LEFT, RIGHT = Method("work", "w.c"), Method("left", "w.c"), Method("right", "w.c")
TOOL = Tool("watcher", "1", "fine", frozenset())
NONE = np.empty(0)


def calls(seconds: np.ndarray, *path: Method, given: tuple[str, ...] = ()) -> CallSeries:
    told = tuple((one,) for one in given)
    return CallSeries(WORK, path, len(seconds), seconds.sum(), seconds, NONE, NONE.astype(np.int64), told)


def night(number: int, *trials: list[CallSeries]) -> DurationTable:
    """Watched trials of different configurations, in which RIGHT is known not to be called."""
    recorder = DurationRecorder()
    revision = RevisionRef(revision=f"{number:040x}", label=f"v{number}")
    for configuration, series in zip(drawn(len(trials)), trials, strict=True):
        profile = Profile(TOOL, "ok", 1.0, series=series)
        recorder.add(profile, revision, SPACE.as_dict(configuration), uncalled=(RIGHT,))
    return recorder.table(record(number))


def of(table: DurationTable) -> Variation:
    (found,) = variations(table, None, ["work"])
    return found


def factors(table: DurationTable) -> dict[str, ContextFactor]:
    return {factor.by: factor for factor in of(table).factors}


def test_the_context_variation_is_that_of_the_calls_of_a_run() -> None:
    rng = np.random.default_rng(1)
    # Runs differ tenfold, which is no variation of context; within each the deviation is 30 %.
    table = night(0, *([calls(scale * rng.normal(1.0, 0.3, 2000).clip(0.1))] for scale in (0.001, 0.01)))
    found = of(table)
    assert found.context == pytest.approx(0.3, rel=0.1)
    assert (found.calls, found.trials, found.measurement, found.factors) == (4000, 2, None, ())


def test_the_longest_calls_are_no_variation_of_the_context() -> None:
    rng = np.random.default_rng(1)
    seconds = 0.001 * rng.normal(1.0, 0.3, 2000).clip(0.1)
    quiet = of(night(0, [calls(seconds)])).context
    seconds[rng.choice(2000, 20, replace=False)] = 3.0
    assert quiet is not None and of(night(0, [calls(seconds)])).context == pytest.approx(quiet, rel=0.1)


def test_arguments_that_go_with_slow_calls_are_told_with_their_share() -> None:
    rng = np.random.default_rng(2)
    large = rng.random(3000) < 0.2
    seconds = np.where(large, 0.01, 0.001) * rng.lognormal(0, 0.1, 3000)
    given = tuple("n=int ~2^20" if one else "n=int 7" for one in large)
    both = [calls(seconds[:1500], LEFT, given=given[:1500]), calls(seconds[1500:], RIGHT, given=given[1500:])]
    found = factors(night(0, both))
    assert found["arguments"].share > 0.95 and found["callers"].share < 0.01
    slowest = found["arguments"].slowest
    assert [group.value for group in slowest] == ["n=int ~2^20"]
    assert slowest[0].calls == large.sum() and slowest[0].seconds == pytest.approx(0.01, rel=0.05)
    assert slowest[0].times == pytest.approx(10**0.8, rel=0.1)


def test_one_interrupted_call_is_not_what_slow_calls_have_in_common() -> None:
    rng = np.random.default_rng(6)
    kind = rng.integers(0, 20, 2000)
    seconds = np.where(kind < 4, 3e-4, 1e-4) * rng.lognormal(0, 0.1, 2000)
    seconds[17] = 0.5
    found = factors(night(0, [calls(seconds, given=tuple(f"n=int {k}" for k in kind))]))
    assert {group.value for group in found["arguments"].slowest} <= {f"n=int {k}" for k in range(4)}
    assert found["arguments"].share > 0.7


def test_callers_that_go_with_slow_calls_are_told() -> None:
    rng = np.random.default_rng(3)
    trial = [calls(0.01 * rng.lognormal(0, 0.3, 500), LEFT), calls(0.001 * rng.lognormal(0, 0.3, 500), RIGHT)]
    found = factors(night(0, trial, trial))
    assert found["callers"].share > 0.9 and found["callers"].slowest[0].value == "left"
    assert "arguments" not in found


def test_groups_that_mean_nothing_explain_nothing_however_many_they_are() -> None:
    rng = np.random.default_rng(4)
    given = tuple(f"n=int {i % 25}" for i in range(100))
    found = factors(night(0, *([calls(rng.lognormal(-7, 1, 100), given=given)] for _ in range(5))))
    assert found["arguments"].share < 0.15


def test_a_method_that_was_not_watched_keeps_what_the_coarse_profiler_says() -> None:
    rng = np.random.default_rng(5)
    program: Program = {"work": {"seconds": lambda c: 2.0 if c["compress"] else 1.0}}
    costs = measured(drawn_programs(50, rng), program, noise=0.05, rng=rng)
    (found,) = variations(DurationTable.empty(), costs, ["work"])
    assert found.measurement == pytest.approx(0.05, rel=0.2)
    assert found.configuration == pytest.approx(1 / 3, rel=0.1)
    assert (found.context, found.calls, found.by_context) == (None, 0, False)


def test_context_dominates_where_calls_differ_more_than_configurations_and_repetitions() -> None:
    known = Variation(method="m", measurement=0.1, configuration=0.4, context=0.5)
    assert known.by_context
    assert not replace_context(known, 0.3).by_context and not replace_context(known, None).by_context


def replace_context(known: Variation, context: float | None) -> Variation:
    return known.model_copy(update={"context": context})


def test_only_the_newest_revision_counts() -> None:
    old, new = night(0, [calls(np.array([1.0, 2.0]))]), night(1, [calls(np.array([0.1, 0.2, 0.3]))])
    found = newest(DurationTable.concatenated([new, old]))
    assert found.count.sum() == 3 and {found.runs[r].id for r in found.run} == {"night-1"}
    assert len(newest(DurationTable.empty())) == 0


def test_watched_trials_become_a_cost_table_without_the_longest_calls() -> None:
    seconds = np.array([0.001] * 990 + [5.0] * 10)
    table = night(0, [calls(seconds)], [calls(seconds[:100])])
    trials = watched_trials(SPACE, table)
    assert [trial.known for trial in trials] == [frozenset({"work", "right"})] * 2
    costs = fine_costs(SPACE, [(t.configuration, [t.series]) for t in trials])
    assert costs.methods == ("work",)
    assert costs.quantities["seconds"][:, 0, 0] == pytest.approx([0.99, 0.099], rel=0.03)
    assert costs.quantities["calls"][:, 0, 0].tolist() == [990, 99]


def test_calls_without_durations_are_not_known_and_configurations_of_another_space_are_left_out() -> None:
    counted = CallSeries(WORK, (), 12, 0.0, NONE, NONE, NONE.astype(np.int64))
    (trial,) = watched_trials(SPACE, night(0, [counted]))
    assert trial.known == {"right"} and trial.series == ()
    table = night(0, [calls(np.array([0.1]))])
    other = replace(table, configurations=({"items": 77},))
    assert watched_trials(SPACE, other) == []


def test_calls_of_which_only_the_sum_is_known_are_learnt_from_and_tell_no_variation() -> None:
    summed = [CallSeries(WORK, (), calls, 0.5, NONE, NONE, NONE.astype(np.int64)) for calls in (10, 20)]
    table = night(0, [summed[0]], [summed[1]])
    trials = watched_trials(SPACE, table)
    assert [trial.known for trial in trials] == [frozenset({"work", "right"})] * 2
    costs = fine_costs(SPACE, [(t.configuration, [t.series]) for t in trials])
    assert costs.quantities["seconds"][:, 0, 0] == pytest.approx([0.5, 0.5])
    assert costs.quantities["calls"][:, 0, 0].tolist() == [10, 20]
    assert of(table).context is None
