import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from bot.analysis.influences.basis import Basis, Columns
from bot.analysis.influences.costs import Floats, mape
from bot.analysis.influences.models import KINDS
from bot.analysis.influences.selection import Switched, choose
from bot.analysis.influences.sums import FewTerms, Lasso
from bot.model.space import Configuration, Option, Space
from tests.unit.analysis.influences.programs import SPACE, Cost, drawn


def _data(cost: Cost, count: int, rng: np.random.Generator) -> tuple[Columns, Floats]:
    configurations: list[Configuration] = drawn(count, rng)
    return Basis(SPACE).columns(configurations), np.array([cost(SPACE.as_dict(c)) for c in configurations])


def _product(c: Mapping[str, Any]) -> float:
    return 3.0 * c["blocks"] * (4.0 if c["compress"] else 1.0)  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "constant"])
def test_each_kind_learns_a_switched_method_that_it_was_not_shown_whole(kind: str) -> None:
    rng = np.random.default_rng(1)
    seen, y = _data(lambda c: 8.0 if c["compress"] else 1.0, 60, rng)
    asked, truth = _data(lambda c: 8.0 if c["compress"] else 1.0, 60, rng)
    assert mape(truth, KINDS[kind]().fit(seen, y, rng=rng).predict(asked)) < 0.1


def test_an_exact_count_is_found_exactly() -> None:
    rng = np.random.default_rng(2)

    def cost(c: Mapping[str, Any]) -> float:
        return 7.0 + 5.0 * c["blocks"] ** 2 + (100.0 * c["blocks"] if c["encrypt"] else 0.0)  # type: ignore[no-any-return]

    seen, y = _data(cost, 40, rng)
    asked, truth = _data(cost, 80, rng)
    found = FewTerms(logarithmic=False).fit(seen, y, rng=rng)
    assert mape(truth, found.predict(asked)) < 1e-6
    assert len(found.terms_) == 2


def test_a_product_is_found_exactly_in_logarithms() -> None:
    rng = np.random.default_rng(3)
    seen, y = _data(_product, 40, rng)
    asked, truth = _data(_product, 80, rng)
    assert mape(truth, FewTerms(logarithmic=True).fit(seen, y, rng=rng).predict(asked)) < 1e-6


def test_a_level_that_the_sample_lacks_is_interpolated() -> None:
    rng = np.random.default_rng(4)
    configurations = [c for c in drawn(110, rng) if c[3] != 8]
    y = np.array([_product(SPACE.as_dict(c)) for c in configurations])
    found = choose(Basis(SPACE).columns(configurations), y, kinds=list(KINDS), rng=rng)
    assert found is not None
    asked = [(True, False, "none", 8, False), (False, False, "best", 8, True)]
    assert found.model.predict(Basis(SPACE).columns(asked)) == pytest.approx([96.0, 24.0])


def test_a_method_that_is_called_under_one_option_only_costs_nothing_elsewhere() -> None:
    rng = np.random.default_rng(5)
    seen, y = _data(lambda c: float(c["blocks"]) if c["encrypt"] else 0.0, 60, rng)
    found = choose(seen, y, kinds=["constant", "few terms"], rng=rng)
    assert found is not None
    asked, truth = _data(lambda c: float(c["blocks"]) if c["encrypt"] else 0.0, 60, rng)
    assert mape(truth, found.model.predict(asked)) < 1e-6


def test_noise_alone_gets_the_constant() -> None:
    kinds = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        seen, y = _data(lambda _, rng=rng: float(np.exp(rng.normal(0, 0.05))), 80, rng)  # type: ignore[misc]
        found = choose(seen, y, kinds=["constant", "few terms", "few factors", "lasso", "tree"], rng=rng)
        assert found is not None
        kinds.append(found.kind)
    assert kinds.count("constant") >= 5


def test_a_method_seen_in_nine_configurations_is_not_learnt() -> None:
    seen, y = _data(lambda _: 1.0, 9, np.random.default_rng(7))
    assert choose(seen, y, kinds=["constant"], rng=np.random.default_rng(7)) is None


