from itertools import product

import numpy as np
import pytest

from bot.analysis.influences.costs import CostTable
from bot.analysis.influences.curves import LevelCurves
from bot.analysis.influences.estimates import Estimate, estimate
from bot.analysis.influences.explaining import explain
from bot.analysis.influences.learning import InfluenceModels
from bot.analysis.influences.levels import main_levels
from bot.analysis.influences.remembered import Past
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver
from tests.unit.analysis.influences.programs import SPACE, Program, drawn, measured

PROGRAM: Program = {
    "compressor": {"seconds": lambda c: 1.0 + (2.0 * c["blocks"] if c["compress"] else 0.0)},
    "checker": {"seconds": lambda c: 2.0 + (c["blocks"] if c["compress"] else 0.0)},
    "cipher": {"seconds": lambda c: 4.0 + (3.0 if c["encrypt"] else 0.0)},
}


def _learnt(seed: int, *, space: Space = SPACE, noise: float = 0.02) -> InfluenceModels:
    rng = np.random.default_rng(seed)
    sample = measured(drawn(70, rng, space), PROGRAM, noise=noise, rng=rng, space=space)
    probe = measured(drawn(30, rng, space), PROGRAM, noise=noise, rng=rng, space=space)
    return InfluenceModels(rng=rng).fit(sample, probe)


def _always(_: Configuration) -> bool:
    return True


def test_terms_are_traced_from_the_system_to_the_methods_with_shares() -> None:
    rng = np.random.default_rng(2)
    found = explain(_learnt(1), drawn(100, rng), valid=_always, rng=rng)
    by_place = {(i.method, i.term): i for i in found}
    whole = by_place[None, ("compress",)]
    # blocks are 1, 2, 4, 8, 16: 6.2 in the mean.
    assert whole.influence == pytest.approx(18.6, rel=0.05)
    assert by_place["compressor", ("compress",)].share == pytest.approx(2 / 3, abs=0.03)
    assert by_place["checker", ("compress",)].share == pytest.approx(1 / 3, abs=0.03)
    assert by_place["cipher", ("encrypt",)].influence == pytest.approx(3.0, rel=0.05)
    assert ("cipher", ("compress",)) not in by_place
    assert found[0].method is None
    assert found[0].term == ()


def test_an_interaction_is_told_beside_its_options() -> None:
    rng = np.random.default_rng(3)
    found = explain(_learnt(2), drawn(100, rng), valid=_always, rng=rng)
    pairs = [i for i in found if i.method == "compressor" and len(i.term) == 2]
    assert pairs
    assert all(i.term[1] == "compress" and i.term[0].startswith("blocks") for i in pairs)
    assert all(i.sure for i in pairs)


def test_intervals_cover_the_truth_even_when_the_model_is_wrong() -> None:
    every = [tuple(v) for v in product(*(o.values for o in SPACE.options))]
    blocks, compress = np.array([float(c[3]) for c in every]), np.array([c[0] is True for c in every])
    truth = np.where(compress, 10.0 + blocks, 3.0)
    wrong = 5.0 + 0.3 * blocks
    covered, trials = 0, 300
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        rows = rng.choice(len(every), 30, replace=False)
        sides = np.where(compress[rows], 0, 1)
        found = estimate(
            np.stack([wrong, wrong], axis=1)[:60],
            np.array([1.0, -1.0]),
            sides=sides,
            residuals=truth[rows] - wrong[rows],
            probe=len(rows),
        )
        assert found is not None
        covered += found.interval[0] <= truth[compress].mean() - 3.0 <= found.interval[1]
    assert covered / trials > 0.87


def test_terms_that_constraints_tie_are_only_switched_where_they_can_be_alone() -> None:
    space = Space(SPACE.options, ("encrypt implies compress",))
    solver = ConstraintSolver(space)
    rng = np.random.default_rng(4)
    found = explain(_learnt(3, space=space), drawn(100, rng, space), valid=solver.valid, rng=rng)
    by_place = {(i.method, i.term): i for i in found}
    # All who encrypt compress: a mere difference of means would blame encryption for the compressor's time.
    assert by_place[None, ("encrypt",)].influence == pytest.approx(3.0, abs=1.0)
    assert all(not i.sure for i in found if i.method == "compressor" and i.term == ("encrypt",))


