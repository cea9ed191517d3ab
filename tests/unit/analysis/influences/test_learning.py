import numpy as np
import pytest

from bot.analysis.influences.learning import InfluenceModels, held_out
from bot.analysis.influences.screening import efforts
from tests.unit.analysis.influences.programs import Program, drawn, measured

PROGRAM: Program = {
    "compressor": {
        "calls": lambda c: 10.0 * c["blocks"],
        "seconds": lambda c: c["blocks"] * (0.8 if c["compress"] else 0.1),
    },
    "cipher": {
        "calls": lambda c: 5.0 * c["blocks"] if c["encrypt"] else 0.0,
        "seconds": lambda c: 0.2 * c["blocks"] if c["encrypt"] else 0.0,
    },
    "start": {"calls": lambda _: 1.0, "seconds": lambda _: 0.3},
    "getter": {"calls": lambda c: 3.0 if c["log"] else 1.0, "seconds": lambda c: 3e-6 if c["log"] else 1e-6},
}


def test_effort_goes_to_methods_that_cost_something_and_vary() -> None:
    rng = np.random.default_rng(1)
    found = measured(drawn(60, rng), PROGRAM, noise=0.02, rng=rng)
    assert efforts(found) == ["full", "full", "none", "cheap"]
    assert efforts(found, most=1) == ["full", "cheap", "none", "cheap"]


def test_every_method_is_learnt_to_near_its_noise_floor() -> None:
    rng = np.random.default_rng(2)
    sample = measured(drawn(80, rng), PROGRAM, noise=0.02, rng=rng)
    probe = measured(drawn(40, rng), PROGRAM, noise=0.02, rng=rng)
    found = InfluenceModels(rng=rng).fit(sample, probe)
    for learnt in found.models_["calls"]:
        assert learnt.state == "learnt"
        assert learnt.error < 0.01
    for learnt in found.models_["seconds"][:3]:
        assert learnt.error < 2.5 * learnt.noise_floor
    assert found.system_.state == "learnt"
    assert found.predict(probe.configurations, "calls")[:, 2] == pytest.approx(1.0)


def test_counts_of_cheap_methods_are_learnt_exactly_when_they_are_steps_or_sums() -> None:
    rng = np.random.default_rng(11)
    cheap: Program = {
        "work": {"calls": lambda _: 1.0, "seconds": lambda c: 1.0 + c["compress"]},
        "step": {
            "calls": lambda c: 40.0 if c["encrypt"] and c["blocks"] >= 8 else 3.0,
            "seconds": lambda _: 1e-7,
        },
        "sum": {"calls": lambda c: 5.0 + 2.0 * c["blocks"] + 100.0 * c["log"], "seconds": lambda _: 1e-7},
    }
    sample, probe = (measured(drawn(n, rng), cheap, noise=0.02, rng=rng) for n in (60, 50))
    found = InfluenceModels(rng=rng).fit(sample, probe)
    assert [m.effort for m in found.models_["calls"]] == ["full", "cheap", "cheap"]
    assert [m.error for m in found.models_["calls"]] == pytest.approx([0.0] * 3, abs=1e-6)


def test_the_probe_is_drawn_anew_and_shares_nothing_with_the_sample() -> None:
    rng = np.random.default_rng(3)
    costs = measured(drawn(60, rng), PROGRAM, rng=rng)
    first, second = held_out(costs, rng=rng), held_out(costs, rng=rng)
    assert set(first[0].configurations).isdisjoint(first[1].configurations)
    assert len(first[1].configurations) == 12
    assert first[1].configurations != second[1].configurations


def test_what_no_option_explains_is_not_learnt_instead_of_guessed() -> None:
    rng = np.random.default_rng(4)
    noise = {c: float(np.exp(rng.normal(0, 1.0))) for c in drawn(110, rng)}
    program: Program = {"erratic": {"seconds": lambda c: noise[tuple(c.values())]}}
    configurations = list(noise)
    sample = measured(configurations[:70], program, noise=0.01, rng=rng)
    probe = measured(configurations[70:], program, noise=0.01, rng=rng)
    found = InfluenceModels(rng=rng).fit(sample, probe)
    assert found.models_["seconds"][0].state == "not learnt"


