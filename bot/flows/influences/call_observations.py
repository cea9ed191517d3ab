"""Fine profiles as observations of calls: paths by name, of calls few enough to be kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from bot.model.assertions import GAP, CallEdge, CallObservation, Floats, NamedPath
from bot.model.profiles import CallSeries, Method, Profile

MOST_POINTS = 25_000
"""Calls of a method that are kept of a trial (seeds/002, section 3: no more are needed to know it)."""
MOST_NESTED = 0.1
"""Share of a method's time that watched calls below it may add; arbitrary."""


def observed(
    profile: Profile,
    *,
    start: float,
    end: float,
    edges: Collection[CallEdge] = (),
    wanted: Mapping[Method, Collection[Method]] = MappingProxyType({}),
) -> Mapping[Method, CallObservation]:
    """What a trial from `start` to `end` says of each watched method that was called.

    edges: all calls of the program by name, where they are known: in the paths of a tool that sees only
    watched callers, two may stand side by side though others were between them. wanted: by method the callers
    that such a tool watches for it: those of other methods come and go with them from trial to trial.
    """
    edges, wanted = ((), {}) if profile.tool.callers else (edges, wanted)
    found: dict[Method, dict[NamedPath, list[Floats]]] = defaultdict(lambda: defaultdict(list))
    for series in profile.series:
        durations = _durations(series)
        if len(durations):
            told = wanted.get(series.method, series.path)
            path = tuple(m.name for m in (*(m for m in series.path if m in told), series.method))
            found[series.method][_with_gaps(path, edges)].append(durations)
    calls = Counter[Method]()
    for series in profile.series:
        calls[series.method] += series.calls
    return {
        method: CallObservation(start, end, kept, calls[method] / max(sum(map(len, kept.values())), 1))
        for method, paths in found.items()
        for kept in (_kept(paths),)
    }


def recursive(profile: Profile) -> frozenset[Method]:
    """Watched methods that call themselves, directly or not."""
    return frozenset(series.method for series in profile.series if series.method in series.path)


def nested(profile: Profile) -> Mapping[Method, float]:
    """By method, the share of its time that watched calls below it may have added."""
    spent: dict[Method, float] = defaultdict(float)
    below: dict[Method, float] = defaultdict(float)
    for series in profile.series:
        spent[series.method] += series.seconds
        for caller in set(series.path) - {series.method}:
            below[caller] += series.calls * profile.tool.seconds_per_call
    return {method: below[method] / seconds for method, seconds in spent.items() if seconds > 0}


def _durations(series: CallSeries) -> Floats:
    """Seconds; of a histogram, the middles of its bins as often as they were met, thinned out."""
    if len(series.durations):
        return series.durations
    share = min(1.0, MOST_POINTS / max(int(series.counts.sum()), 1))
    middles = (series.edges[:-1] + series.edges[1:]) / 2.0
    return np.repeat(middles, np.ceil(series.counts * share).astype(np.int64))


def _kept(paths: Mapping[NamedPath, list[Floats]]) -> Mapping[NamedPath, Floats]:
    """At most `MOST_POINTS`, as many of each path as its share: evenly through the trial."""
    every = {path: np.concatenate(parts) for path, parts in paths.items()}
    total = sum(map(len, every.values()))
    if total <= MOST_POINTS:
        return every
    return {
        path: found[
            np.linspace(0, len(found) - 1, max(1, len(found) * MOST_POINTS // total)).astype(np.int64)
        ]
        for path, found in every.items()
    }


def _with_gaps(path: NamedPath, edges: Collection[CallEdge]) -> NamedPath:
    """The path with a gap wherever two names stand side by side that are no call of the program."""
    if not edges:
        return path
    told = list(path[:1])
    for caller, callee in pairwise(path):
        told += [callee] if (caller, callee) in edges else [GAP, callee]
    return tuple(told)
