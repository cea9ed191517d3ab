"""What earlier runs measured, condensed: one value per run, configuration and revision, and its noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.pairs import Floats
from bot.model.history import NO_PAIR, OUTCOMES, TRACKS, Columnar, Measurements
from bot.model.space import Configuration, Space, Value

Ints = NDArray[np.int64]

POOLED = 8.0
"""A configuration's own noise counts against the pooled one like its steps against so many."""
MEDIAN = 1.57
"""Variance of a median of normal values, in variances of their mean."""
NORMAL = 0.6745
"""Median of the absolute value of a standard normal variable."""
LAYOUT = 0.004
"""Log ratio by which moved code changes a configuration at any revision: no difference is surer than that."""


@dataclass(frozen=True)
class Condensed:
    """Values of one metric that may be compared within their group.

    group: values of one configuration in one run (duets: of one pair of revisions, too), so that no machine
    is compared with another. configuration: into `configurations`; place: of the revision on the line;
    value: logarithm, or half of a duet's log ratio; variance: of the value; each of shape (n,). noise:
    standard deviation of a duet's log ratio in each configuration, and the differences it is known from.
    excess: by which factor variances are larger than repetitions say.
    """

    configurations: tuple[Configuration, ...]
    group: Ints
    configuration: Ints
    place: Ints
    value: Floats
    variance: Floats
    noise: Mapping[Configuration, tuple[float, int]]
    excess: float = 1.0

    def __len__(self) -> int:
        return len(self.value)

    def calmed(self, left: Floats) -> Condensed:
        """With variances as these values show, (n,), which are without the changes that are known.

        Where nights ask about changes, half of all differences and more are changes themselves.
        """
        own = self.variance / self.excess
        excess = min(self.excess, _excess(self.group, self.place, left, own))
        return replace(self, variance=excess * own, excess=excess)

    def narrowed(self, most: int) -> Condensed:
        """Without all but the `most` configurations that have most values."""
        count = np.bincount(self.configuration, minlength=len(self.configurations))
        kept = np.sort(np.argsort(-count, kind="stable")[:most])
        code = np.full(len(count), -1)
        code[kept] = np.arange(len(kept))
        rows = code[self.configuration] >= 0
        return replace(
            self,
            configurations=tuple(self.configurations[k] for k in kept),
            group=self.group[rows],
            configuration=code[self.configuration[rows]],
            place=self.place[rows],
            value=self.value[rows],
            variance=self.variance[rows],
        )


@dataclass(frozen=True)
class _Rows:
    """Values to be condensed: those of one cell repeat each other; `zero`: those that are noise alone."""

    cell: Ints
    configuration: Ints
    value: Floats
    zero: NDArray[np.bool_]


def configurations(past: Columnar, space: Space) -> tuple[tuple[Configuration, ...], Ints]:
    """Distinct configurations of the space as it is now, and the code of each old one (-1: none of it).

    An option that a run did not know had its default; one that is gone counts only where it had its own.
    """
    gone: dict[str, Value] = {}
    for run in past.runs:
        gone |= {name: known.default for name, known in run.options.items() if name not in space.index}
    known: dict[Configuration, int] = {}
    codes = []
    for old in past.configurations:
        valid = all(
            value in space.options[space.index[name]].values
            if name in space.index
            else gone.get(name) == value
            for name, value in old.items()
        )
        now = tuple(old.get(option.name, option.default) for option in space.options)
        codes.append(known.setdefault(now, len(known)) if valid else -1)
    return tuple(known), np.array([*codes, -1], dtype=np.int64)


def failures(past: Measurements, space: Space) -> dict[Configuration, tuple[int, int]]:
    """Trials and failed ones of each configuration."""
    found, codes = configurations(past, space)
    _, first = np.unique(past.run.astype(np.int64) << 32 | past.trial, return_index=True)
    code = codes[past.configuration[first]]
    failed = past.outcome[first] != OUTCOMES.index("ok")
    tried = np.bincount(code[code >= 0], minlength=len(found))
    lost = np.bincount(code[(code >= 0) & failed], minlength=len(found))
    return {c: (int(n), int(k)) for c, n, k in zip(found, tried, lost, strict=True)}


