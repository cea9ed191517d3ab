"""One sample dealt out to machines."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bot.model.space import Configuration
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.shares import share
from tests.shards import subject


def parts(sample: list[Configuration], shards: int, seed: int = 3) -> list[list[Configuration]]:
    return [share(sample, k, shards, rng=np.random.default_rng(seed)) for k in range(shards)]


@given(st.integers(0, 40), st.integers(1, 60), st.integers(0, 5))
def test_every_machine_has_the_whole_sample_and_a_part_of_its_own_first(
    size: int, shards: int, seed: int
) -> None:
    sample: list[Configuration] = [(i,) for i in range(size)]
    found = parts(sample, shards, seed)
    assert all(sorted(one) == sample and one[:1] == sample[:1] for one in found)
    own, more = divmod(max(size - 1, 0), shards)
    first = [set(one[1 : 1 + own]) for one in found]
    assert sum(map(len, first)) == own * shards == len(set().union(*first))
    assert more < shards


def test_each_machine_sees_each_level_about_as_often() -> None:
    space = subject().space
    sample = pull_request_sample(space, ConstraintSolver(space), 49, rng=np.random.default_rng(1))
    for own in (part[1:13] for part in parts(sample, 4)):
        on = np.array(own, bool).sum(axis=0)
        assert ((on >= 2) & (on <= 10)).all()


def test_equal_seeds_deal_alike_and_others_differently() -> None:
    sample: list[Configuration] = [(i,) for i in range(30)]
    assert parts(sample, 4, 1) == parts(sample, 4, 1) != parts(sample, 4, 2)
