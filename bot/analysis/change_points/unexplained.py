"""What moved and no change point explains: a finished search that saw it must not look green."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bot.analysis.change_points.noise import Floats, Ints
from bot.analysis.change_points.visible import by_configuration, scale_of
from bot.model.change_points import ChangePoint, Observation
from bot.model.space import Configuration, Space

CLEAR = 7.0
"""Standard errors of a configuration's shift; the best of all its splits must stand out."""
FEWEST, SHARE = 3, 0.1
"""Configurations that shifted at one place: so many, and such a share of all that were measured around it."""
SHOWN = 3
"""Of these the clearest ones that are named."""
CREPT, AMOUNT = 4.0, 2.0
"""Standard errors of what the middle configuration moved from end to end, and thresholds. Arbitrary."""
END = 0.1
"""Share of the range in which a configuration's first, and last, trial may lie to speak for all of it."""


@dataclass(frozen=True)
class Unexplained:
    """Between which revisions something moved, in how many of the configurations measured around it.

    first, last: revisions it may be. slower: so many of those that moved. size: their median absolute log
    ratio. clearest: some of them, those that moved most beyond their noise first.
    """

    first: int
    last: int
    moved: int
    slower: int
    measured: int
    size: float
    clearest: tuple[Configuration, ...] = ()


class _Shift(NamedTuple):
    """Of one configuration: first and last revision it may be, log ratio, and how many standard errors."""

    first: int
    last: int
    move: float
    errors: float


def unexplained(
    space: Space, observations: Sequence[Observation], points: Sequence[ChangePoint], *, least: float
) -> Unexplained | None:
    """The place where most configurations shifted by `least` (a share) or more beside what is told.

    Of each configuration the trials between two told changes that it holds are looked at by themselves, so
    that a change may be larger in one configuration than in another. None: there is no such place.
    """
    trials = by_configuration(observations)
    scale = max(scale_of(trials), 1e-9) if trials else 1.0
    shifts: list[tuple[_Shift, Configuration]] = []
    for configuration, (at, logs) in trials.items():
        held = holding(points, configuration, space)
        for rows in _between(at, held):
            shift = _largest(at[rows], logs[rows], scale)
            if shift is not None and abs(shift.move) >= math.log1p(least):
                shifts.append((shift, configuration))
    if not shifts:
        return None
    last = max((s.last for s, _ in shifts), key=lambda r: sum(s.first <= r <= s.last for s, _ in shifts))
    there = [(s, c) for s, c in shifts if s.first <= last <= s.last]
    first = max(s.first for s, _ in there)
    around = sum(int(at[0]) < first and int(at[-1]) >= last for at, _ in trials.values())
    if len(there) < max(FEWEST, SHARE * around):
        return None
    clearest = sorted(there, key=lambda found: found[0].errors, reverse=True)[:SHOWN]
    return Unexplained(
        first,
        min(s.last for s, _ in there),
        moved=len(there),
        slower=sum(s.move > 0.0 for s, _ in there),
        measured=around,
        size=float(np.median([abs(s.move) for s, _ in there])),
        clearest=tuple(c for _, c in clearest),
    )


def holding(points: Sequence[ChangePoint], configuration: Configuration, space: Space) -> list[ChangePoint]:
    """Changes that a configuration holds, by whichever of their names."""
    return [p for p in points if any(space.carries(t, configuration) for t in (p.term, *p.aliases))]


@dataclass(frozen=True)
class Creep:
    """What the middle one of so many configurations moved from one revision to another, a log ratio.

    about: of some of them trials begin a little later, or end a little earlier.
    """

    first: int
    last: int
    measured: int
    size: float
    about: bool = False


def creep(
    space: Space,
    observations: Sequence[Observation],
    points: Sequence[ChangePoint],
    *,
    least: float,
    anchor: int | None = None,
) -> Creep | None:
    """What moved from end to end of the range beside what is told, and more than twice `least` (a share).

    Small steps, one by one, are below what a search tells, and one that was cut did not look everywhere.
    anchor: the revision to which values are ratios. None: nothing clear, or too few configurations have
    trials near both ends.
    """
    trials = by_configuration(observations)
    ends = {c: (_end(at, logs, anchor, 0), _end(at, logs, anchor, -1)) for c, (at, logs) in trials.items()}
    first = min((early.at for early, _ in ends.values()), default=0)
    last = max((late.at for _, late in ends.values()), default=0)
    near = END * (last - first)
    moved, errors, about = [], [], False
    for configuration, (early, late) in ends.items():
        if early.at <= first + near and late.at >= last - near and early.at < late.at:
            held = holding(points, configuration, space)
            told = sum(math.log(p.ratio) for p in held if early.at < p.revision <= late.at)
            moved.append(late.log - early.log - told)
            errors.append(early.error + late.error)
            about |= (early.at, late.at) != (first, last)
    if len(moved) < FEWEST:
        return None
    size = float(np.median(moved))
    error = max(scale_of(trials), 1e-9) * math.sqrt(float(np.mean(errors)) / len(moved))
    clear = abs(size) > max(CREPT * error, math.log1p(AMOUNT * least))
    return Creep(first, last, len(moved), size, about) if clear else None


class _End(NamedTuple):
    """A configuration's first or last revision, its log ratio there, and the error of that in variances."""

    at: int
    log: float
    error: float


def _end(at: Ints, logs: Floats, anchor: int | None, end: int) -> _End:
    """end: 0 for the first revision, -1 for the last one."""
    place = int(at[end])
    if anchor is not None and (anchor <= place if end == 0 else anchor >= place):
        return _End(anchor, 0.0, 0.0)  # beside itself it has no trials
    here = logs[at == place]
    return _End(place, float(np.median(here)), 1.0 / len(here))


def _between(at: Ints, points: Sequence[ChangePoint]) -> Iterator[Ints]:
    """Rows of each stretch between changes; those inside a change's interval may be on either side of it."""
    start = 0
    for first, last in sorted(p.interval for p in points):
        yield np.flatnonzero((at >= start) & (at < first))
        start = last
    yield np.flatnonzero(at >= start)


def _largest(at: Ints, logs: Floats, scale: float) -> _Shift | None:
    """The clearest shift between neighbouring revisions."""
    cuts = np.flatnonzero(np.diff(at)) + 1
    if not len(cuts):
        return None
    sums = np.cumsum(logs)
    before, after = sums[cuts - 1] / cuts, (sums[-1] - sums[cuts - 1]) / (len(logs) - cuts)
    clear = np.abs(after - before) / (scale * np.sqrt(1.0 / cuts + 1.0 / (len(logs) - cuts)))
    best = int(np.argmax(clear))
    if clear[best] < CLEAR:
        return None
    move = float(after[best] - before[best])
    return _Shift(int(at[cuts[best] - 1]) + 1, int(at[cuts[best]]), move, float(clear[best]))
