"""What the diff-aware sample promises: terms held in about half, a blind third, everything else as before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model.space import Configuration, Space, Term
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.one_hot import OneHot
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.weighted import BLIND_EVERY, weighted_sample
from tests.unit.sampling.spaces import MIXED, choice, flag, flags, number, spaces

WIDE = Space(
    (
        *(flag(f"f{i}") for i in range(8)),
        choice("codec", *(f"c{i}" for i in range(6))),
        number("level", 1, 2, 3, 4, 5, 6),
        choice("check", "none", "crc32", "crc64"),
    ),
    ("f0 implies not f1", "codec=c5 implies level >= 2"),
)
RARE: Term = ("codec=c3", "level>=5")


def weighted(space: Space, count: int, *terms: Term, start: int = 0) -> list[Configuration]:
    rng = np.random.default_rng(start)
    return weighted_sample(space, ConstraintSolver(space), count, terms=terms, rng=rng)


def plain(space: Space, count: int, start: int = 0) -> list[Configuration]:
    return pull_request_sample(space, ConstraintSolver(space), count, rng=np.random.default_rng(start))


def held(space: Space, term: Term, sample: list[Configuration]) -> np.ndarray:
    return np.array([all(space.holds(space.level_of[text], c) for text in term) for c in sample])


def seen_thrice(space: Space, sample: list[Configuration]) -> float:
    """Share of the pairs of values that three configurations of a sample have."""
    codes = OneHot(space)
    seen = np.zeros((codes.columns, codes.columns))
    for c in sample:
        columns = codes.encode(c)
        seen[np.ix_(columns, columns)] += 1
    return float((seen[codes.owner[:, None] < codes.owner] >= 3).mean())


@settings(max_examples=40, deadline=None)
@given(space=spaces(), count=st.integers(1, 40), start=st.integers(0, 1000), data=st.data())
def test_it_is_valid_distinct_seeded_complete_and_begins_with_the_default(
    space: Space, count: int, start: int, data: st.DataObject
) -> None:
    levels = st.sampled_from([str(level) for level in space.levels] + ["gone=1"])
    terms = data.draw(st.lists(st.lists(levels, max_size=2).map(lambda t: tuple(sorted(t))), max_size=4))
    found = weighted(space, count, *terms, start=start)
    solver = ConstraintSolver(space)
    assert found[0] == solver.default()
    assert all(solver.valid(c) for c in found) and len(set(found)) == len(found)
    every = solver.configurations(1 << 14)
    assert every is not None and len(found) == min(count, len(every))
    assert found == weighted(space, count, *terms, start=start)


@pytest.mark.parametrize("space", [flags(5), MIXED, WIDE])
@pytest.mark.parametrize("terms", [(), ((),), (("unknown",),), (("o1", "o2"),), (("o0", "!o0"),)])
def test_without_a_usable_term_it_is_the_blind_sample(space: Space, terms: tuple[Term, ...]) -> None:
    usable = [t for t in terms if set(t) <= set(space.level_of) and ConstraintSolver(space).possible(t)]
    if not [t for t in usable if t]:
        assert weighted(space, 20, *terms, start=4) == plain(space, 20, start=4)


def test_a_term_that_always_holds_is_left_out() -> None:
    space = Space(flags(5).options, ("o0 or o1", "o0 or not o1"))
    assert weighted(space, 12, ("o0",), start=4) == plain(space, 12, start=4)


@pytest.mark.parametrize("count", [12, 24, 48])
@pytest.mark.parametrize("space", [WIDE, MIXED])
def test_nearly_half_of_a_prefix_holds_a_rare_term(space: Space, count: int) -> None:
    term = RARE if space is WIDE else ("check=crc64", "level=9")
    found = held(space, term, weighted(space, 48, term)[:count])
    assert held(space, term, plain(space, 48)[:count]).mean() < 0.2
    assert 0.3 <= found.mean() < 0.6


def test_several_terms_are_held_apart_and_together() -> None:
    terms: tuple[Term, ...] = (RARE, ("check=crc64",), ("f2", "f3"))
    sample = weighted(WIDE, 48, *terms)
    sides = np.array([held(WIDE, term, sample) for term in terms])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        for one in (True, False):
            for other in (True, False):
                assert ((sides[i] == one) & (sides[j] == other)).sum() >= 5


def test_a_term_is_held_with_each_value_of_other_options_and_without() -> None:
    sample = weighted(WIDE, 48, RARE)
    found = held(WIDE, RARE, sample)
    for text in (*(f"f{i}" for i in range(8)), "check=crc32", "check=none"):
        level = held(WIDE, (text,), sample)
        assert min((level & found).sum(), (level & ~found).sum()) >= 4


def test_levels_of_a_pair_are_held_without_each_other() -> None:
    sample = weighted(WIDE, 48, RARE)
    for count in (12, 24, 48):
        one, other = (held(WIDE, (text,), sample[:count]) for text in RARE)
        assert min((one & ~other).sum(), (other & ~one).sum()) >= count / 12


def test_every_third_configuration_is_blind() -> None:
    sample = weighted(WIDE, 48, RARE)
    found = held(WIDE, RARE, sample)
    place = np.arange(len(sample))
    blind = place % BLIND_EVERY == 0
    assert found[blind].mean() < 0.2 < 0.4 < found[~blind].mean()


def test_pairs_of_values_are_seen_nearly_as_often_as_without_terms() -> None:
    for count in (24, 48):
        aimed = seen_thrice(WIDE, weighted(WIDE, count, RARE, ("f2", "f3")))
        assert aimed > seen_thrice(WIDE, plain(WIDE, count)) - 0.2


def test_large_spaces_are_sampled_too() -> None:
    space = Space((*flags(200).options, choice("c", *(f"v{i}" for i in range(20)))))
    sample = weighted(space, 12, ("c=v7",))
    assert len(sample) == 12 and 3 <= held(space, ("c=v7",), sample).sum() <= 8
