"""Cluster borders: durations with significantly fewer calls around them than on either side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bot.model.assertions import Floats

CLOSE = 0.02
"""Borders whose values of the distribution function differ by less are one (seeds/002, definition 1)."""
BIN = 0.016
"""Log seconds: peaks within an eighth of each other (8 bins) are one; runs and machines differ by as much."""
BOX = 4
"""Bins over which calls are counted together, at every scale."""
SIGNIFICANT = 24.0
"""Deviance from equal counts: 4.9 standard errors, for many places are looked at on many scales."""
DEPTH = 0.7
"""A valley has at most this share of its smaller peak's density: what is shallower does not last."""
WIDE = 8
"""Of boxes in which a valley's bottom is looked for, so many span it, at least."""
CHUNK = 1 << 20
"""Durations that are binned at a time."""
SHORTEST, LONGEST = 1e-15, 1e9
"""Seconds: no clock is finer, and no call takes thirty years."""
TEETH, BLUR = 5, 0.05
"""Equal gaps that make a comb of durations, at least; width of its teeth, as a share of a gap, at most."""
SAMPLE = 1 << 14
"""Durations in which the clock's tick is looked for."""


def match(x1: float, x2: float, ordered: Floats) -> bool:
    """Whether two borders are the same feature (definition 1). ordered: durations, ascending, (n,)."""
    first, second = np.searchsorted(ordered, [x1, x2], side="left")
    return bool(abs(first - second) < CLOSE * max(len(ordered), 1))


def published_borders(durations: Floats, *, bins: int = 100) -> Floats:
    """Local minima of the gradient of the distribution function on a histogram (section 3.1 as written).

    The leftmost of borders that match represents them. The paper does not tell its histogram.
    """
    calls = valid(durations)
    if len(calls) < 2 or calls.min() == calls.max():
        return np.zeros(0)
    counts, edges = np.histogram(calls, bins=bins)
    cdf = np.append(0, np.cumsum(counts)) / len(calls)
    slope = np.gradient(cdf)
    starts = np.flatnonzero(np.diff(slope, prepend=np.nan) != 0)
    found: list[int] = []
    for left, before, after in zip(starts[1:-1], starts[:-2], starts[2:], strict=True):
        lowest = slope[before] > slope[left] < slope[after]
        if lowest and (not found or cdf[left] - cdf[found[-1]] >= CLOSE):
            found.append(left)
    return edges[found]


def borders(durations: Floats) -> Floats:
    """Durations at which clusters of calls part, (n_borders,), seconds, ascending.

    durations: (n,), seconds, any order; negative ones and what is no number are dropped. A border is a valley
    of the density over log durations whose counts are significantly below those on both sides, on the finest
    scale on which they are.
    """
    calls = valid(durations)
    if len(calls) < 2 or calls.min() == calls.max():
        return np.zeros(0)
    axis = _Axis.of(calls)
    cumulated = axis.cumulated(calls)
    found: list[float] = []
    width = 1
    while 2 * BOX * width < len(cumulated):
        for valley in _valleys(_boxes(cumulated, width)):
            left, right = width * valley.left, width * (valley.right + BOX)
            if not any(left < other < right for other in found):
                found.append(_bottom(valley, width, cumulated))
        width *= 2
    return axis.seconds(_apart(np.sort(found), cumulated))


def valid(durations: Floats) -> Floats:
    """Without what a clock that jumped left behind."""
    values = np.asarray(durations, dtype=np.float64)
    fine = (values >= 0) & (values <= LONGEST)
    return values if fine.all() else values[fine]


def clock_tick(distinct: Floats) -> float:
    """Seconds between two values of the clock. distinct: durations, ascending, (n,).

    The smallest gap; or, of a clock whose values are blurred by rounding, the gap between the teeth of a
    comb.
    """
    gaps = np.diff(distinct)
    gaps = gaps[gaps > 1e-9 * distinct[1:]]
    if not len(gaps):
        return float(distinct[-1])
    ordered = np.sort(gaps)
    wide = ordered[1:][np.argmax(ordered[1:] / ordered[:-1])] if len(gaps) > 1 else np.inf
    ends = np.flatnonzero(np.diff(distinct) >= wide)
    widths = distinct[np.append(ends, -1)] - distinct[np.append(0, ends + 1)]
    apart = gaps[gaps >= wide]
    regular = (apart <= 1.5 * wide).sum() >= max(TEETH, len(apart) / 2)
    if regular and widths.max() <= wide * BLUR:
        gaps = apart
    least = gaps.min()
    near = gaps[gaps < 5 * least]
    return float(near.sum() / np.rint(near / least).sum())


