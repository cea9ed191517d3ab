"""Trials of a short range by cell, a configuration at a revision: repeated, odd and failed ones."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median_low

import numpy as np
from numpy.typing import NDArray

from bot.analysis.pairs import unbiased

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
Cell = tuple[int, int]
"""A configuration's number and a revision."""

FAR, ENOUGH = 4.5, 4
"""Standard deviations from which on a trial is far out; trials that show it."""
TRUSTED = 3
"""An odd cell with so many trials counts as it is: their median."""
FLOOR = 0.1
"""Share of the smallest value that a level is not below, whatever is taken from it."""
DOUBT = 100.0
"""Factor on the variance of an odd cell that was measured less often."""


@dataclass
class Cells:
    """Everything measured so far.

    anchor: values are ratios to this revision, exactly known there; None: they are seconds. odd: cells that
    no explanation accounts for. repeats: whether measuring a cell again may give another value. relative:
    whether tables are, see there, unless a value is nothing.
    """

    anchor: int | None = None
    relative: bool = False
    odd: set[Cell] = field(default_factory=set)
    repeats: bool = True
    _trials: dict[Cell, list[float]] = field(default_factory=lambda: defaultdict(list))
    _anchors: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    def __len__(self) -> int:
        return len(self._trials)

    def add(self, cell: Cell, value: float, anchor: float = 1.0) -> None:
        """Takes in one trial's value, and what the anchor took beside it."""
        self._anchors[cell[0]].append(anchor)
        if cell[1] == self.anchor:
            return
        before = self._trials[cell]
        if before and value == before[-1]:
            self.repeats = False  # the same figure again: a record, or a count without noise
            return
        before.append(value)

    def count(self, cell: Cell) -> int:
        """Trials of a cell."""
        return len(self._trials.get(cell, ()))

    def table(self) -> Table:
        """All cells, in order of configuration and revision.

        One figure of the anchor serves all of a configuration's ratios, so that its noise does not come back
        in each; that figure is learned from all of them, because one disturbed trial would move them all.
        """
        known = set() if self.anchor is None else {(c, self.anchor) for c in self._anchors}
        cells = sorted(self._trials.keys() | known)
        level = {c: 1.0 if self.anchor is None else median_low(found) for c, found in self._anchors.items()}
        values = [level[c[0]] * np.array([1.0] if c in known else self._trials[c]) for c in cells]
        relative = self.relative and all(v.min() > 0.0 for v in values)
        if relative:
            values = [np.log(v) for v in values]
        where = np.array(cells, dtype=np.intp).reshape(-1, 2)
        count = np.array([0 if c in known else len(v) for c, v in zip(cells, values, strict=True)])
        spread = np.array([robust_deviation(v) for v in values], dtype=np.float64)
        doubt = [DOUBT if c in self.odd and n < TRUSTED else 1.0 for c, n in zip(cells, count, strict=True)]
        return Table(
            configuration=where[:, 0],
            revision=where[:, 1],
            value=np.array([np.median(v) for v in values], dtype=np.float64),
            count=count,
            doubt=np.array(doubt, dtype=np.float64),
            within=np.array([_within(v, s) for v, s in zip(values, spread, strict=True)], dtype=np.float64),
            spread=spread,
            relative=relative,
            repeats=self.repeats,
        )


def robust_deviation(values: Floats) -> float:
    """Standard deviation by the median distance from the median, unbiased for few normal values, too."""
    far = np.median(np.abs(values - np.median(values)))
    return float(unbiased(np.array(len(values))) * far)


def _within(values: Floats, spread: float) -> float:
    """Sum of squares around the mean; of four or more, what is far out is pulled in."""
    if len(values) >= ENOUGH:
        reach = FAR * spread
        values = np.clip(values, np.median(values) - reach, np.median(values) + reach)
    return float(np.sum((values - np.mean(values)) ** 2))


@dataclass(frozen=True)
class Table:
    """Cells in columns, (n,) each.

    value: seconds, the median of `count` trials (0: known exactly). within: sum of squares around the mean,
    of which spoilt trials are no large part. spread: robust standard deviation of the cell's trials, in
    seconds (one trial: 0). relative: all of them of logarithms: what is the same share of every
    configuration is the same there, and every level counts as 1. repeats: see `Cells`.
    """

    configuration: Ints
    revision: Ints
    value: Floats
    count: Ints
    doubt: Floats
    within: Floats
    spread: Floats
    relative: bool = False
    repeats: bool = True

    def ratio(self, move: float) -> float:
        """After over before, of a move by so many levels."""
        return math.exp(move) if self.relative else 1.0 + move

    def in_seconds(self, unit: float) -> float:
        """What is added to a log density of all values, in such units, to make it one of seconds.

        Where nothing is known of levels beforehand: of each configuration one value counts by its logarithm.
        """
        if self.relative:
            return -float(self.value @ np.maximum(self.count, 1))
        levels = self._levels.values()
        return -(len(self.value) - len(levels)) * math.log(unit) - sum(map(math.log, levels))

    def levels(self, moved: Floats | None = None) -> dict[int, float]:
        """Median seconds of each configuration; moved: without these seconds of each cell, (n,)."""
        if moved is None or self.relative:
            return self._levels
        least = FLOOR * float(self.value.min())
        return {c: max(level, least) for c, level in self._medians(self.value - moved).items()}

    def unit(self, configuration: int) -> float:
        """The level of a configuration; of one that was not measured, the median of all values."""
        return self._levels.get(configuration) or float(self.relative or np.median(self.value))

    def level(self) -> Floats:
        """The level of each cell's configuration."""
        return self._level

    def reach(self, blur: float) -> float:
        """Seconds by which a configuration moves at most, beyond such a share of its level."""
        spans = {c: float(np.ptp(self.value[self.configuration == c])) for c in self._levels}
        return max(span - blur * self._levels[c] for c, span in spans.items())

    @cached_property
    def _levels(self) -> dict[int, float]:
        medians = self._medians(self.value)
        return dict.fromkeys(medians, 1.0) if self.relative else medians

    def _medians(self, value: Floats) -> dict[int, float]:
        return {
            int(c): float(np.median(value[self.configuration == c])) for c in np.unique(self.configuration)
        }

    @cached_property
    def _level(self) -> Floats:
        return np.array([self._levels[int(c)] for c in self.configuration])
