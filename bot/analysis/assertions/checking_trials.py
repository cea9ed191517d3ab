"""What a trial says of some paths: shares of calls below the borders, and how long a typical call takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.assertions.borders import LONGEST, SHORTEST
from bot.model.assertions import CallObservation, Floats, NamedPath

EXTREME = 0.05
"""Share of calls at either end that count as if they were no further out: who waits for a core is chance."""
DOUBTED = 2.0
"""So many times as many calls, or as few, might as well count so: what hangs on that is chance. Arbitrary."""
LEAST_CALLS = 2
"""A trial with fewer calls says nothing of how they vary."""

TYPICAL, MEAN, WITHIN = OTHERS = (-3, -2, -1)
"""Places of the features that are logarithms of durations, from the end."""

LoggedCalls = dict[NamedPath, Floats]
"""Logarithms of durations in seconds by path, of one trial."""


@dataclass(frozen=True)
class Levels:
    """How calls are within the clusters: shares and mean logarithms, shape (n_clusters,); NaN: no calls."""

    share: Floats
    mean: Floats

    @classmethod
    def of(cls, cuts: Sequence[_Cut]) -> Levels:
        """Of several trials."""
        clusters = [cut.clusters() for cut in cuts]
        if not clusters:
            return cls(np.zeros(0), np.zeros(0))
        share = np.array([c[0] for c in clusters])
        mean = np.array([c[1] for c in clusters])
        seen = np.where(np.isnan(mean), 0.0, share)
        with np.errstate(invalid="ignore"):
            return cls(share.mean(axis=0), (seen * np.nan_to_num(mean)).sum(axis=0) / seen.sum(axis=0))

    def deviation(self, cut: _Cut) -> tuple[float, float]:
        """How much longer calls take within the clusters: mean logarithm, by shares; and its variance."""
        _, mean, error = cut.clusters()
        away = mean - self.mean
        shared = np.where(np.isnan(away), 0.0, self.share)
        if not shared.sum():
            return 0.0, 0.0  # no cluster has calls on both sides: their shares tell all
        shared = shared / shared.sum()
        return float(shared @ np.nan_to_num(away)), float(shared**2 @ np.nan_to_num(error))


@dataclass(frozen=True)
class Features:
    """Of trials: shares below each border; then logarithms of how long a call takes, in three ways.

    values: shape (n_trials, n_borders + 3); the last three: the geometric mean, the arithmetic mean, and how
    far calls are from `levels` within their clusters. A trial with fewer than two calls is a row of NaN.
    noise: variances that come from the number of calls alone, were they independent; the same shape.
    """

    values: Floats
    noise: Floats
    levels: Levels


def cleaned(observations: Sequence[CallObservation]) -> tuple[list[LoggedCalls], int]:
    """Trials, and how many durations are none (negative, endless, not a number).

    A duration of zero is a call shorter than the clock's tick: half the smallest that was seen.
    """
    trials, wrong = [], 0
    seen = np.concatenate([[LONGEST], *(d for o in observations for d in o.durations.values())])
    least = float(seen[seen >= SHORTEST].min())
    for observation in observations:
        logged = {}
        for path, durations in observation.durations.items():
            values = np.asarray(durations, dtype=np.float64)
            good = values[(values >= 0.0) & (values <= LONGEST)]
            wrong += len(values) - len(good)
            if len(good):
                logged[path] = np.log(np.where(good >= SHORTEST, good, least / 2.0))
        trials.append(logged)
    return trials, wrong


def calls_by_path(trials: Sequence[LoggedCalls]) -> dict[NamedPath, int]:
    """Calls over all trials."""
    counts: dict[NamedPath, int] = {}
    for trial in trials:
        for path, logged in trial.items():
            counts[path] = counts.get(path, 0) + len(logged)
    return counts


@dataclass(frozen=True)
class _Cut:
    """Calls of a trial over some paths, ascending logarithms and weights, (n,), that sum to one.

    below: share of calls below each border, (n_borders,). otherwise: the same calls, were fewer drawn in at
    the ends, and more.
    """

    logs: Floats
    weight: Floats
    borders: Floats
    below: Floats
    otherwise: tuple[_Cut, ...] = ()

    def clusters(self) -> tuple[Floats, Floats, Floats]:
        """Of each cluster, (n_clusters,): its share, its mean and the mean's variance; NaN: too few calls."""
        place = np.searchsorted(self.borders, self.logs, side="right")
        n = len(self.borders) + 1
        share = np.asarray(np.bincount(place, self.weight, n), dtype=np.float64)
        squares = np.bincount(place, self.weight**2, n)
        enough = np.bincount(place, minlength=n) >= LEAST_CALLS
        safe = np.where(enough, share, np.nan)
        mean = np.bincount(place, self.weight * self.logs, n) / safe
        spread = np.bincount(place, self.weight * (self.logs - mean[place]) ** 2, n) / safe
        return share, mean, spread * squares / np.maximum(safe**2 - squares, 0.5 * squares)


