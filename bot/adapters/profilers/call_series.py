"""Durations of watched calls: from what hooks kept, single or in log-linear bins, to series to learn from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bot.model.profiles import CallPath, CallSeries, Method

BINS_PER_OCTAVE = 32
"""Bins of one nanosecond up to this many, then of a 32nd of each octave (3 %)."""
MOST_BINS = BINS_PER_OCTAVE * 60
MOST_KEPT = 100_000
"""Calls of one context whose durations are kept one by one."""
MOST_BIAS = 0.1
"""Share of a median duration that may be the tool's own; arbitrary."""
LEFT = 0.5
"""Of the tool's own part, which is taken off, what may be left or too much: of the agent in Python programs,
uftrace and Frida mostly a fifth (benchmarks/assertions/results/shifts.md); other tools were not measured."""


@dataclass(frozen=True)
class Watched:
    """What one thread saw of a method's calls in one context. durations: in nanoseconds; bins: counts."""

    method: Method
    path: CallPath
    calls: int
    nanoseconds: int
    durations: Sequence[int] = ()
    bins: Mapping[int, int] = field(default_factory=dict)
    given: Sequence[tuple[str, ...]] = ()


def bin_of(nanoseconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of each duration, shape (n,)."""
    octave = np.maximum(0, np.frexp(nanoseconds.astype(np.float64))[1] - BINS_PER_OCTAVE.bit_length())
    bins: NDArray[np.int64] = BINS_PER_OCTAVE * octave + (nanoseconds >> octave)
    return bins


def lower_edges(first: int, last: int) -> NDArray[np.float64]:
    """Seconds at which the bins from `first` to `last` begin, and where the last ends, shape (bins + 1,)."""
    bins = np.arange(first, last + 2)
    octave = np.maximum(0, bins // BINS_PER_OCTAVE - 1)
    edges: NDArray[np.float64] = (bins - BINS_PER_OCTAVE * octave) * np.exp2(octave) / 1e9
    return edges


def merged(parts: Iterable[Watched]) -> list[CallSeries]:
    """One series for each method and path; durations stay single ones where all parts have kept them."""
    groups: defaultdict[tuple[Method, CallPath], list[Watched]] = defaultdict(list)
    for part in parts:
        if part.calls:
            groups[part.method, part.path].append(part)
    return [_series(method, path, group) for (method, path), group in groups.items()]


def _series(method: Method, path: CallPath, parts: Sequence[Watched]) -> CallSeries:
    calls, seconds = sum(p.calls for p in parts), sum(p.nanoseconds for p in parts) / 1e9
    durations = np.array([d for p in parts for d in p.durations], dtype=np.int64)
    empty = np.zeros(0)
    if len(durations) == calls and calls <= MOST_KEPT:
        given = tuple(g for p in parts for g in p.given)
        kept = given if len(given) == calls else ()
        return CallSeries(method, path, calls, seconds, durations / 1e9, empty, empty.astype(np.int64), kept)
    counts = Counter(bin_of(durations).tolist())
    for part in parts:
        counts.update(part.bins)
    if not counts:
        return CallSeries.summed(method, path, calls, seconds)
    first, last = min(counts), max(counts)
    column = np.array([counts[b] for b in range(first, last + 1)], dtype=np.int64)
    return CallSeries(method, path, calls, seconds, empty, lower_edges(first, last), column)


def median(series: CallSeries) -> float:
    """Seconds; of a histogram, the middle of the bin it lies in. NaN without durations."""
    if len(series.durations):
        return float(np.median(series.durations))
    if not len(series.counts):
        return float("nan")
    place = int(np.searchsorted(np.cumsum(series.counts), series.counts.sum() / 2))
    return float(series.edges[place : place + 2].mean())


def trusted(series: Sequence[CallSeries], bias: float) -> tuple[list[CallSeries], list[str]]:
    """The series that the tool's own time does not blur, and a note on those that it does. bias: seconds."""
    clear = [s for s in series if not bias > MOST_BIAS * median(s)]
    blurred = len({s.method for s in series} - {s.method for s in clear})
    if not blurred:
        return clear, []
    return clear, [
        f"Calls of {blurred} watched methods are only counted: {bias * 1e9:.0f} ns of the tool's own are "
        f"in each, more than {MOST_BIAS:.0%} of it."
    ]
