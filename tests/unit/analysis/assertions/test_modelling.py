"""A model says which paths behave alike, however few calls some of them have."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from bot.analysis.assertions.modelling import MOST_EDGES, joined, model
from bot.analysis.assertions.separating import separate
from bot.model.assertions import CallObservation, PathModel
from tests.unit.analysis.assertions.models import observations, path

KINDS: tuple[Literal["ours", "published"], ...] = ("ours", "published")


def groups(found: PathModel) -> list[list[str]]:
    return [sorted(">".join(p) for p in group.paths) for group in found.groups]


@pytest.mark.parametrize("estimator", KINDS)
def test_paths_of_one_behaviour_are_one_group(estimator: Literal["ours", "published"]) -> None:
    behaviours = {"m>a>f": (400, 0.1), "m>b>f": (300, 0.6), "m>c>f": (200, 0.6), "m>d>f": (300, 0.1)}
    found = model("f", "f.c", observations(behaviours), estimator=estimator)
    assert groups(found) == [["m>a>f", "m>d>f"], ["m>b>f", "m>c>f"]]
    assert (found.method, found.file) == ("f", "f.c")


def test_a_vector_is_the_share_of_calls_by_cluster() -> None:
    found = model("f", None, observations({"m>a>f": (500, 0.1), "m>b>f": (500, 0.9)}))
    assert len(found.borders) == len(found.places) == 1
    assert found.places[0] == pytest.approx(0.5, abs=0.02)
    assert found.groups[0].vector == pytest.approx((0.9, 0.1), abs=0.03)
    assert found.groups[1].vector == pytest.approx((0.1, 0.9), abs=0.03)
    assert [g.calls for g in found.groups] == [5000, 5000]


def test_paths_that_differ_by_chance_are_one_group() -> None:
    behaviours = {f"m>{name}>f": (40, 0.4) for name in "abcdefgh"}
    assert len(model("f", None, observations(behaviours)).groups) == 1


def test_trials_that_differ_make_no_groups() -> None:
    behaviours = {f"m>{name}>f": (200, 0.4) for name in "abcdefgh"}
    assert len(model("f", None, observations(behaviours, wander=0.15)).groups) == 1


def test_a_path_with_few_calls_joins_the_most_related_path_that_it_fits() -> None:
    behaviours = {"m>a>f": (300, 0.2), "m>b>f": (300, 0.8), "m>b>x>f": (1, 0.5), "m>a>y>f": (1, 0.5)}
    found = groups(model("f", None, observations(behaviours, trials=4)))
    assert found == [["m>a>f", "m>a>y>f"], ["m>b>f", "m>b>x>f"]]


def test_a_path_with_few_calls_that_fits_one_group_only_joins_that() -> None:
    behaviours = {"m>a>f": (300, 0.0), "m>b>f": (300, 1.0), "m>b>x>f": (5, 0.0)}
    assert ["m>a>f", "m>b>x>f"] in groups(model("f", None, observations(behaviours)))


@pytest.mark.parametrize("estimator", KINDS)
def test_paths_that_no_edge_tells_apart_are_one_path(estimator: Literal["ours", "published"]) -> None:
    behaviours = {"m>a>m>a>f": (300, 0.0), "m>a>m>a>m>a>f": (300, 1.0), "m>b>f": (300, 1.0)}
    found = model("f", None, observations(behaviours), estimator=estimator)
    assert groups(found) == [["m>a>m>a>f", "m>a>m>a>m>a>f"], ["m>b>f"]]
    assert found.groups[0].paths[path("m>a>m>a>f")] == 3000


@pytest.mark.parametrize("estimator", KINDS)
@pytest.mark.parametrize("calls", [{}, {path("m>f"): np.zeros(0)}, {path("m>f"): np.array([np.nan, -1.0])}])
def test_without_calls_there_are_no_groups(
    estimator: Literal["ours", "published"], calls: dict[tuple[str, ...], np.ndarray]
) -> None:
    found = model("f", None, [CallObservation(0, 1, calls)], estimator=estimator)
    assert (found.groups, found.borders, found.places) == ((), (), ())
    assert model("f", None, [], estimator=estimator).groups == ()


@pytest.mark.parametrize("estimator", KINDS)
def test_one_call_and_equal_calls_are_one_group(estimator: Literal["ours", "published"]) -> None:
    for calls in (1, 500):
        found = model(
            "f", None, [CallObservation(0, 1, {path("f"): np.full(calls, 1e-6)})], estimator=estimator
        )
        assert [g.vector for g in found.groups] == [(1.0,)]


def test_the_order_of_observations_does_not_matter() -> None:
    seen = observations({"m>a>f": (300, 0.1), "m>b>f": (300, 0.6)})
    assert model("f", None, seen) == model("f", None, seen[::-1])


def test_short_observations_are_joined_until_clusters_show() -> None:
    seen = observations({"m>a>f": (300, 0.1)}, trials=10)
    parts = joined(seen)
    assert [len(part.every) for part in parts] == [1200, 1800]
    assert (parts[0].start, parts[-1].end) == (seen[0].start, seen[-1].end)
    assert joined([]) == []


def test_a_border_that_the_mix_of_paths_moves_stays_and_one_that_the_trial_moves_goes() -> None:
    mixed, moved = [], []
    for trial in range(10):
        often = 100 + 80 * (trial % 2)
        mixed += observations({"m>a>f": (300 - often, 0.1), "m>b>f": (often, 0.9)}, trials=1, seed=trial)
        share = 0.2 + 0.4 * (trial % 2)
        moved += observations({"m>a>f": (200, share), "m>b>f": (200, share)}, trials=1, seed=trial)
    in_time = [[replace(o, start=float(i), end=i + 0.5) for i, o in enumerate(s)] for s in (mixed, moved)]
    assert len(model("f", None, in_time[0]).borders) == 1
    assert len(model("f", None, in_time[1]).borders) == 0


def test_groups_that_no_few_edges_tell_apart_are_merged() -> None:
    rng = np.random.default_rng(2)
    callers = [f"m>{a}>{b}>f" for a in "abcdefgh" for b in "stuvwxyz"]
    behaviours = {names: (60, float(rng.choice([0.1, 0.5, 0.9]))) for names in callers}
    seen = observations(behaviours)
    found = model("f", None, seen)
    assert (
        len(separate(found).edges)
        <= MOST_EDGES
        < len(separate(model("f", None, seen, estimator="published")).edges)
    )
    assert sum(g.calls for g in found.groups) == 64 * 600
    for group in found.groups:
        assert sum(group.vector) == pytest.approx(1.0)
