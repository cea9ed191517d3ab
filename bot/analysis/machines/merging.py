"""A matrix of unlike runners as one result: counts kept apart, ratios combined, and what only some show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bot.analysis.distributions import chi2_tail, student_quantile
from bot.model.resources import Count

LEVEL = 0.95
DRIFT = 0.005
"""Relative difference of a count between runs of one place that is no noise of counting."""
FEWEST_RANKS = 4
"""Runners from which on the order of their changes says anything."""

STRESSOR_OF: Mapping[Count, str] = {
    "instructions": "cpu",
    "branch_misses": "cpu",
    "instruction_misses": "cache",
    "first_misses": "cache",
    "last_misses": "stream",
    "page_faults": "mmap",
    "memory_calls": "brk",
    "filesystem_calls": "dentry",
    "network_calls": "sock",
    "ipc_calls": "pipe",
    "other_calls": "null",
    "blocks": "msync",
    "waits": "pipe",
}
"""Whose rate tells how fast a machine is at what is counted."""


class Place(NamedTuple):
    """Where counts are comparable: another architecture or image runs other instructions."""

    architecture: str
    image: str


class Drift(NamedTuple):
    """A count that differs between runs of one place, for which the program alone is no reason.

    values: smallest first.
    """

    place: Place
    name: str
    values: tuple[float, ...]


def counts_by_place(
    runs: Sequence[tuple[Place, Mapping[str, float]]], *, tolerance: float = DRIFT
) -> tuple[dict[Place, dict[str, float]], list[Drift]]:
    """The counts of each place, never averaged over places, and those on which its runs disagree.

    Of several runs of one place a count is the middle one of what was counted; where they disagree by more
    than the tolerance it is left out and told.
    """
    grouped: dict[Place, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for place, counts in runs:
        for name, value in counts.items():
            grouped[place][name].append(value)
    kept: dict[Place, dict[str, float]] = {}
    drifts = []
    for place, found in grouped.items():
        kept[place] = {}
        for name, values in found.items():
            values.sort()
            if values[-1] - values[0] > tolerance * abs(values[-1]):
                drifts.append(Drift(place, name, tuple(values)))
            else:
                kept[place][name] = values[(len(values) - 1) // 2]
    return kept, drifts


class RunnerChange(NamedTuple):
    """What one runner's own pairs say: log(head / base), its standard error, and the runner's kind."""

    runner: str
    kind: str
    change: float
    error: float


@dataclass(frozen=True)
class Combined:
    """The change over runners.

    ratio, interval: of the geometric mean, head / base. spread: of the runners' own logarithms beyond noise
    (standard deviation). alike: probability of so much spread if there were none.
    """

    ratio: float
    interval: tuple[float, float]
    spread: float
    alike: float


def combined(changes: Sequence[RunnerChange], *, level: float = LEVEL) -> Combined:
    """Random-effects mean of the runners' changes; each keeps its own noise, none counts twice.

    Spread by DerSimonian and Laird (1986), interval by Hartung and Knapp (2001), never narrower than with a
    fixed effect (Jackson et al. 2017). Of one runner: its own, with a normal interval.

    Raises:
        ValueError: there is no runner, or an error that is not positive.
    """
    if not changes or any(not one.error > 0 for one in changes):
        raise ValueError("changes need a positive standard error each")
    y, variance = np.array([c.change for c in changes]), np.array([c.error for c in changes]) ** 2
    k, fixed = len(y), 1 / variance
    centre = float(fixed @ y / fixed.sum())
    q = float(fixed @ (y - centre) ** 2)
    scale = fixed.sum() - (fixed**2).sum() / fixed.sum()
    between = max(0.0, (q - (k - 1)) / scale) if k > 1 else 0.0
    weights = 1 / (variance + between)
    mean = float(weights @ y / weights.sum())
    error = 1 / math.sqrt(weights.sum())
    if k > 1:
        error *= math.sqrt(max(float(weights @ (y - mean) ** 2) / (k - 1), 1.0))
    reach = float(student_quantile((1 + level) / 2, k - 1 if k > 1 else np.inf)) * error
    return Combined(
        math.exp(mean),
        (math.exp(mean - reach), math.exp(mean + reach)),
        math.sqrt(between),
        float(chi2_tail(q, k - 1)) if k > 1 else 1.0,
    )


def only_on(changes: Sequence[RunnerChange], *, margin: float, level: float = LEVEL) -> list[str]:
    """Kinds of runners on which a change exists while all others are known not to have it.

    margin: change (of the logarithm) that is worth telling. A kind has it when its own interval lies beyond
    the margin, and has it not when its interval lies within; while one is neither, nothing is said.
    """
    kinds: dict[str, list[RunnerChange]] = defaultdict(list)
    for one in changes:
        kinds[one.kind].append(one)
    having, unknown = [], False
    for kind, found in kinds.items():
        low, high = (math.log(bound) for bound in combined(found, level=level).interval)
        if low > margin or high < -margin:
            having.append(kind)
        elif low < -margin or high > margin:
            unknown = True
    return having if having and len(having) < len(kinds) and not unknown else []


def predicted_change(
    moved: Mapping[Count, float],
    seconds: Mapping[Count, float],
    reference: Mapping[str, float],
    machine: Mapping[str, float],
) -> float:
    """Seconds that a change of counts costs on a machine.

    moved: head - base of each count. seconds: of one such event on the reference machine. reference, machine:
    rates of stressors; where one is not known the machines count as equal.
    """
    total = 0.0
    for count, difference in moved.items():
        stressor = STRESSOR_OF[count]
        known = stressor in reference and stressor in machine
        slower = reference[stressor] / machine[stressor] if known else 1.0
        total += seconds.get(count, 0.0) * slower * difference
    return total


def confidence(predicted: Sequence[float], observed: Sequence[float]) -> float | None:
    """Rank correlation (Spearman) of predicted and observed changes over runners; None: too few, or equal."""
    if len(predicted) < FEWEST_RANKS:
        return None
    from scipy.stats import rankdata

    ranks = rankdata(predicted), rankdata(observed)
    spread = [float(np.std(one)) for one in ranks]
    if not all(spread):
        return None
    return float(np.corrcoef(*ranks)[0, 1])