def features(
    trials: Sequence[LoggedCalls],
    weights: Mapping[NamedPath, float],
    borders: Floats,
    *,
    clock: Floats,
    like: Levels | None = None,
) -> Features:
    """Of the calls over some paths; a path counts by its weight, however often it was taken in a trial.

    borders: logarithms of seconds, (n_borders,). clock: logarithm of how slow each trial was, (n_trials,).
    like: what calls within a cluster are compared with; None: with these trials themselves.
    """
    cuts = [_cut(t, weights, borders, c) for t, c in zip(trials, clock, strict=True)]
    levels = like or Levels.of([cut for cut in cuts if cut])
    width = len(borders) + len(OTHERS)
    rows = [_row(cut, levels) if cut else (np.full(width, np.nan),) * 2 for cut in cuts]
    return Features(np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), levels)


def _cut(
    trial: LoggedCalls, weights: Mapping[NamedPath, float], borders: Floats, clock: float
) -> _Cut | None:
    """The calls of a trial; None: too few."""
    parts = [(trial[path], weight) for path, weight in weights.items() if path in trial]
    if sum(len(logged) for logged, _ in parts) < LEAST_CALLS or not np.isfinite(clock):
        return None
    logs = np.concatenate([logged for logged, _ in parts]) - clock
    weight = np.concatenate([np.full(len(logged), share / len(logged)) for logged, share in parts])
    order = np.argsort(logs)
    logs, weight = logs[order], weight[order] / weight.sum()
    upto = np.cumsum(weight)
    below = np.append(0.0, upto)[np.searchsorted(logs, borders, side="left")]

    def drawn(extreme: float) -> Floats:
        ends = np.searchsorted(upto, [extreme, 1.0 - extreme]).clip(max=len(logs) - 1)
        return np.clip(logs, logs[ends[0]], logs[ends[1]])

    other = tuple(_Cut(drawn(extreme), weight, borders, below) for extreme in _doubted(weight))
    return _Cut(drawn(EXTREME), weight, borders, below, other)


def _doubted(weight: Floats) -> tuple[float, float]:
    """The least and the most share of calls that might as well be drawn in at an end, chance included."""
    fewer, more = EXTREME / DOUBTED, EXTREME * DOUBTED
    squares = float(weight @ weight)
    return max(fewer - np.sqrt(fewer * squares), 0.0), min(more + np.sqrt(more * squares), 0.5)


def _lengths(cut: _Cut, levels: Levels) -> Floats:
    """How long a call takes, in three ways: `OTHERS`."""
    typical = float(cut.weight @ cut.logs)
    mean = float(cut.weight @ np.exp(cut.logs - typical))
    return np.array([typical, typical + np.log(mean), levels.deviation(cut)[0]])


def _row(cut: _Cut, levels: Levels) -> tuple[Floats, Floats]:
    """Values and noise of one trial.

    Part of the noise of how long calls take is what hangs on where their ends are drawn in: of forty calls,
    two that had to wait for a core would change nothing, and three make ten times the mean.
    """
    count = 1.0 / float(cut.weight @ cut.weight)
    lengths = _lengths(cut, levels)
    relative = np.exp(cut.logs - lengths[0])
    smooth = (cut.below * count + 0.5) / (count + 1.0)
    spread = [
        cut.weight @ (cut.logs - lengths[0]) ** 2,
        cut.weight @ (relative / (cut.weight @ relative) - 1.0) ** 2,
    ]
    noise = np.array([*(smooth * (1.0 - smooth)), *spread]) / max(count - 1.0, 0.5)
    noise = np.append(noise, levels.deviation(cut)[1])
    fewer, more = (_lengths(other, levels) for other in cut.otherwise)
    noise[TYPICAL:] += ((fewer - more) / 2.0) ** 2
    return np.array([*cut.below, *lengths]), noise
