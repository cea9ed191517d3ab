"""From observed calls to the model of a method: clusters, and groups of paths that share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from bot.analysis.assertions.borders import published_borders, valid
from bot.analysis.assertions.grouping import groups, published_groups, vectors
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
ENOUGH = 1000
"""Calls in which clusters show: shorter observations are joined before borders are looked for."""


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
        found = _steady(stable_borders(joined(in_time)), in_time)
    same: dict[frozenset[CallEdge], list[NamedPath]] = {}
    for path in sorted({path for o in in_time for path, calls in o.durations.items() if len(valid(calls))}):
        same.setdefault(edges_of(path), []).append(path)
    by_name = {path: _counts(in_time, path, found) for paths in same.values() for path in paths}
    counts = np.array([sum(by_name[path] for path in paths) for paths in same.values()])
    counts = counts.reshape(len(same), len(in_time), len(found) + 1)
    if estimator == "published":
        labels = published_groups(counts.sum(axis=1))
    else:
        labels = groups(counts, _passed(list(same)))
    made = [
        PathGroup(
            {path: int(by_name[path].sum()) for i in members for path in list(same.values())[i]},
            tuple(vectors(counts[members].sum(axis=(0, 1))).tolist()),
        )
        for members in (np.flatnonzero(labels == label) for label in dict.fromkeys(labels.tolist()))
    ]
    ordered = every(in_time)
    places = np.searchsorted(ordered, found) / max(len(ordered), 1)
    return PathModel(method, file, tuple(places.tolist()), tuple(found.tolist()), tuple(made))


def joined(observations: Sequence[CallObservation]) -> list[CallObservation]:
    """Successive observations, in the order of time, joined until each has enough calls to show clusters.

    What is left at the end is joined to the last.
    """
    parts: list[list[CallObservation]] = [[]]
    for observation in observations:
        if sum(len(o.every) for o in parts[-1]) >= ENOUGH:
            parts.append([])
        parts[-1].append(observation)
    if len(parts) > 1 and sum(len(o.every) for o in parts[-1]) < ENOUGH:
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


def _steady(found: Floats, observations: Sequence[CallObservation]) -> Floats:
    """The borders below which each trial has about the same share of its calls, chance aside."""
    trials = [calls for o in observations if len(calls := np.sort(valid(o.every)))]
    if len(trials) < 2 or not len(found):
        return found
    below = np.array([np.searchsorted(calls, found) / len(calls) for calls in trials])
    chance = below.mean(axis=0) * (1.0 - below.mean(axis=0)) * np.mean([1.0 / len(calls) for calls in trials])
    return np.asarray(found[below.var(axis=0, ddof=1) - chance <= UNSTEADY**2])