def test_a_method_seen_too_rarely_is_not_called_learnt() -> None:
    rng = np.random.default_rng(5)
    rare = set(drawn(4, rng))
    program: Program = {
        "rare": {"seconds": lambda c: 1.0 if tuple(c.values()) in rare else 0.0},
        "start": {"seconds": lambda _: 1.0},
    }
    sample = measured([*rare, *(c for c in drawn(60, rng) if c not in rare)], program, rng=rng)
    found = InfluenceModels(rng=rng).fit(sample, measured(drawn(20, rng), program, rng=rng))
    assert found.models_["seconds"][0].state == "too rare"
    assert found.predict(tuple(rare), "seconds")[:, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(("count", "state"), [(16, "learnt"), (60, "too rare")])
def test_few_calls_are_enough_where_they_are_a_good_part_of_all(count: int, state: str) -> None:
    rng = np.random.default_rng(5)
    program: Program = {
        "rare": {"seconds": lambda c: 1.0 if tuple(c.values()) in called else 0.0},
        "start": {"seconds": lambda _: 1.0},
    }
    configurations = drawn(count, rng)
    called = {c for c in configurations if c[0]} if count == 16 else set(configurations[:6])
    sample = measured(configurations, program, rng=rng)
    found = InfluenceModels(rng=rng).fit(sample, sample)
    assert found.models_["seconds"][0].state == state


def test_workers_and_one_process_learn_the_same() -> None:
    costs = measured(drawn(60, np.random.default_rng(6)), PROGRAM, noise=0.02, rng=np.random.default_rng(7))
    probe = measured(drawn(20, np.random.default_rng(8)), PROGRAM, noise=0.02, rng=np.random.default_rng(9))
    from joblib import parallel_config

    alone = InfluenceModels(rng=np.random.default_rng(1)).fit(costs, probe)
    with parallel_config(backend="threading", n_jobs=2):
        together = InfluenceModels(rng=np.random.default_rng(1)).fit(costs, probe)
    assert [m.kind for m in alone.models_["seconds"]] == [m.kind for m in together.models_["seconds"]]
    assert np.array_equal(
        alone.predict(probe.configurations, "seconds"), together.predict(probe.configurations, "seconds")
    )


def test_with_little_time_the_program_is_learnt_first_and_then_the_costliest_methods() -> None:
    rng = np.random.default_rng(12)
    costs = measured(drawn(60, rng), PROGRAM, noise=0.02, rng=rng)
    left = iter([5.0, 1.0, -1.0])
    found = InfluenceModels(rng=rng, left=lambda: next(left)).fit(costs)
    assert found.system_.state == "learnt"
    assert [m.effort for m in found.models_["seconds"]] == ["full", "none", "none", "none"]
    assert found.skipped_ == ("cipher",)


def test_enough_time_changes_nothing() -> None:
    costs = measured(drawn(60, np.random.default_rng(6)), PROGRAM, noise=0.02, rng=np.random.default_rng(7))
    ample = InfluenceModels(rng=np.random.default_rng(1), left=lambda: 99.0).fit(costs)
    unlimited = InfluenceModels(rng=np.random.default_rng(1)).fit(costs)
    asked = drawn(9, np.random.default_rng(2))
    assert np.array_equal(ample.predict(asked, "seconds"), unlimited.predict(asked, "seconds"))
    assert ample.skipped_ == unlimited.skipped_ == ()


def test_instructions_are_exact_and_stand_in_where_no_time_was_measured() -> None:
    rng = np.random.default_rng(10)
    program: Program = {
        "compressor": {"instructions": lambda c: 5e6 * c["blocks"] * (3.0 if c["compress"] else 1.0) + 7e5},
        "start": {"instructions": lambda _: 1e5},
    }
    sample = measured(drawn(70, rng), program, rng=rng, repetitions=1)
    probe = measured(drawn(40, rng), program, rng=rng, repetitions=1)
    found = InfluenceModels(rng=rng).fit(sample, probe)
    assert found.quantity_ == "instructions"
    assert found.system_.state == "learnt"
    assert [m.error < 0.01 for m in found.models_["instructions"]] == [True, True]
    assert np.isnan(found.models_["instructions"][0].noise_floor)
