from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.influences.costs import Quantity
from bot.analysis.published.influences.coarse import CoarseModels
from bot.analysis.published.influences.fine import fine_costs, summary
from bot.analysis.published.influences.forests import ForestInfluences
from bot.analysis.published.influences.pipeline import PublishedInfluences
from bot.model.profiles import CallSeries, Method
from bot.model.space import Configuration
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.published.influences import influence_sample
from tests.unit.analysis.influences.programs import SPACE, Cost, drawn, measured


def _series(durations: np.ndarray, name: str = "m") -> CallSeries:
    return CallSeries(
        Method(name),
        (),
        len(durations),
        float(durations.sum()),
        durations,
        np.zeros(0),
        np.zeros(0, np.int64),
    )


def test_trees_learn_a_switched_method_and_the_filter_keeps_what_is_hard_and_matters() -> None:
    rng = np.random.default_rng(1)
    erratic = iter(rng.pareto(0.8, 1000) + 1.0)
    found = measured(
        drawn(60, rng),
        {
            "easy": {"seconds": lambda c: 9.0 if c["compress"] else 1.0},
            "hard": {"seconds": lambda _: next(erratic)},
            "hard but short": {"seconds": lambda _: 1e-4 * next(erratic)},
        },
        rng=rng,
    )
    models = CoarseModels(rng=rng).fit(found)
    assert models.errors_["seconds"][0] < 0.01
    assert models.hard_.tolist() == [False, True, False]


def test_errors_are_those_of_the_test_set_when_there_is_one() -> None:
    rng = np.random.default_rng(2)
    cost: dict[str, dict[Quantity, Cost]] = {"m": {"calls": lambda c: 10.0 * float(c["blocks"])}}
    sample = [c for c in drawn(80, rng) if c[3] != 8]
    found, test = measured(sample, cost, rng=rng), measured(drawn(80, rng), cost, rng=rng)
    models = CoarseModels(rng=rng).fit(found, test)
    unseen = [c[3] == 8 for c in test.configurations]
    assert 0.2 * np.mean(unseen) < models.errors_["calls"][0] < 1.2 * np.mean(unseen)


def test_methods_seen_rarely_are_not_learnt() -> None:
    rng = np.random.default_rng(3)
    found = measured(drawn(9, rng), {"m": {"seconds": lambda _: 1.0}}, rng=rng)
    models = CoarseModels(rng=rng).fit(found)
    assert models.trees_["seconds"] == [None]
    assert np.isnan(models.predict(found.configurations, "seconds")).all()


def test_the_longest_calls_are_dropped_and_a_histogram_stands_for_its_calls() -> None:
    durations = np.concatenate([np.full(198, 1e-3), [5.0, 7.0]])
    found = summary([_series(durations)])
    assert found is not None
    assert found.calls == 198
    assert found.seconds == pytest.approx(0.198)
    binned = CallSeries(
        Method("m"), (), 4, 6.0, np.zeros(0), np.array([0.0, 2.0, 4.0]), np.array([3, 1], dtype=np.int64)
    )
    told = summary([binned])
    assert told is not None
    assert told.seconds == pytest.approx(3 * 1.0 + 3.0)
    assert summary([]) is None
    often = summary([replace(binned, counts=10**9 * binned.counts)])
    assert often is not None and often.calls > 10**9
    assert (often.mean, often.deviation) == pytest.approx((told.mean, told.deviation), rel=0.05)


def test_fine_runs_become_measurements_in_which_a_failed_run_is_unknown() -> None:
    configurations = drawn(2, np.random.default_rng(4))
    once = [_series(np.full(10, 0.1)), _series(np.full(3, 1.0), "other")]
    runs: list[tuple[Configuration, list[list[CallSeries] | None]]] = [
        (configurations[0], [once, once[:1]]),
        (configurations[1], [None, once]),
    ]
    found = fine_costs(SPACE, runs)
    assert found.methods == ("m", "other")
    assert found.runs("seconds", 0).tolist()[0] == pytest.approx([1.0, 1.0])
    assert found.runs("calls", 1).tolist()[0] == [3.0, 0.0]
    assert np.isnan(found.runs("seconds", 1)[1, 0])