@dataclass(frozen=True)
class _Axis:
    """Log durations in bins, as fine as the clock allows.

    A duration stands for all within half a tick of it. lowest, tick: seconds. ticks: values of the clock that
    are further apart than a bin.
    """

    lowest: float
    tick: float
    ticks: int

    @classmethod
    def of(cls, valid: Floats) -> _Axis:
        lowest = float(valid.min())
        distinct = np.unique(np.append(valid[:: max(len(valid) // SAMPLE, 1)], (lowest, valid.max())))
        tick = max(clock_tick(distinct), SHORTEST)
        return cls(lowest, tick, max(math.ceil(1 / BIN - 1 - lowest / tick), 0))

    @property
    def start(self) -> float:
        """Log seconds at which the bins begin."""
        return math.log(self.lowest + self.tick / 2)

    def cumulated(self, valid: Floats) -> Floats:
        """Calls below each edge between bins, (n_bins + 1,)."""
        after = math.log(self.lowest + (self.ticks + 0.5) * self.tick)
        counts = np.zeros(self.ticks + 1, dtype=np.int64)
        for first in range(0, len(valid), CHUNK):
            part = valid[first : first + CHUNK]
            places = self.ticks + ((np.log(part + self.tick) - after) / BIN).astype(np.int64)
            if self.ticks:
                at = np.rint((part - self.lowest) / self.tick)
                places = np.where(at < self.ticks, at, np.maximum(places, self.ticks)).astype(np.int64)
            more = np.bincount(places, minlength=len(counts))
            more[: len(counts)] += counts
            counts = more
        fine = np.log(self.lowest + (np.arange(self.ticks) + 0.5) * self.tick)
        edges = np.append(fine, after + BIN * np.arange(len(counts) - self.ticks + 1))
        even = np.arange(self.start, edges[-1] + BIN, BIN)
        below: Floats = np.interp(even, edges, np.append(0, np.cumsum(counts)))
        return below

    def seconds(self, places: Floats) -> Floats:
        """Durations at bins; where the clock is coarse, between two of its values."""
        raw = np.exp(self.start + BIN * places) - self.tick
        between = self.lowest + (np.floor((raw - self.lowest) / self.tick) + 0.5) * self.tick
        return np.unique(np.where(raw < self.lowest + self.ticks * self.tick, between, raw))


@dataclass(frozen=True)
class _Valley:
    """Boxes: the lowest, and the nearest on either side that are significantly higher."""

    left: int
    place: float
    right: int


def _boxes(cumulated: Floats, width: int) -> Floats:
    """Calls in boxes that begin every so many bins."""
    edges = cumulated[::width]
    counts: Floats = edges[BOX:] - edges[:-BOX]
    return counts


def _valleys(counts: Floats) -> list[_Valley]:
    """Boxes of calls that are lower than others on both sides."""
    turns = np.flatnonzero(np.diff(np.sign(np.diff(counts)), prepend=2, append=2) != 0)
    found: list[_Valley] = []
    peak, low, low_at, falling = 0.0, 0.0, 0, False
    peak_at = 0
    for at, count in zip(turns.tolist(), counts[turns].tolist(), strict=True):
        if not falling and count >= peak:
            peak, peak_at = count, at
        elif not falling or count < low:
            if falling or _below(count, peak):
                low, low_at, falling = count, at, True
        elif _below(low, count):
            found.append(_middle(counts, peak_at, low_at, at))
            peak, peak_at, falling = count, at, False
    return found


def _bottom(valley: _Valley, width: int, cumulated: Floats) -> float:
    """The bin at a valley's bottom. width: of its boxes, in bins.

    In wider boxes, for stray calls leave gaps beside the peaks as empty as the bottom is, and a border there
    would move with the machine's pace.
    """
    across = width * (valley.right - valley.left)
    wide = width
    while 2 * BOX * wide <= across / WIDE:
        wide *= 2
    if wide > width:
        counts = _boxes(cumulated, wide)
        left, right = width * valley.left // wide, min(-(-width * valley.right // wide), len(counts) - 1)
        valley = _middle(counts, left, left + int(np.argmin(counts[left : right + 1])), right)
    return wide * (valley.place + BOX / 2)


def _below(low: float, high: float) -> bool:
    """Whether two counts of equal boxes differ beyond chance, and much."""
    if low >= DEPTH * high:
        return False
    mean = (low + high) / 2
    deviance = high * math.log(high / mean) + (low * math.log(low / mean) if low > 0 else 0.0)
    return 2 * deviance >= SIGNIFICANT


def _middle(counts: Floats, left: int, low: int, right: int) -> _Valley:
    """The valley's bottom: the middle of the boxes about the lowest that are as low, within chance."""
    bound = counts[low] + math.sqrt(counts[low])
    higher = np.flatnonzero(counts[left : right + 1] > bound) + left
    first = higher[higher < low].max(initial=left) + 1
    last = higher[higher > low].min(initial=right) - 1
    return _Valley(left, (first + last) / 2, right)


def _apart(places: Floats, cumulated: Floats) -> Floats:
    """Without borders of clusters that have too few calls: the leftmost of such ones stays."""
    kept: list[float] = []
    below = 0.0
    for place, share in zip(
        places, np.interp(places, np.arange(len(cumulated)), cumulated) / cumulated[-1], strict=True
    ):
        if share - below >= CLOSE and 1 - share >= CLOSE:
            kept.append(float(place))
            below = share
    return np.array(kept)


def placed(ordered: Floats, values: Floats) -> Floats:
    """Borders at values of the distribution function, moved to where the fewest calls are within a match.

    ordered: durations, ascending, (n,), seconds. values: (n_borders,), 0 to 1. Returns seconds, (n_borders,):
    the same calls as on another machine, and never in the midst of many.
    """
    return np.array([_emptiest(ordered, value) for value in values])


def _emptiest(ordered: Floats, value: float) -> float:
    """The widest gap on a log axis in the widest run of a quarter match's calls."""
    reach = CLOSE * len(ordered)
    first, last = max(math.ceil(value * len(ordered) - reach), 0), math.floor(value * len(ordered) + reach)
    near = ordered[first : last + 1]
    for run in (max(math.ceil(reach / 4), 1), 1):
        gaps = (near[run:] - near[:-run]) / np.maximum(near[run:] + near[:-run], 1e-300)
        if not len(gaps):
            break
        widest = int(np.argmax(gaps))
        near = near[widest : widest + run + 1]
    return float(np.sqrt(near[0] * near[-1]) if near[0] > 0 else near[-1] / 2)
