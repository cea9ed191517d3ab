"""Series of calls per method and path from what a tracer recorded, freed of the tracer's own time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bot.adapters.profilers.call_series import LEFT, MOST_BIAS, MOST_KEPT, bin_of, lower_edges
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.signatures import Parameter
from bot.adapters.profilers.native.uftrace_file import Node, Recording
from bot.model.profiles import CallPath, CallSeries, Method, MethodCost

MOST_BELOW = 0.5
"""Of the median duration, what the tracer adds by watched calls below; more is too much to be subtracted."""

_NONE = np.empty(0)


UNMEASURED = 1e-6
"""Seconds; arbitrary."""


@dataclass(frozen=True)
class Bias:
    """Seconds of the tracer: in each call that it times, and in its callers for each call below them."""

    own: float = 0.0
    below: float = 0.0

    @property
    def expected(self) -> float:
        """Seconds that calls may be too long: what was measured, or what slow machines take at most."""
        return UNMEASURED if self == Bias() else self.own

    @property
    def left(self) -> float:
        """Share of what is expected that may be left once what was measured is taken off."""
        return 1.0 if self == Bias() else LEFT


@dataclass(frozen=True)
class Traced:
    """What a trace says about methods; `short`: those whose calls are too short for this tracer."""

    methods: Mapping[Method, MethodCost]
    series: Sequence[CallSeries]
    short: Sequence[Method] = ()


def series_of(
    recording: Recording,
    method_at: Callable[[Spot], Method | None],
    bias: Bias,
    parameters_at: Callable[[Spot], Sequence[Parameter]] = lambda _: (),
) -> Traced:
    """Groups calls by method and path of watched callers; `method_at`: None for what is not watched.

    Durations are in seconds, without the tracer's own time. A method counts once in its own recursion.
    """
    grouped: dict[tuple[Method, CallPath], list[NDArray[np.float64]]] = defaultdict(list)
    given: dict[tuple[Method, CallPath], list[tuple[str, ...]]] = defaultdict(list)
    sums: dict[Method, _Sums] = defaultdict(_Sums)
    paths: dict[int, tuple[Method | None, CallPath]] = {}
    for node in recording.nodes:  # parents come before their children
        method, path = method_at(node.spot), _path(node, paths)
        paths[id(node)] = method, path
        if method is None or not node.durations:
            continue
        seconds = np.array(node.durations, np.float64) / 1e9
        added = np.array(node.nested, np.float64) * bias.below
        freed = np.maximum(seconds - bias.own - added, 0.0)
        grouped[method, path].append(freed)
        given[method, path] += _told(node, parameters_at(node.spot))
        sums[method].add(seconds, added, freed, outermost=method not in path)
        if path and path[-1] in sums:  # it may not have ended
            sums[path[-1]].own -= float(freed.sum())
    short = {method for method, known in sums.items() if known.too_short(bias)}
    everything = sum(max(0.0, known.own) for known in sums.values()) or 1.0
    costs = {
        method: MethodCost(
            max(0.0, known.own) / everything,
            total_seconds=None if method in short else known.total,
            calls=sum(len(part) for part in known.raw),
        )
        for method, known in sums.items()
    }
    made = [
        _series(method, path, parts, tuple(given[method, path]))
        for (method, path), parts in grouped.items()
        if method not in short
    ]
    return Traced(costs, made, sorted(short, key=lambda m: (m.name, m.file or "")))


@dataclass
class _Sums:
    """Of one method: durations as recorded, what the tracer added, seconds without and with callees."""

    raw: list[NDArray[np.float64]] = field(default_factory=list)
    added: list[NDArray[np.float64]] = field(default_factory=list)
    own: float = 0.0
    total: float = 0.0

    def add(
        self,
        seconds: NDArray[np.float64],
        added: NDArray[np.float64],
        freed: NDArray[np.float64],
        *,
        outermost: bool,
    ) -> None:
        """Adds calls over one path."""
        self.raw.append(seconds)
        self.added.append(added)
        self.own += float(freed.sum())
        if outermost:
            self.total += float(freed.sum())

    def too_short(self, bias: Bias) -> bool:
        """Whether too much of the durations may still be the tracer's own time."""
        middle = _median(self.raw)
        return LEFT * bias.own > MOST_BIAS * middle or _median(self.added) > MOST_BELOW * middle


def _path(node: Node, paths: Mapping[int, tuple[Method | None, CallPath]]) -> CallPath:
    if node.parent is None:
        return ()
    method, path = paths[id(node.parent)]
    return path if method is None else (*path, method)


def median_seconds(node: Node) -> float:
    """Of the calls of a node, as they were recorded."""
    return _median([np.array(node.durations, np.float64) / 1e9])


def _median(parts: Sequence[NDArray[np.float64]]) -> float:
    durations = np.concatenate(parts)
    return float(np.median(durations)) if durations.size else 0.0


def _told(node: Node, parameters: Sequence[Parameter]) -> list[tuple[str, ...]]:
    """Of each call, what its arguments were like."""
    if not parameters:
        return []
    told: dict[tuple[int, ...], tuple[str, ...]] = {}
    for registers in node.given:
        if registers not in told:
            told[registers] = tuple(p.told(registers) for p in parameters)
    return [told[registers] for registers in node.given]


def _series(
    method: Method, path: CallPath, parts: Sequence[NDArray[np.float64]], given: tuple[tuple[str, ...], ...]
) -> CallSeries:
    durations = np.concatenate(parts)
    calls, seconds = len(durations), float(durations.sum())
    if calls <= MOST_KEPT:
        kept = given if len(given) == calls else ()
        return CallSeries(method, path, calls, seconds, durations, _NONE, np.empty(0, np.int64), kept)
    bins = bin_of(np.rint(durations * 1e9).astype(np.int64))
    first, last = int(bins.min()), int(bins.max())
    return CallSeries(
        method, path, calls, seconds, _NONE, lower_edges(first, last), np.bincount(bins - first)
    )
