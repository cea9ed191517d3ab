"""How large changes are expected to be: as in the past, but never only so."""

import numpy as np
import pytest

from bot.analysis.candidates import Candidates, candidates
from bot.analysis.past_changes import PastChange
from bot.analysis.past_sizes import Sizes, sizes
from bot.analysis.sequential import BETS, Bettor
from bot.analysis.terms import single_effects
from bot.model.space import Term
from tests.unit.analysis.worlds import flags, never, planted, sample

SPACE = flags(5)
POINTS = np.exp(np.linspace(np.log(0.004), np.log(4.0), 60))
EVEN = np.full(len(POINTS), 1 / len(POINTS))
MARGIN, NOISE = 0.01, 0.02
CHOSEN = sample(SPACE, 24, np.random.default_rng(0))


def grid() -> Candidates:
    return candidates(SPACE, CHOSEN, never)


def past(weight: float, **of: tuple[float, int]) -> Sizes:
    """Sizes of options' past changes, and how often."""
    changes = [
        PastChange(1, 0, size, {(name,): 1.0}) for name, (size, times) in of.items() for _ in range(times)
    ]
    found = sizes(changes, grid(), weight)
    assert found is not None
    return found


def middle(found: Sizes, term: Term) -> float:
    """The size that is likeliest for a term."""
    return float(POINTS[np.argmax(found.at(POINTS, EVEN)[grid().terms.index(term)])])


def test_a_term_is_expected_to_change_as_it_did_and_one_that_never_changed_as_the_program_does() -> None:
    found = past(0.5, a=(0.03, 8), b=(-0.5, 8))
    assert middle(found, ("a",)) == pytest.approx(0.03, rel=0.2)
    assert middle(found, ("b",)) == pytest.approx(0.5, rel=0.2)
    chance = found.at(POINTS, EVEN)
    assert np.allclose(chance.sum(axis=1), 1.0)
    others = chance[grid().terms.index(("c",))]
    at = [int(np.argmin(np.abs(POINTS - size))) for size in (0.03, 0.5)]
    assert others[at[0]] == pytest.approx(others[at[1]], rel=0.2) and others[at[0]] > 1.5 * EVEN[0]


def test_no_size_becomes_impossible_and_the_cost_of_a_wrong_one_is_bounded() -> None:
    found = past(0.5, a=(0.03, 8))
    assert (found.at(POINTS, EVEN) >= 0.5 * EVEN - 1e-12).all()
    assert found.cost == pytest.approx(np.log(2.0))


def test_without_changes_or_without_weight_nothing_is_expected() -> None:
    assert sizes([], grid(), 0.5) is None
    assert sizes([PastChange(1, 0, 0.0, {("a",): 1.0})], grid(), 0.5) is None
    assert sizes([PastChange(1, 0, 0.1, {("a",): 1.0})], grid(), 0.0) is None


def evidence(expected: Sizes | None, size: float, seed: int) -> float:
    """Log evidence for the option that changed."""
    rng = np.random.default_rng(seed)
    found = Bettor(grid(), MARGIN)
    if expected is not None:
        found.expect(expected, NOISE)
    centre = planted(SPACE, {("a",): size}, CHOSEN)
    for _ in range(6):
        found.bet(np.arange(24), centre + NOISE * rng.standard_normal(24), np.full(24, NOISE))
    found.weigh()
    return float(found.log_evidence[grid().terms.index(("a",)), 0])


@pytest.mark.parametrize("size", [0.03, 0.06])
def test_stakes_for_changes_as_large_as_before_win_more_and_others_lose_little(size: float) -> None:
    for seed in range(5):
        plain = evidence(None, size, seed)
        assert evidence(past(0.5, a=(size, 8)), size, seed) > plain + 0.2
        assert evidence(past(0.5, a=(0.012, 8)), size, seed) > plain - np.log(2.0) - 1e-9


def test_stakes_are_weighed_and_not_added_to() -> None:
    found = Bettor(grid(), MARGIN)
    found.expect(past(0.5, a=(0.03, 8)), NOISE)
    assert np.exp(found._log_stakes).sum(axis=2) == pytest.approx(1.0)
    assert found._log_stakes[:, 2:] == pytest.approx(-np.log(len(BETS)))  # giving up is not history's


def test_of_terms_that_explain_as_much_the_one_that_changes_by_so_much_is_named() -> None:
    rng = np.random.default_rng(3)
    location = planted(SPACE, {("a",): 0.04}, CHOSEN) + 0.012 * rng.standard_normal(24)
    variance = np.full(24, 0.012**2)
    at = grid().terms.index(("a",))

    def certainty(expected: Sizes | None) -> float:
        return float(single_effects(grid(), location, variance, expected=expected).inclusion()[at])

    usual, as_before = certainty(None), certainty(past(0.5, a=(0.04, 8), b=(1.0, 8)))
    otherwise = certainty(past(0.5, a=(1.0, 8), b=(0.04, 8)))
    assert otherwise < usual < as_before