def condensed(past: Measurements, metric: str, space: Space, places: Mapping[str, int]) -> Condensed:
    """One metric's values on a line of revisions (id -> place); others only tell the noise."""
    found, codes = configurations(past, space)
    code = past.metrics.index(metric) if metric in past.metrics else None
    usable = (past.metric == code) & (past.track != TRACKS.index("instructions")) & (past.value > 0)
    rows = past.where(usable & (codes[past.configuration] >= 0))
    place_of = np.array([places.get(r.revision, -1) for r in past.revisions] + [-1], dtype=np.int64)
    place, configuration = place_of[rows.revision], codes[rows.configuration]
    log = np.log(rows.value)
    run = rows.run.astype(np.int64)
    alone = rows.pair == NO_PAIR
    # Of a pair's two rows the earlier revision's comes first.
    order = np.lexsort((rows.second, rows.revision, rows.pair, run))
    order = order[~alone[order]]
    a, b = order[:-1], order[1:]
    whole = (run[a] == run[b]) & (rows.pair[a] == rows.pair[b])
    a, b = a[whole], b[whole]
    turned = place[a] > place[b]
    a, b = np.where(turned, b, a), np.where(turned, a, b)
    duets = _Rows(
        _cells(run[a], configuration[a], rows.revision[a], rows.revision[b]),
        configuration[a],
        log[b] - log[a],
        rows.revision[a] == rows.revision[b],
    )
    cells = _cells(run[alone], configuration[alone], rows.revision[alone])
    lone = _Rows(cells, configuration[alone], log[alone], np.zeros(int(alone.sum()), bool))
    noise, scale = _noise(found, duets, lone)
    first, count, middle = _medians(duets)
    variance = MEDIAN * scale[duets.configuration[first]] ** 2 / count + LAYOUT**2
    before, after = place[a[first]], place[b[first]]
    moved = (before >= 0) & (after > before)
    number = np.arange(int(moved.sum()))
    parts = [
        (
            number,
            duets.configuration[first[moved]],
            side[moved],
            sign * middle[moved] / 2,
            variance[moved] / 2,
        )
        for side, sign in ((before, -1.0), (after, 1.0))
    ]
    first, count, middle = _medians(lone)
    own = np.flatnonzero(alone)[first]
    on = place[own] >= 0
    own, count, middle = own[on], count[on], middle[on]
    variance = MEDIAN * scale[configuration[own]] ** 2 / 2 / count + LAYOUT**2 / 2
    group = len(number) + _cells(run[own], configuration[own])
    parts.append((group, configuration[own], place[own], middle, variance))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    group, home, where, value, variance = columns
    excess = _excess(group, where, value, variance)
    return Condensed(found, group, home, where, value, excess * variance, noise, excess)


def _excess(group: Ints, place: Ints, value: Floats, variance: Floats) -> float:
    """By which factor values of neighbouring revisions vary more than their variances say, at least 1.

    Most revisions change nothing: what half of all differences exceed is noise, such as a drift during a run,
    or that of trials which were never repeated.
    """
    order = np.lexsort((place, group))
    same = np.diff(group[order]) == 0
    if not same.any():
        return 1.0
    away = np.abs(np.diff(value[order])) / np.sqrt(variance[order][1:] + variance[order][:-1])
    return max(1.0, float(np.median(away[same]) / NORMAL) ** 2)


def _cells(*keys: NDArray[np.integer]) -> Ints:
    """Number of each different combination of keys, (n,)."""
    cell: Ints = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        shifted = key.astype(np.int64)
        _, cell = np.unique(cell * (int(shifted.max(initial=0)) + 1) + shifted, return_inverse=True)
    return cell.astype(np.int64)


def _medians(rows: _Rows) -> tuple[Ints, Ints, Floats]:
    """Of each cell: a row of it, how many it has, and the median of its values."""
    order = np.lexsort((rows.value, rows.cell))
    _, start, count = np.unique(rows.cell[order], return_index=True, return_counts=True)
    value = rows.value[order]
    middle: Floats = (
        (value[start + (count - 1) // 2] + value[start + count // 2]) / 2.0 if len(start) else value
    )
    return order[start].astype(np.int64), count.astype(np.int64), middle


def _noise(
    found: tuple[Configuration, ...], duets: _Rows, lone: _Rows
) -> tuple[dict[Configuration, tuple[float, int]], Floats]:
    """Standard deviation of a duet's log ratio: what is known of each configuration; and drawn to the pool.

    From differences of successive repetitions, which need no location and forgive drift, and from duets of a
    revision beside itself, whose location is known. Two trials alone differ as much as a duet, or more: where
    there are duets, only they count.
    """
    rows, unit = (duets, 1.0) if len(duets.value) > len(lone.value) else (lone, np.sqrt(2.0))
    order = np.argsort(rows.cell, kind="stable")
    same = (np.diff(rows.cell[order]) == 0) & ~rows.zero[order][1:]
    steps = np.abs(np.diff(rows.value[order]))[same] / np.sqrt(2.0) * unit
    steps = np.concatenate([steps, np.abs(rows.value[rows.zero])])
    home = np.concatenate([rows.configuration[order][1:][same], rows.configuration[rows.zero]])
    order = np.lexsort((steps, home))
    _, start, count = np.unique(home[order], return_index=True, return_counts=True)
    steps, home = steps[order], home[order]
    pooled = 1.4826 * float(np.median(steps)) if len(steps) else LAYOUT
    scale = np.full(len(found), pooled)
    known = {}
    for k, n in zip(start, count, strict=True):
        own = 1.4826 * float(steps[k + (n - 1) // 2] + steps[k + n // 2]) / 2.0
        known[found[home[k]]] = (own, int(n))
        scale[home[k]] = np.sqrt((n * own**2 + POOLED * pooled**2) / (n + POOLED))
    return known, scale
