"""Which cluster borders last over observations, since when, and what more calls of a method would tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bot.analysis.assertions.borders import CLOSE, borders, match, placed, valid
from bot.model.assertions import CallObservation, Floats

LAST = 10
"""Observations whose borders must agree (seeds/002, section 3.2)."""
SHARE = 0.9
"""Share of the observations that must have a border (theta)."""
Finder = Callable[[Floats], Floats]


def every(observations: Sequence[CallObservation]) -> Floats:
    """Durations of all calls, ascending, (n,), seconds: the distribution function."""
    return np.sort(valid(np.concatenate([np.zeros(0), *(o.every for o in observations)])))


def stable_borders(
    observations: Sequence[CallObservation], *, share: float = SHARE, find: Finder = borders
) -> Floats:
    """Borders that nearly all observations have (algorithm 1), (n_borders,), seconds, ascending.

    Borders that mean shift gathers by their values of the distribution function are one, at their centroid
    (see `placed`).
    """
    ordered = every(observations)
    found = np.sort(np.concatenate([np.zeros(0), *(find(o.every) for o in observations)]))
    values = np.searchsorted(ordered, found) / max(len(ordered), 1)
    modes, sizes = _mean_shift(values)
    return placed(ordered, modes[sizes >= share * len(observations) - 1e-9])


def first_stable(
    observations: Sequence[CallObservation], found: Floats, *, find: Finder = borders
) -> CallObservation | None:
    """The earliest of those newest observations that all have no other borders than these (algorithm 2).

    None: the newest has others already, or there is none.
    """
    in_time = sorted(observations, key=lambda o: o.start)
    ordered = every(in_time[-LAST:])
    earliest = None
    for observation in reversed(in_time):
        if not all(any(match(b, other, ordered) for other in found) for b in find(observation.every)):
            break
        earliest = observation
    return earliest


def utility(observations: Sequence[CallObservation], *, now: float, find: Finder = borders) -> float:
    """What more calls of a method are worth, 0 to 1 (algorithm 3). now: seconds on the observations' clock.

    Low while the borders stayed the same for long, rising with the time since. 1 when nothing was observed or
    the newest observation has a border that is not stable, where the paper leaves it open.
    """
    in_time = sorted(observations, key=lambda o: o.start)
    first = first_stable(in_time, stable_borders(in_time[-LAST:], find=find), find=find)
    if first is None:
        return 1.0
    end = in_time[-1].end
    return float(np.clip((now - end) / max(end - first.start, 1e-9), 0.0, 1.0))


def _mean_shift(values: Floats) -> tuple[Floats, Floats]:
    """Modes of values under a flat kernel (Comaniciu and Meer 2002), and how many values each has.

    values: ascending, (n,). Returns (n_modes,) twice.
    """
    at, sums = values, np.append(0.0, np.cumsum(values))
    for _ in range(100):
        first, last = np.searchsorted(values, at - CLOSE), np.searchsorted(values, at + CLOSE, side="right")
        moved = (sums[last] - sums[first]) / np.maximum(last - first, 1)
        if np.allclose(moved, at, rtol=0, atol=1e-9):
            break
        at = moved
    basin = np.cumsum(np.diff(at, prepend=at[:1]) >= CLOSE / 2)
    sizes = np.bincount(basin).astype(np.float64)
    return np.bincount(basin, weights=values) / sizes, sizes
