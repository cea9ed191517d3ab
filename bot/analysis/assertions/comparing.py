"""Whether two models of a method group its call paths alike, and one model out of two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.model.assertions import Floats, NamedPath, PathGroup, PathModel


@dataclass(frozen=True)
class Alignment:
    """Of the paths that both models know.

    paths, calls: shares of the paths, and of the calls over them, in the largest set of paths of which the
    models say the same: any two are together in both or in neither. 1 when there are no such paths.
    agreement: adjusted Rand index of the calls, each with the group of its path: 0 by chance, 1 when the
    same. known: number of paths.
    """

    paths: float
    calls: float
    agreement: float
    known: int


def aligned(one: PathModel, other: PathModel) -> Alignment:
    """How alike two models group paths (seeds/002, sections 3.3 and 4.1); a path weighs its calls in both."""
    mine, theirs = _groups(one), _groups(other)
    weights = _weights(one, other)
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        return Alignment(1.0, 1.0, 1.0, 0)
    tables = []
    for weight in (dict.fromkeys(shared, 1.0), weights):
        table = np.zeros((len(one.groups), len(other.groups)))
        for path in shared:
            table[mine[path], theirs[path]] += weight[path]
        tables.append(table)
    paths, calls = (float(_matched(t)[1] / max(t.sum(), 1e-300)) for t in tables)
    return Alignment(paths, calls, _rand(tables[1]), len(shared))


def merged(one: PathModel, other: PathModel) -> PathModel:
    """One model out of two: a path in conflict goes with the model that saw more calls over it.

    Groups are the same that have most calls in common. Shares are weighted by calls, over the clusters of the
    model with more calls; those of the other are told in them by their values of the distribution function.
    """
    if _calls(other) > _calls(one):
        one, other = other, one
    mine, theirs = _groups(one), _groups(other)
    weights = _weights(one, other)
    table = np.zeros((len(one.groups), len(other.groups)))
    for path in mine.keys() & theirs.keys():
        table[mine[path], theirs[path]] += weights[path]
    same = _matched(table)[0]
    number = {b: same.get(b, len(one.groups) + b) for b in range(len(other.groups))}
    members: dict[int, dict[NamedPath, int]] = defaultdict(dict)
    for path in sorted(mine.keys() | theirs.keys()):
        in_one = one.groups[mine[path]].paths[path] if path in mine else 0
        in_other = other.groups[theirs[path]].paths[path] if path in theirs else 0
        place = mine[path] if in_one >= in_other and path in mine else number[theirs[path]]
        members[place][path] = in_one + in_other
    vectors: dict[int, list[tuple[int, Floats]]] = defaultdict(list)
    for i, group in enumerate(one.groups):
        vectors[i].append((group.calls, np.array(group.vector)))
    for i, group in enumerate(other.groups):
        vectors[number[i]].append((group.calls, retold(group.vector, other.places, one.places)))
    groups = [
        PathGroup(
            paths,
            tuple(np.average([v for _, v in vectors[i]], axis=0, weights=[max(n, 1) for n, _ in vectors[i]])),
        )
        for i, paths in sorted(members.items(), key=lambda item: min(item[1]))
    ]
    return PathModel(one.method, one.file or other.file, one.places, one.borders, tuple(groups))


def retold(vector: Sequence[float], places: Sequence[float], new: Sequence[float]) -> Floats:
    """Shares between some places as shares between others, as if calls lay evenly between two places."""
    edges = np.concatenate([[0.0], places, [1.0]])
    below = np.concatenate([[0.0], np.cumsum(vector)])
    told: Floats = np.diff(np.interp(np.concatenate([[0.0], new, [1.0]]), edges, below))
    return told


def _groups(model: PathModel) -> dict[NamedPath, int]:
    return {path: i for i, group in enumerate(model.groups) for path in group.paths}


def _calls(model: PathModel) -> int:
    return sum(group.calls for group in model.groups)


def _weights(one: PathModel, other: PathModel) -> dict[NamedPath, float]:
    """Calls over each path in both."""
    found: dict[NamedPath, float] = defaultdict(float)
    for model in (one, other):
        for group in model.groups:
            for path, calls in group.paths.items():
                found[path] += calls
    return found


def _matched(table: Floats) -> tuple[dict[int, int], float]:
    """Which group of the other model (key) is which of the one; and what they have in common.

    Paths of which two groupings say the same are in one group of each, and no two such groups share one: so
    the largest such set is the best assignment of groups to groups.
    """
    from scipy.optimize import linear_sum_assignment  # a third of a second, not of every start

    rows, columns = linear_sum_assignment(table, maximize=True)
    pairs = {int(b): int(a) for a, b in zip(rows, columns, strict=True) if table[a, b] > 0}
    return pairs, float(table[rows, columns].sum())


def _rand(table: Floats) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985) of a contingency table."""

    def pairs(counts: Floats) -> float:
        return float((counts * (counts - 1)).sum() / 2)

    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    total = pairs(table.sum(keepdims=True))
    chance = rows * columns / max(total, 1e-300)
    most = (rows + columns) / 2
    return 1.0 if most - chance <= 1e-12 * most else (both - chance) / (most - chance)
