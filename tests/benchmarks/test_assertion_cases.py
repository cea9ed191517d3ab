"""The benchmarks of mined assertions: generated calls have the clusters and groups that they should have."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.assertions.calls import subject
from benchmarks.assertions.durations import FAMILIES, clusters, unimodal
from benchmarks.assertions.separation import fewest, small
from benchmarks.assertions.synthetic import scored
from bot.analysis.assertions.borders import borders
from bot.analysis.assertions.comparing import aligned
from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.separating import separate


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("ticks", [False, True])
def test_generated_clusters_are_found_where_their_density_has_its_minima(family: str, ticks: bool) -> None:
    right = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        case = clusters(rng, calls=10_000, family=family, ticks=ticks)
        right.append(scored(case, borders(case.drawn(10_000, rng))))
    assert np.mean(right, axis=0).min() >= 7 / 8


def test_the_minimum_of_a_density_has_calls_on_both_sides_as_it_says() -> None:
    rng = np.random.default_rng(5)
    case = clusters(rng, calls=10_000, family="mixture", ticks=False)
    drawn = np.sort(case.drawn(200_000, rng))
    for low, _ in case.minima:
        assert case.below(np.quantile(drawn, [low]))[0] == pytest.approx(low, abs=0.01)


def test_scores_count_borders_that_are_missing_or_elsewhere() -> None:
    case = clusters(np.random.default_rng(5), calls=10_000, family="mixture", ticks=False)
    assert scored(case, np.zeros(0)) == (False, False)
    beside = np.full(len(case.minima), 1e9)
    assert scored(case, beside) == (True, False)


def test_one_cluster_has_no_minimum() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        case = unimodal(rng, ticks=bool(seed % 2))
        assert case.minima == ()
        assert len(borders(case.drawn(5_000, rng))) == 0


def test_planted_edges_tell_the_groups_of_a_generated_method_apart() -> None:
    made = subject(np.random.default_rng(2), paths=60, calls=3_000, groups=4)
    assert len(separate(made.model).edges) <= len(made.planted) == 3
    mined = model("f", None, made.executed(np.random.default_rng(3)))
    assert aligned(mined, made.model).agreement > 0.9


def test_brute_force_needs_no_more_than_the_search_finds() -> None:
    for seed in range(5):
        generated = small(np.random.default_rng(seed))
        assert fewest(generated) == len(separate(generated).edges)