def test_the_methods_behind_an_influential_option_are_named_with_their_shares() -> None:
    rng = np.random.default_rng(5)
    found = measured(
        drawn(100, rng),
        {
            "compressor": {"seconds": lambda c: 10.0 if c["compress"] else 1.0},
            "checker": {"seconds": lambda c: 4.0 if c["compress"] else 1.0},
            "cipher": {"seconds": lambda c: 3.0 if c["encrypt"] else 1.0},
        },
        noise=0.01,
        rng=rng,
    )
    forests = ForestInfluences(rng=rng).fit(found)
    assert forests.largest(1) == (("compress",),)
    causes = forests.root_causes(("compress",))
    assert [c.method for c in causes] == ["compressor", "checker"]
    assert causes[0].share == pytest.approx(0.75, abs=0.03)


def test_an_interaction_is_an_influence_of_its_own() -> None:
    rng = np.random.default_rng(6)
    found = measured(
        drawn(100, rng),
        {"m": {"seconds": lambda c: 10.0 if c["compress"] and c["encrypt"] else 1.0}},
        rng=rng,
    )
    forests = ForestInfluences(rng=rng).fit(found)
    assert ("compress", "encrypt") in forests.system_
    assert forests.system_["compress", "encrypt"] > 10 * forests.system_.get(("log",), 0.0)


def test_the_sample_is_the_union_of_binary_designs_with_every_row_of_the_numbers() -> None:
    rng = np.random.default_rng(7)
    solver = ConstraintSolver(SPACE)
    single = influence_sample(SPACE, solver, "feature-wise", rng=rng)
    both = influence_sample(SPACE, solver, "both", rng=rng)
    assert set(single) <= set(both)
    assert len(set(both)) == len(both)
    assert all(solver.valid(c) for c in both)
    assert {c[3] for c in single} == {1, 2, 4, 8, 16}
    pairs = {(c[0], c[1]) for c in both}
    assert pairs == {(False, False), (False, True), (True, False), (True, True)}


PROGRAM: dict[str, dict[Quantity, Cost]] = {
    "compressor": {"seconds": lambda c: 9.0 if c["compress"] else 1.0},
    "blocks": {"seconds": lambda c: 2.0 if c["blocks"] >= 8 else 1.0},
}


def test_the_pipeline_tells_options_by_their_levels_and_the_methods_behind_them() -> None:
    rng = np.random.default_rng(8)
    found = PublishedInfluences(rng=rng).fit(measured(drawn(100, rng), PROGRAM, noise=0.01, rng=rng))
    entries = found.entries()
    assert (entries[0].method, entries[0].term) == (None, ("compress",))
    behind = {
        e.term: e.method for e in entries if e.method is not None and len(e.term) == 1 and e.share > 0.5
    }
    assert behind["compress",] == "compressor"
    assert behind[("blocks>=8",)] == "blocks"
    assert found.hard_methods_ == ()


def test_hard_methods_are_predicted_by_their_fine_models() -> None:
    rng = np.random.default_rng(9)
    outliers = iter(np.where(rng.random(2000) < 0.3, 50.0, 1.0))
    coarse: dict[str, dict[Quantity, Cost]] = {
        **PROGRAM,
        "heavy tail": {"seconds": lambda c: (2.0 if c["log"] else 1.0) * next(outliers)},
    }
    configurations = drawn(100, rng)
    found = PublishedInfluences(rng=rng).fit(measured(configurations, coarse, rng=rng))
    assert found.hard_methods_ == ("heavy tail",)
    fine: dict[str, dict[Quantity, Cost]] = {"heavy tail": {"seconds": lambda c: 2.0 if c["log"] else 1.0}}
    found.refine(measured(configurations, fine, rng=rng))
    assert found.errors()["heavy tail"] < 0.01
    asked = ((False, False, "none", 1, True), (False, False, "none", 1, False))
    assert found.predict(asked)[:, 2].tolist() == pytest.approx([2.0, 1.0])
