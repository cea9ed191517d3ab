import numpy as np
import pytest

from bot.analysis.influences.costs import CostTable, mape, noise_floor
from bot.analysis.influences.variances import context_variance, variances
from tests.unit.analysis.influences.programs import SPACE, drawn, measured


def test_a_method_that_was_not_called_costs_nothing_and_a_failed_run_is_unknown() -> None:
    rng = np.random.default_rng(1)
    seconds = np.array([[[1.0, 3.0], [np.nan, 2.0]], [[np.nan, np.nan], [np.nan, np.nan]]])
    found = CostTable(SPACE, tuple(drawn(2, rng)), ("a", "b"), {"seconds": seconds})
    means = found.means("seconds")
    assert means[0].tolist() == [2.0, 1.0]
    assert np.isnan(means[1]).all()
    assert found.runs("seconds", 1)[0].tolist() == [0.0, 2.0]


def test_arrays_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="seconds: shape"):
        CostTable(SPACE, (), ("a",), {"seconds": np.zeros((2, 1, 1))})


def test_the_error_of_a_method_that_is_not_called_is_all_or_nothing() -> None:
    truth = np.array([0.0, 0.0, 10.0, 20.0])
    assert mape(truth, np.array([0.0, 0.001, 10.0, 20.0])) == 0.0
    assert mape(truth, np.array([5.0, 0.0, 11.0, 20.0])) == pytest.approx((1 + 0.1) / 4)


def test_the_noise_floor_is_what_the_true_function_scores() -> None:
    rng = np.random.default_rng(2)
    truth = rng.uniform(1, 10, 400)
    runs = truth[:, None] * (1 + rng.normal(0, 0.06, (400, 5)))
    assert noise_floor(runs) == pytest.approx(mape(runs.mean(axis=1), truth), rel=0.15)
    assert np.isnan(noise_floor(truth[:, None]))


def test_the_three_variances_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    found = measured(
        drawn(60, rng),
        {
            "steady": {"seconds": lambda _: 2.0},
            "configured": {"seconds": lambda c: 8.0 if c["compress"] else 1.0},
        },
        noise=0.03,
        rng=rng,
    )
    told = variances(found)
    assert told.measurement == pytest.approx([0.03, 0.03], rel=0.2)
    assert told.configuration[0] < 0.03 < 0.5 < told.configuration[1]
    assert told.depends_on_configuration().tolist() == [False, True]
    even, heavy = [np.full(100, 1e-3)], [rng.pareto(1.5, 100)]
    assert context_variance(even) == pytest.approx(0.0, abs=1e-9)
    assert context_variance(heavy) > 0.5
    assert np.isnan(context_variance([np.ones(1)]))
