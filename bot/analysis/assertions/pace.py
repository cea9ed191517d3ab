"""The pace of trials: by how much all calls take longer in one of them, which is the machine's doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bot.analysis.assertions.borders import BIN, SHORTEST, clock_tick, valid
from bot.model.assertions import CallObservation, Floats, NamedPath

QUANTILES = np.linspace(0.05, 0.95, 19)
LEAST = 10
"""Calls over a path in a trial from which on they tell something of its pace."""


def evened(observations: Sequence[CallObservation]) -> list[CallObservation]:
    """Durations as if all trials had run at the pace of the median one.

    Trials of one program differ by a tenth on a machine that has other work: clusters that are nearer than
    that run into each other when their calls are pooled, and each time others do. Durations of a coarse clock
    stay as they are: its values, each moved otherwise, would look like clusters.
    """
    if any(_coarse(o.every) for o in observations):
        return list(observations)
    return [
        replace(o, durations={path: calls / factor for path, calls in o.durations.items()})
        for o, factor in zip(observations, np.exp(paces(observations)).tolist(), strict=True)
    ]


def paces(observations: Sequence[CallObservation]) -> Floats:
    """Log of the time that calls take in each observation over what they usually take, (n_observations,).

    The median, by calls, over all paths and quantiles of a path's durations: where calls fall into other
    clusters than in other trials, only the quantiles in between move by more than the pace.
    """
    seen: dict[NamedPath, list[tuple[int, int, Floats]]] = {}
    for place, observation in enumerate(observations):
        for path, durations in observation.durations.items():
            if len(calls := valid(durations)) >= LEAST:
                ordered = np.log(np.maximum(np.sort(calls), SHORTEST))
                at = np.rint(QUANTILES * (len(ordered) - 1)).astype(np.int64)
                seen.setdefault(path, []).append((place, len(calls), ordered[at]))
    off: list[list[Floats]] = [[] for _ in observations]
    weights: list[list[Floats]] = [[] for _ in observations]
    for found in seen.values():
        usual = np.median([quantiles for _, _, quantiles in found], axis=0)
        for place, number, quantiles in found:
            off[place].append(quantiles - usual)
            weights[place].append(np.full(len(QUANTILES), float(number)))
    return np.array([_median(o, w) for o, w in zip(off, weights, strict=True)])


def _median(values: Sequence[Floats], weights: Sequence[Floats]) -> float:
    if not values:
        return 0.0
    flat = np.concatenate(values)
    order = np.argsort(flat, kind="stable")
    below = np.cumsum(np.concatenate(weights)[order])
    return float(flat[order][np.searchsorted(below, below[-1] / 2)])


def _coarse(ordered: Floats) -> bool:
    """Whether calls share their durations, and ticks of the clock are wider than the bins of borders."""
    calls = valid(ordered)
    distinct = np.unique(calls)
    if 2 * len(distinct) > len(calls) or not len(calls):
        return False
    return bool(BIN * np.quantile(calls, QUANTILES[0]) < clock_tick(distinct))
