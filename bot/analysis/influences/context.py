"""Where a method's variation comes from, single calls included, and what goes with the slow ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from bot.analysis.influences.costs import CostTable, Floats
from bot.analysis.influences.screening import main_quantity
from bot.analysis.influences.variances import variances
from bot.analysis.influences.watched import Ints, trials_of
from bot.model.duration_history import FIRST_SECONDS, NO_BIN, UNKNOWN, DurationTable
from bot.model.variation import CallGroup, ContextFactor, Variation

SLOWEST = 3
"""Groups of calls that are told: those that explain most of what is slower than usual."""
LONGEST = 0.01
"""Of a run's calls, left out of the context variation: most of them were interrupted."""
SLOW = 1.2
"""Times the usual duration from which on a group is told."""
FEWEST_CALLS, FEWEST_TRIALS = 5, 2
"""Of a group that is told; fewer calls may be slow because something interrupted them."""


def variations(table: DurationTable, costs: CostTable | None, names: Sequence[str]) -> tuple[Variation, ...]:
    """Of each named method what is known of its variation; costs: of the coarse profiler.

    Source of the three variances: Weber, Apel and Siegmund, White-Box Performance-Influence Models (ICSE
    2021), section III. Measurement and configuration are of own seconds, without them of instructions.
    """
    coarse = _coarse(costs)
    by_name: dict[str, list[int]] = {}
    for code, method in enumerate(table.methods):
        by_name.setdefault(method.name, []).append(code)
    found = []
    for name in names:
        measurement, configuration = coarse.get(name, (None, None))
        rows = np.isin(table.method, by_name.get(name, [])) & (table.bin != NO_BIN) & (table.count > 0)
        calls = _Calls(table.where(rows))
        found.append(
            Variation(
                method=name,
                measurement=measurement,
                configuration=configuration,
                context=calls.variation(),
                calls=int(calls.count.sum()),
                trials=calls.trials,
                factors=tuple(f for by in ("arguments", "callers") if (f := calls.factor(by)) is not None),
            )
        )
    return tuple(found)


def _coarse(costs: CostTable | None) -> Mapping[str, tuple[float | None, float | None]]:
    if costs is None:
        return {}
    spread = variances(costs, main_quantity(costs))
    return {
        name: (_finite(spread.measurement[j]), _finite(spread.configuration[j]))
        for j, name in enumerate(costs.methods)
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


class _Calls:
    """Calls of one method over all trials: groups of like calls with their number and mean seconds."""

    def __init__(self, rows: DurationTable) -> None:
        self._rows = rows
        self._trial = trials_of(rows)
        self.trials = int(self._trial.max()) + 1 if len(rows) else 0
        self.count = rows.count.astype(np.float64)
        self._seconds = rows.seconds / self.count
        self._value: Floats = np.log(np.maximum(self._seconds, FIRST_SECONDS))
        usual = _means(self._trial, self._value, self.count)
        self._deviation = self._value - usual[self._trial] if len(rows) else self._value

    def variation(self) -> float | None:
        """Coefficient of variation over the calls of a run without the longest, mean over runs.

        None: no run has two calls.
        """
        order = np.lexsort((self._seconds, self._trial))
        trial, count, seconds = self._trial[order], self.count[order], self._seconds[order]
        total = np.bincount(trial, count)
        shorter = np.cumsum(count) - count - (np.cumsum(total) - total)[trial]
        kept = np.clip((total - np.floor(LONGEST * total))[trial] - shorter, 0.0, count)
        calls = np.bincount(trial, kept)
        mean = np.bincount(trial, kept * seconds) / np.maximum(calls, 1)
        squares = np.bincount(trial, kept * (seconds - mean[trial]) ** 2)
        several = (calls > 1) & (mean > 0)
        if not several.any():
            return None
        return float(np.mean(np.sqrt(squares[several] / (calls[several] - 1)) / mean[several]))

    def factor(self, by: Literal["arguments", "callers"]) -> ContextFactor | None:
        """One-way analysis of variance of logarithms within trials; None: one group, or too few calls."""
        codes, texts = (
            (self._rows.arguments, self._rows.summaries)
            if by == "arguments"
            else (self._rows.path, self._rows.paths)
        )
        if len(np.unique(codes)) < 2:
            return None
        share = self._explained(codes.astype(np.int64))
        if share is None:
            return None
        calls = np.bincount(codes, self.count, len(texts))
        slower = np.bincount(codes, self.count * self._deviation, len(texts)) / np.maximum(calls, 1.0)
        seconds = np.bincount(codes, self.count * self._value, len(texts)) / np.maximum(calls, 1.0)
        pairs = np.unique(np.stack([codes, self._trial]), axis=1)[0]
        seen = np.bincount(pairs, minlength=len(texts))
        usual = (calls >= FEWEST_CALLS) & (seen >= min(self.trials, FEWEST_TRIALS))
        told = [
            CallGroup(
                value=texts[c],
                calls=int(calls[c]),
                seconds=float(np.exp(seconds[c])),
                times=float(np.exp(slower[c])),
            )
            for c in np.argsort(-calls * slower**2, kind="stable")
            if slower[c] > np.log(SLOW) and usual[c] and (by == "callers" or texts[c] != UNKNOWN)
        ]
        return ContextFactor(by=by, share=share, slowest=tuple(told[:SLOWEST]))

    def _explained(self, group: Ints) -> float | None:
        """Share of the variance within trials that lies between groups (epsilon squared: beyond chance)."""
        cell = np.unique(self._trial * (int(group.max()) + 1) + group, return_inverse=True)[1].reshape(-1)
        between = _means(cell, self._deviation, self.count)
        cells, calls = len(between), float(self.count.sum())
        total = float(np.sum(self.count * self._deviation**2))
        within = float(np.sum(self.count * (self._deviation - between[cell]) ** 2))
        if total <= 0 or calls <= cells:
            return None
        chance = (cells - self.trials) * within / (calls - cells)
        return float(np.clip((total - within - chance) / total, 0.0, 1.0))


def _means(group: Ints, value: Floats, weight: Floats) -> Floats:
    return np.asarray(np.bincount(group, weight * value) / np.bincount(group, weight))
