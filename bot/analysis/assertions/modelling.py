"""From observed calls to the model of a method: clusters, and groups of paths that share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bot.analysis.assertions.borders import published_borders, valid
from bot.analysis.assertions.grouping import groups, published_groups, vectors
from bot.analysis.assertions.pace import evened
from bot.analysis.assertions.separating import simpler
from bot.analysis.assertions.stability import LAST, every, stable_borders
from bot.model.assertions import (
    CallEdge,
    CallObservation,
    Floats,
    NamedPath,
    PathGroup,
    PathModel,
    edges_of,
    shares,
)

UNSTEADY = 0.05
"""Standard deviation between trials of the share of calls below a border, from which on the border is the
machine's (what else ran, a slower clock) and not the method's."""
FEW_EDGES, MOST_EDGES = 3, 8
"""Edges that an assertion speaks of, mostly and at most: more, nobody reads (seeds/002, section 4.3)."""
MOST_WRONG = 0.005
"""Share of calls that may be told to fall into another cluster for the sake of fewer edges; arbitrary."""
ENOUGH, PARTS = 1000, 5
"""Calls in which clusters show, and parts in which a border is looked for: observations are joined to
so many, or fewer."""
MOSTLY = 0.6
"""Share of these parts that must have a border: chance puts one into few of them, and whether nearly all have
it is a matter of chance, too."""


def model(
    method: str,
    file: str | None,
    observations: Sequence[CallObservation],
    *,
    estimator: Literal["ours", "published"] = "ours",
) -> PathModel:
    """The performance model of a method (definition 7); without groups when no calls were seen."""
    in_time = sorted(observations, key=lambda o: o.start)
    if estimator == "published":
        found = stable_borders(in_time[-LAST:], find=published_borders)
    else:
        in_time = evened(in_time)
        found = stable_borders(joined(in_time), share=MOSTLY)
    same: dict[frozenset[CallEdge], list[NamedPath]] = {}
    for path in sorted({path for o in in_time for path, calls in o.durations.items() if len(valid(calls))}):
        same.setdefault(edges_of(path), []).append(path)
    if not same:
        return PathModel(method, file, (), (), ())
    by_name = {path: _counts(in_time, path, found) for paths in same.values() for path in paths}
    counts = np.array([sum(by_name[path] for path in paths) for paths in same.values()])
    if estimator == "published":
        labels = published_groups(counts.sum(axis=1))
    else:
        steady = _steady(counts)
        found, counts = (
            found[steady],
            np.add.reduceat(counts, np.append(0, np.flatnonzero(steady) + 1), axis=2),
        )
        labels = groups(counts, _passed(list(same)))
    ordered = every(in_time)
    places = np.searchsorted(ordered, found) / max(len(ordered), 1)
    empty = PathModel(method, file, tuple(places.tolist()), tuple(found.tolist()), ())
    calls = {path: int(by_name[path].sum()) for path in by_name}
    mined = _grouped(empty, list(same.values()), labels=labels, counts=counts.sum(axis=1), calls=calls)
    if estimator == "published":
        return mined
    labels = _readable(mined, list(same), labels, counts.sum(axis=1))
    return _grouped(empty, list(same.values()), labels=labels, counts=counts.sum(axis=1), calls=calls)


def _readable(
    mined: PathModel, paths: Sequence[frozenset[CallEdge]], labels: NDArray[np.int64], counts: Floats
) -> NDArray[np.int64]:
    """Groups that a few edges tell apart, more only where else too many calls would be told wrongly.

    labels, counts: the groups that were found, (n_paths,), and the calls by cluster, (n_paths, n_clusters).
    """
    for most in range(FEW_EDGES, MOST_EDGES + 1):
        simple = simpler(mined, most=most)
        found = np.array([simple[edges] for edges in paths], dtype=np.int64)
        wrong = np.abs(_expected(counts, found) - _expected(counts, labels)).sum(axis=1) / 2
        if wrong @ counts.sum(axis=1) <= MOST_WRONG * counts.sum():
            break
    return found


def _expected(counts: Floats, labels: NDArray[np.int64]) -> Floats:
    """Shares of each path's group by cluster, (n_paths, n_clusters)."""
    totals = np.zeros((labels.max() + 1, counts.shape[1]))
    np.add.at(totals, labels, counts)
    return vectors(totals)[labels]


def _grouped(
    empty: PathModel,
    paths: Sequence[Sequence[NamedPath]],
    *,
    labels: NDArray[np.int64],
    counts: Floats,
    calls: Mapping[NamedPath, int],
) -> PathModel:
    """With its groups. paths: those of the same edges, whose calls by cluster are a row of the counts."""
    made = [
        PathGroup(
            {path: calls[path] for i in np.flatnonzero(labels == label).tolist() for path in paths[i]},
            tuple(vectors(counts[labels == label].sum(axis=0)).tolist()),
        )
        for label in dict.fromkeys(labels.tolist())
    ]
    return replace(empty, groups=tuple(made))


def joined(observations: Sequence[CallObservation]) -> list[CallObservation]:
    """Successive observations, in the order of time, joined to a few that have enough calls to show clusters.

    What is left at the end is joined to the last.
    """
    enough = max(ENOUGH, sum(len(o.every) for o in observations) // PARTS)
    parts: list[list[CallObservation]] = [[]]
    for observation in observations:
        if sum(len(o.every) for o in parts[-1]) >= enough:
            parts.append([])
        parts[-1].append(observation)
    if len(parts) > 1 and sum(len(o.every) for o in parts[-1]) < enough:
        parts[-2:] = [[*parts[-2], *parts[-1]]]
    return [CallObservation(part[0].start, part[-1].end, {(): every(part)}) for part in parts if part]


def _counts(observations: Sequence[CallObservation], path: NamedPath, found: Floats) -> Floats:
    """Calls over a path by observation and cluster, (n_observations, n_clusters)."""
    seen = [valid(o.durations.get(path, np.zeros(0))) for o in observations]
    return np.array([np.round(np.array(shares(calls, found.tolist())) * len(calls)) for calls in seen])


def _passed(paths: Sequence[frozenset[CallEdge]]) -> Floats:
    """1 where a path passes an edge, (n_paths, n_edges)."""
    edges = {edge: i for i, edge in enumerate(sorted(frozenset().union(*paths)))}
    passed = np.zeros((len(paths), len(edges)))
    for row, path in zip(passed, paths, strict=True):
        row[[edges[edge] for edge in path]] = 1.0
    return passed


def _steady(counts: Floats) -> NDArray[np.bool_]:
    """Borders below which each trial has about the same share of calls, its mix of paths and chance aside.

    counts: calls by path, trial and cluster. Returns (n_borders,).
    """
    below, sizes = np.cumsum(counts, axis=2)[..., :-1], counts.sum(axis=2, keepdims=True)
    share = below.sum(axis=1, keepdims=True) / np.maximum(sizes.sum(axis=1, keepdims=True), 1)
    calls = np.maximum(sizes.sum(axis=0), 1)
    off = (below - sizes * share).sum(axis=0) / calls
    chance = (sizes * share * (1 - share)).sum(axis=0) / calls**2
    trials = max(counts.shape[1], 2)
    steady: NDArray[np.bool_] = (off**2 * trials / (trials - 1) - chance).mean(axis=0) <= UNSTEADY**2
    return steady
