"""The chosen edges tell all groups apart, no fewer do, and they are the same every time."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings

from bot.analysis.assertions.separating import WORK, separate
from bot.model.assertions import CallEdge, NamedPath, PathGroup, PathModel, edges_of
from tests.unit.analysis.assertions.models import grouped, models


def tells_apart(model: PathModel, edges: Collection[CallEdge]) -> bool:
    seen: dict[frozenset[CallEdge], int] = {}
    rows = ((edges_of(p) & set(edges), i) for i, group in enumerate(model.groups) for p in group.paths)
    return all(seen.setdefault(frozenset(row), i) == i for row, i in rows)


def fewest(model: PathModel) -> int:
    """By trying all sets."""
    edges = sorted({edge for group in model.groups for p in group.paths for edge in edges_of(p)})
    return next(
        k for k in range(len(edges) + 1) if any(tells_apart(model, c) for c in combinations(edges, k))
    )


@given(models())
@settings(max_examples=150, deadline=None)
def test_no_smaller_set_of_edges_tells_the_groups_apart(model: PathModel) -> None:
    found = separate(model)
    assert tells_apart(model, found.edges)
    assert found.exact
    assert len(found.edges) == fewest(model)


@given(models())
@settings(max_examples=50, deadline=None)
def test_without_time_the_set_still_tells_them_apart_and_the_bound_holds(model: PathModel) -> None:
    found = separate(model, work=0)
    assert tells_apart(model, found.edges)
    assert found.least <= fewest(model) <= len(found.edges)


def test_the_example_of_the_paper_needs_one_edge() -> None:
    model = grouped({"a>b>c>z": 10}, {"a>b>z": 10, "a>c>z": 10})
    assert separate(model).edges == (("b", "c"),)


def test_of_equal_sets_the_one_nearest_to_the_method_is_taken() -> None:
    model = grouped({"m>a>b>c>f": 10}, {"m>x>y>z>f": 10})
    assert separate(model).edges == (("c", "f"),)


def test_one_group_needs_no_edge() -> None:
    assert separate(grouped({"m>a>f": 10, "m>b>f": 10})).edges == ()
    assert separate(PathModel("f", None, (), (), ())).edges == ()


@pytest.mark.parametrize("work", [0, WORK])
def test_groups_that_no_single_edge_tells_anything_of_are_told_apart_by_all(work: int) -> None:
    ways = {"".join(w): f"m>{w[0]}0>n>{w[1]}1>o>{w[2]}2>f" for w in product("xy", repeat=3)}
    odd, even = ({p: 10 for w, p in ways.items() if w.count("x") % 2 == rest} for rest in (1, 0))
    found = separate(grouped(odd, even), work=work)
    assert len(found.edges) == 3 and tells_apart(grouped(odd, even), found.edges)


def test_groups_that_no_edge_tells_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="same edges"):
        separate(grouped({"m>a>m>a>f": 10}, {"m>a>m>a>m>a>f": 10}))


def many(paths: int, seed: int) -> PathModel:
    """Deep paths in three groups: over one edge, over another one, over neither."""
    rng = np.random.default_rng(seed)
    groups: list[dict[NamedPath, int]] = [{}, {}, {}]
    while sum(map(len, groups)) < paths:
        names = [f"n{i}" for i in rng.integers(0, 40, rng.integers(3, 12))]
        found = ("main", *dict.fromkeys(names), "f")
        edges = edges_of(found)
        groups[0 if ("main", names[0]) <= ("main", "n2") else 1 if (names[-1], "f") in edges else 2][
            found
        ] = 50
    return PathModel("f", None, (0.5,), (1.0,), tuple(PathGroup(g, (1.0, 0.0)) for g in groups if g))


def test_hundreds_of_paths_are_told_apart_and_the_answer_does_not_vary() -> None:
    model = many(200, 1)
    found = separate(model, work=100_000)
    assert tells_apart(model, found.edges)
    reordered = PathModel(
        "f", None, (0.5,), (1.0,),
        tuple(PathGroup(dict(reversed(list(g.paths.items()))), g.vector) for g in reversed(model.groups)),
    )  # fmt: skip
    assert separate(reordered, work=100_000) == found
