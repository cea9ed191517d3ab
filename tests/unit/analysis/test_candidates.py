"""Which terms are candidates on a sample."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bot.analysis.candidates import PAIR_COVER, candidates
from bot.model.space import Option, Space, Term
from tests.unit.analysis.worlds import flags, holds, mixed, never, same_everywhere, sample


def test_everything_levels_pairs_and_single_configurations_are_candidates() -> None:
    space = flags(5)
    found = candidates(space, sample(space, 20, np.random.default_rng(0)), never)
    assert found.terms[0] == ()
    assert {("a",), ("!a",), ("a", "b"), ("!a", "!b"), ("!a", "b")} <= set(found.terms)
    assert found.kinds.count("configuration") == 20


def test_a_number_has_single_values_and_thresholds() -> None:
    space = mixed()
    found = candidates(space, sample(space, 60, np.random.default_rng(0)), never)
    assert {("level=3",), ("level>=6",), ("level<6",)} <= set(found.terms)


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_covers_agree_with_terms_and_no_cover_comes_twice(seed: int, count: int) -> None:
    space = mixed()
    configurations = sample(space, count, np.random.default_rng(seed))
    found = candidates(space, configurations, never)
    for term, kind, cover in zip(found.terms, found.kinds, found.covers, strict=True):
        assert (holds(space, term, configurations) == cover).all()
        if kind == "pair":
            assert cover.sum() >= PAIR_COVER
    assert len({cover.tobytes() for cover in found.covers}) == len(found.covers)
    assert np.isclose(found.prior.sum(), 1.0)


def test_a_pair_that_a_constraint_makes_equal_to_a_level_is_its_alias() -> None:
    space = flags(3)
    equivalent = same_everywhere(space, lambda c: bool(c[1] or not c[0]))  # a implies b
    valid = [c for c in sample(space, 8, np.random.default_rng(0)) if c[1] or not c[0]]
    found = candidates(space, valid, equivalent)
    assert ("a", "b") not in found.terms
    told = found.told(found.terms.index(("a",)))
    assert told.term == ("a",)
    assert told.same == (("a", "b"),)
    assert told.share == 1.0
    assert told.alike == ()


def test_terms_that_only_this_sample_cannot_tell_apart_share_their_mass() -> None:
    space = flags(2)
    configurations = [(False, False), (True, True), (False, False), (True, True)]
    found = candidates(space, configurations, never)
    told = found.told(found.terms.index(("a",)))
    assert told.term == ("a",)
    assert told.same == ()
    assert ("b",) in dict(told.alike)
    assert 0.25 < told.share < 0.5
    assert np.isclose(told.share + sum(share for _, share in told.alike), 1.0, atol=0.05)


def test_of_look_alikes_a_present_option_is_told_before_an_absent_one() -> None:
    configurations = [(False, True), (True, False)] * 3
    found = candidates(flags(2), configurations, never)
    told = found.told(next(i for i, group in enumerate(found.groups) if ("!a",) in group.terms))
    assert told.term == ("b",)
    assert ("!a",) in dict(told.alike)


def test_of_equal_terms_the_shortest_then_alphabetically_first_is_reported() -> None:
    space = flags(3)
    configurations = [(False, False, False), (True, True, True)] * 3
    found = candidates(space, configurations, never)
    assert {t for t in found.terms if len(t) < 3} == {(), ("!a",), ("a",)}


def test_equivalence_is_only_asked_of_terms_with_the_same_cover() -> None:
    space = flags(4)
    configurations = sample(space, 10, np.random.default_rng(1))
    asked: list[tuple[Term, Term]] = []

    def equivalent(first: Term, second: Term) -> bool:
        asked.append((first, second))
        return False

    found = candidates(space, configurations, equivalent)
    assert asked == []
    for index in range(len(found.terms)):
        found.told(index)
    for first, second in asked:
        assert (holds(space, first, configurations) == holds(space, second, configurations)).all()


def test_a_thousand_options_are_screened_instead_of_paired() -> None:
    space = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(1000)))
    rng = np.random.default_rng(0)
    configurations = [tuple(bool(v) for v in rng.random(1000) < 0.5) for _ in range(40)]
    found = candidates(space, configurations, never)
    assert found.screened
    assert "pair" not in found.kinds
    first = candidates(space, configurations, never, suspicious=lambda covers: np.arange(6, dtype=np.intp))
    assert 0 < first.kinds.count("pair") <= 15


def test_an_option_with_many_levels_is_no_more_suspect_than_another() -> None:
    space = mixed()
    found = candidates(space, sample(space, 60, np.random.default_rng(0)), never)
    mass = {
        term: m for g in found.groups for term, m in zip(g.terms, g.masses, strict=True) if len(term) == 1
    }
    by_option = [
        sum(mass[str(level),] for level in option.levels if (str(level),) in mass) for option in space.options
    ]
    assert np.allclose(by_option, by_option[0])
    assert mass["a",] == 2 * mass["!a",]


def test_with_one_option_a_configuration_is_a_level() -> None:
    found = candidates(flags(1), [(False,), (True,)], never)
    assert found.kinds == ("everything", "level", "level")


def test_one_configuration_has_one_candidate() -> None:
    found = candidates(flags(3), [(True, False, True)], never)
    assert found.terms == ((),)
