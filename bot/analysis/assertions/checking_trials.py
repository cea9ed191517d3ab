"""What a trial says of some paths: shares of calls below the borders, and how long a typical call takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.assertions.borders import LONGEST, SHORTEST
from bot.model.assertions import CallObservation, Floats, NamedPath

EXTREME = 0.01
"""Share of calls at either end that count as if they were no further out: they vary most."""
LEAST_CALLS = 2
"""A trial with fewer calls says nothing of how they vary."""

LoggedCalls = dict[NamedPath, Floats]
"""Logarithms of durations in seconds by path, of one trial."""


@dataclass(frozen=True)
class Features:
    """Of trials: shares below each border, then logarithms of the geometric and the arithmetic mean duration.

    values: shape (n_trials, n_borders + 2); a trial with fewer than two calls is a row of NaN. noise:
    variances that come from the number of calls alone, were they independent; the same shape.
    """

    values: Floats
    noise: Floats


def cleaned(observations: Sequence[CallObservation]) -> tuple[list[LoggedCalls], int]:
    """Trials in order of time, and how many durations are none (negative, endless, not a number).

    A duration of zero is a call shorter than the clock's tick: half the smallest that was seen.
    """
    trials, wrong = [], 0
    usable = sorted(observations, key=lambda o: o.start)
    seen = np.concatenate([[LONGEST], *(d for o in usable for d in o.durations.values())])
    least = float(seen[seen >= SHORTEST].min())
    for observation in usable:
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


def features(
    trials: Sequence[LoggedCalls], weights: Mapping[NamedPath, float], borders: Floats, clock: Floats
) -> Features:
    """Of the calls over some paths; a path counts by its weight, however often it was taken in a trial.

    borders: logarithms of seconds, (n_borders,). clock: logarithm of how slow each trial was, (n_trials,).
    """
    rows = [_row(t, weights, borders, c) for t, c in zip(trials, clock, strict=True)]
    return Features(np.array([r[0] for r in rows]), np.array([r[1] for r in rows]))


def _row(
    trial: LoggedCalls, weights: Mapping[NamedPath, float], borders: Floats, clock: float
) -> tuple[Floats, Floats]:
    parts = [(trial[path], weight) for path, weight in weights.items() if path in trial]
    if sum(len(logged) for logged, _ in parts) < LEAST_CALLS or not np.isfinite(clock):
        return np.full(len(borders) + 2, np.nan), np.full(len(borders) + 2, np.nan)
    logs = np.concatenate([logged for logged, _ in parts]) - clock
    weight = np.concatenate([np.full(len(logged), share / len(logged)) for logged, share in parts])
    weight /= weight.sum()
    count = 1.0 / float(weight @ weight)
    order = np.argsort(logs)
    logs, weight = logs[order], weight[order]
    below = np.concatenate([[0.0], np.cumsum(weight)])
    share = below[np.searchsorted(logs, borders, side="left")]
    ends = np.searchsorted(below[1:], [EXTREME, 1.0 - EXTREME]).clip(max=len(logs) - 1)
    logs = np.clip(logs, logs[ends[0]], logs[ends[1]])
    typical = float(weight @ logs)
    relative = np.exp(logs - typical)
    mean = float(weight @ relative)
    smooth = (share * count + 0.5) / (count + 1.0)
    spread = [weight @ (logs - typical) ** 2, weight @ (relative / mean - 1.0) ** 2]
    noise = np.array([*(smooth * (1.0 - smooth)), *spread]) / max(count - 1.0, 0.5)
    return np.array([*share, typical, typical + np.log(mean)]), noise
