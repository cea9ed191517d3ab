"""An option's work takes as long beside much other work as beside little: one option is named, no pair."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.candidates import candidates
from bot.analysis.diagnose import Judgement, Rule
from bot.analysis.laws import Costs, laws
from bot.analysis.pairs import Floats
from bot.analysis.terms import TermFit, single_effects
from bot.model.space import Configuration, Term
from tests.unit.analysis.worlds import estimator, flags, holds, mixed, never, sample

N = 48
ERROR = 0.006


def world(seed: int) -> tuple[list[Configuration], Floats, np.random.Generator]:
    """A sample of `mixed`, and seconds that base takes in each: `d` is by far the dearest option."""
    rng = np.random.default_rng(seed)
    configurations = sample(mixed(), N, rng)
    dear = 4.0 * holds(mixed(), ("d",), configurations) + 0.5 * holds(mixed(), ("mode=safe",), configurations)
    return configurations, 1.0 + dear, rng


def named(term: Term, amount: float, *, told: bool, seed: int) -> tuple[set[Term], TermFit]:
    """What is named when head takes so many seconds more (less: head's are base's) in a term."""
    configurations, seconds, rng = world(seed)
    more = abs(amount) * holds(mixed(), term, configurations)
    base, head = (seconds, seconds + more) if amount > 0 else (seconds + more, seconds)
    location = np.log(head / base) + ERROR * rng.standard_normal(N)
    found = candidates(mixed(), configurations, never)
    fit = single_effects(found, location, np.full(N, ERROR**2), costs=Costs(base, head) if told else None)
    return {found.terms[e.top] for e in fit.effects if e.presence * e.posterior[e.top] > 0.5}, fit


@pytest.mark.parametrize("amount", [0.1, 0.5, 3.0, -0.1, -0.5, -3.0])
@pytest.mark.parametrize("term", [(), ("a",), ("!b",), ("level>=6",), ("a", "mode=safe")])
def test_an_amount_of_work_is_named_by_its_term_alone(term: Term, amount: float) -> None:
    assert named(term, amount, told=True, seed=1)[0] == {term}


def test_without_costs_a_pair_seems_to_interact() -> None:
    assert len(named(("a",), 0.5, told=False, seed=1)[0]) > 1


def test_the_size_is_the_median_share_and_each_configuration_has_its_own() -> None:
    _, fit = named(("a",), 0.5, told=True, seed=2)
    configurations, seconds, _ = world(2)
    inside = holds(mixed(), ("a",), configurations)
    shares = np.log1p(0.5 / seconds)
    effect = fit.effects[0]
    assert effect.fixed
    assert effect.each[inside] == pytest.approx(shares[inside], rel=0.1)
    assert not effect.each[~inside].any()
    assert effect.interval[0] < np.median(shares[inside]) < effect.interval[1]


def test_a_share_of_the_time_stays_a_share() -> None:
    configurations, seconds, rng = world(3)
    location = 0.2 * holds(mixed(), ("a",), configurations) + ERROR * rng.standard_normal(N)
    found = candidates(mixed(), configurations, never)
    fit = single_effects(
        found, location, np.full(N, ERROR**2), costs=Costs(seconds, seconds * np.exp(location))
    )
    first = fit.effects[0]
    assert (found.terms[first.top], first.fixed) == (("a",), False)
    assert first.size == pytest.approx(0.2, abs=0.01)


def test_an_interaction_stays_one_where_the_other_option_costs_nothing() -> None:
    configurations, seconds, rng = world(4)
    location = 0.2 * holds(mixed(), ("a", "c"), configurations) + ERROR * rng.standard_normal(N)
    found = candidates(mixed(), configurations, never)
    fit = single_effects(
        found, location, np.full(N, ERROR**2), costs=Costs(seconds, seconds * np.exp(location))
    )
    assert found.terms[fit.effects[0].top] == ("a", "c")


def test_swapping_base_and_head_turns_the_sizes_around() -> None:
    for term in [("a",), ("d",)]:
        slower, faster = (named(term, amount, told=True, seed=5)[1] for amount in (0.5, -0.5))
        assert slower.effects[0].size == pytest.approx(-faster.effects[0].size, rel=0.05)


@pytest.mark.parametrize(
    "base", [np.ones(4), np.array([1.0, 1.05, 1.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0]), None]
)
def test_alike_or_unknown_costs_tell_no_law_from_another(base: Floats | None) -> None:
    (law,) = laws(None if base is None else Costs(base, 2.0 * base), 4)
    assert law.shown(np.array([-0.5, 0.2])) == pytest.approx(np.array([[-0.5, 0.2]] * 4))
    assert not law.fixed


def test_an_amount_is_a_smaller_share_of_what_takes_longer() -> None:
    law = laws(Costs(np.array([1.0, 4.0, 2.0]), np.array([2.0, 2.0, 4.0])), 3)[1]
    shown = law.shown(np.array([np.log(1.5), -np.log(1.5)]))
    assert np.expm1(shown[:, 0]) == pytest.approx([0.5, 0.125, 0.25])
    assert np.expm1(-shown[:, 1]) == pytest.approx([0.5, 0.5, 0.25])


def test_a_noisy_configuration_of_few_pairs_does_not_set_the_size_of_what_all_share() -> None:
    configurations, seconds, rng = world(6)
    error = np.where(np.arange(N) < 3, 0.6, 0.03)
    location = -0.05 + error * rng.standard_normal(N)
    location[0], seconds[0] = -1.07, 0.3
    found = candidates(mixed(), configurations, never)
    costs = Costs(seconds, seconds * np.exp(location))
    first = single_effects(found, location, error**2, costs=costs).effects[0]
    assert found.terms[first.top] == ()
    assert first.size == pytest.approx(-0.05, abs=0.02)


def judged(rule: Rule, *, told: bool = True) -> Judgement:
    """A change by an amount in `a`, where `b` takes most of the time; by pairs."""
    space, rng = flags(4), np.random.default_rng(0)
    configurations = sample(space, 16, rng)
    seconds = 1.0 + 4.0 * holds(space, ("b",), configurations)
    truth = np.log1p(0.3 * holds(space, ("a",), configurations) / seconds)
    found = estimator(space, configurations, rules=[rule])
    for _ in range(20):
        for c in range(16):
            value = {rule.name: float(truth[c] + 0.01 * rng.standard_normal())}
            found.partial_fit(c, value, {rule.name: float(seconds[c])} if told else {})
    return found.judge()


def test_the_judgement_names_the_option_and_says_how_much_it_is_where() -> None:
    found = judged(Rule("cpu", "lower", 0.01))
    assert [e.term for e in found.options] == [("a",)]
    (note,) = found.notes
    assert note.startswith("cpu of a changed by about the same amount in all its configurations: by +6")
    assert " to +30 % " in note or " to +29 % " in note or " to +31 % " in note


def test_a_rate_is_never_an_amount() -> None:
    found = judged(Rule("throughput", "higher", 0.01))
    assert not any("amount" in note for note in found.notes)


def test_pairs_that_do_not_tell_what_base_took_are_judged_by_shares() -> None:
    assert len(judged(Rule("cpu", "lower", 0.01), told=False).options) > 1