def test_levels_are_asked_in_their_canonical_form() -> None:
    assert [str(level) for level in main_levels(SPACE)] == [
        "compress",
        "encrypt",
        "codec=none",
        "codec=fast",
        "codec=best",
        "blocks>=2",
        "blocks>=4",
        "blocks>=8",
        "blocks=16",
        "log",
    ]
    assert all(str(level) in SPACE.level_of for level in main_levels(SPACE))


def test_a_number_has_a_level_curve() -> None:
    models = _learnt(4)
    population = drawn(60, np.random.default_rng(5))
    curve = LevelCurves(models, population, _always).of(models.models_["seconds"][0], "blocks")
    assert curve is not None
    on = float(np.mean([c[0] is True for c in population]))
    assert curve.values.tolist() == [1, 2, 4, 8, 16]
    assert curve.costs == pytest.approx(1.0 + 2.0 * curve.values * on, rel=0.1)


def test_what_is_told_of_a_number_comes_with_its_curve_and_nothing_else_does() -> None:
    found = explain(
        _learnt(4), drawn(60, np.random.default_rng(5)), valid=_always, rng=np.random.default_rng(6)
    )
    curved = {i.term for i in found if i.curve}
    assert curved and all(term[0].startswith("blocks") for term in curved)
    rising = [cost for _, cost in next(i.curve for i in found if i.curve)]
    assert rising == sorted(rising) and rising[-1] > rising[0]


def test_nothing_learnt_is_nothing_told() -> None:
    rng = np.random.default_rng(6)
    program: Program = {"erratic": {"seconds": lambda _: float(np.exp(rng.normal(0, 2)))}}
    sample = measured(drawn(60, rng), program, rng=rng)
    models = InfluenceModels(rng=rng).fit(sample, measured(drawn(20, rng), program, rng=rng))
    assert explain(models, drawn(50, rng), valid=_always, rng=rng) == ()


def test_two_residuals_that_agree_by_luck_do_not_make_a_sure_influence() -> None:
    predicted = np.full((10, 2), 1.0)
    sides = np.array([0, 0, 1, 1, 1, 1, 1, 1])
    residuals = np.array([0.30, 0.30, 0.2, -0.2, 0.1, -0.1, 0.3, -0.3])
    found = estimate(predicted, np.array([1.0, -1.0]), sides=sides, residuals=residuals, probe=len(sides))
    assert found is not None and found.value == pytest.approx(0.3)
    assert found.interval[0] < 0 < found.interval[1]


def test_the_sample_tells_how_widely_few_residuals_of_the_probe_spread_and_never_what_they_are() -> None:
    predicted = np.full((10, 2), 1.0)
    fresh, seen = np.array([0.1, -0.1, 0.1, -0.1]), np.array([0.3, -0.3] * 6)
    sides = np.array([0, 0, 1, 1] + [0] * 6 + [1] * 6)

    def found(residuals: list[float]) -> Estimate:
        told = estimate(
            predicted, np.array([1.0, -1.0]), sides=sides, residuals=np.array(residuals), probe=len(fresh)
        )
        assert told is not None
        return told

    alone, calm, wild, moved = (
        found([*fresh, *others]) for others in ([np.nan] * 12, seen / 3, seen, seen / 3 + 5.0)
    )
    assert alone.value == calm.value == wild.value == moved.value == 0.0
    assert calm.interval == pytest.approx(moved.interval)
    assert calm.interval[1] < alone.interval[1] < wild.interval[1]


def test_a_term_that_eleven_configurations_show_beyond_doubt_is_told_whatever_is_held_out() -> None:
    """Half as slow again in every second one: the five that are held out are hardly ever alike."""
    every = tuple(product((True, False), repeat=4))
    space = Space(tuple(Option(name, "flag", (True, False), False) for name in "abcd"))
    slow = {c: 1.5 if sum(c[1:]) % 2 else 1.0 for c in every}
    costs = np.array([[0.09 * slow[c] if c[0] else np.nan, 0.05] for c in every])
    table = CostTable(space, every, ("mix", "plain"), {"seconds": costs[:, :, None]})
    past = Past(table, np.ones(len(every), bool), ())
    told = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        models = InfluenceModels(rng=rng).fit(*past.split(rng))
        terms = {i.term: i for i in explain(models, every, valid=_always, rng=rng) if i.method == "mix"}
        told += ("a",) in terms and terms["a",].sure
        assert not any(i.sure for t, i in terms.items() if t and t != ("a",))
    assert told >= 15