def test_predictions_stay_within_reach_of_what_was_seen() -> None:
    rng = np.random.default_rng(8)
    configurations = [c for c in drawn(110, rng) if c[3] in (1, 2, 4)]
    y = np.array([2.0 ** float(c[3]) for c in configurations])
    found = FewTerms(logarithmic=True).fit(Basis(SPACE).columns(configurations), y, rng=rng)
    far = found.predict(Basis(SPACE).columns([(False, False, "none", 16, False)]))
    assert far[0] <= 4.0 * y.max() * 1.001


def test_what_is_only_known_of_held_out_configurations_is_too_little() -> None:
    rng = np.random.default_rng(8)
    seen = Basis(SPACE).columns(drawn(20, rng) * 25)
    y = np.zeros(500)
    y[3] = 1.0
    found = [
        choose(seen, y, kinds=["constant"], rng=np.random.default_rng(seed), quick=True) for seed in range(20)
    ]
    # In one of several random parts the only call is held out; of so many configurations one part is enough.
    assert None in found and any(one is not None for one in found)


def test_a_level_of_a_number_that_is_a_choice_in_disguise_costs_what_it_costs() -> None:
    rng = np.random.default_rng(9)
    steps = {1: 5.0, 2: 80.0, 4: 6.0, 8: 6.5, 16: 90.0}

    def cost(c: Mapping[str, Any]) -> float:
        return steps[c["blocks"]] + (100.0 if c["encrypt"] else 0.0) + (7.0 if c["log"] else 0.0)

    seen, y = _data(cost, 50, rng)
    asked, truth = _data(cost, 60, rng)
    assert mape(truth, FewTerms(logarithmic=False).fit(seen, y, rng=rng).predict(asked)) < 1e-6


def test_two_kinds_that_err_differently_are_averaged_when_that_predicts_better() -> None:
    rng = np.random.default_rng(0)

    def cost(c: Mapping[str, Any]) -> float:
        late = 3.0 if c["encrypt"] and c["log"] and c["blocks"] >= 8 else 1.0
        return float((2.0 + c["compress"] + (c["codec"] == "best")) * c["blocks"] ** 0.5 * late)

    seen, y = _data(cost, 40, rng)
    asked, truth = _data(cost, 80, rng)
    y *= np.exp(rng.normal(0, 0.1, 40))

    def error(*kinds: str) -> float:
        found = choose(seen, y, kinds=kinds, rng=np.random.default_rng(1), floor=0.05)
        assert found is not None
        assert found.kind == " + ".join(kinds)
        return mape(truth, found.model.predict(asked))

    assert error("few terms", "forest") < min(error("few terms"), error("forest"))


def test_a_sum_of_more_options_than_a_small_model_has_is_learnt_by_the_lasso() -> None:
    space = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(14)))
    rng = np.random.default_rng(14)
    configurations = drawn(110, rng, space)
    y = np.array([100.0 + sum((5.0 + i) * c[i] for i in range(14)) for c in configurations])  # type: ignore[operator, misc]
    columns = Basis(space).columns(configurations)
    seen, asked = columns.rows(np.arange(50)), columns.rows(np.arange(50, 110))
    found = {
        logarithmic: mape(y[50:], Lasso(logarithmic=logarithmic).fit(seen, y[:50], rng=rng).predict(asked))
        for logarithmic in (True, False)
    }
    few = mape(y[50:], FewTerms(logarithmic=False).fit(seen, y[:50], rng=rng).predict(asked))
    assert found[False] < 0.8 * min(found[True], few)


def test_a_gaussian_process_keeps_no_covariance() -> None:
    rng = np.random.default_rng(15)
    seen, y = _data(_product, 110, rng)
    fitted = KINDS["Gaussian process"]().fit(seen, y, rng=rng)
    assert len(pickle.dumps(fitted)) < 8 * 110 * 110


def test_where_a_method_is_called_is_found_although_no_single_option_tells() -> None:
    rng = np.random.default_rng(16)

    def cost(c: Mapping[str, Any]) -> float:
        return 5.0 if c["blocks"] in (2, 4) and c["codec"] != "fast" and c["log"] else 0.0

    wrong = []
    for _ in range(40):
        seen, y = _data(cost, 40, rng)
        asked, truth = _data(cost, 80, rng)
        wrong.append(mape(truth, Switched(KINDS["constant"]()).fit(seen, y, rng=rng).predict(asked)))
    assert np.mean(wrong) < 0.025
