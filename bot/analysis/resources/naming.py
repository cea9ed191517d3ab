"""Which resource features a change costs: counts of base and head, weighed by what an event costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bot.analysis.distributions import student_quantile
from bot.model.resources import FEATURE_OF, FEATURES, Count, Feature

SPREADS, LEAST_CHANGE, LEAST_EVENTS = 5.0, 0.005, 50.0
"""A count moved when it did by more than so many A/A spreads, such a share of base, and so many events."""
LEAST_SHARE, MOST_NAMES = 0.15, 3
"""Of the estimated cost a named feature has so much; and so many are named at most.

Source of these five: our study of 32 known heads (docs/resources.md)."""
LEAST_PART = 0.05
"""Of the measured change a named feature's estimated cost is so much: costs are rough, but not that rough."""
CERTAINTY = 1e-3
"""Error rate of Student's test that a count moved: two runs tell their spread badly. Arbitrary."""
FEW = 2
"""Degrees of freedom up to which a spread that is not zero may be small by mere luck."""
LEAST_RUNS = 2
"""Of base: one says nothing of its spread."""
NOTHING: Mapping[Count, float] = {}
MOST_EVENTS = 2.0**63
"""No machine counts further."""


@dataclass(frozen=True)
class CountChange:
    """Mean events of a trial at base and head; seconds: what the difference costs, negative when saved.

    moved: beyond the spread of base and what is worth a word. doubtful: more runs may tell.
    """

    count: Count
    base: float
    head: float
    seconds: float
    moved: bool
    doubtful: bool = False


@dataclass(frozen=True)
class FeatureChange:
    """A feature whose use moved the way the time did; counts: those of it that moved, dearest first.

    share: of the estimated cost of all that moved this way; score: 0 to 1.
    """

    feature: Feature
    seconds: float
    share: float
    score: float
    counts: tuple[CountChange, ...]


@dataclass(frozen=True)
class Named:
    """Features by score, at most `MOST_NAMES`; all counts; explained: the estimated share of the change."""

    features: tuple[FeatureChange, ...] = ()
    counts: tuple[CountChange, ...] = ()
    explained: float | None = None


def named(
    base: Sequence[Mapping[Count, float]],
    head: Sequence[Mapping[Count, float]],
    *,
    costs: Mapping[Count, float],
    change: float,
    start_up: Mapping[Count, float] = NOTHING,
    certainty: float = CERTAINTY,
) -> Named:
    """Names the features that carry a change; nothing when no count moved its way.

    base, head: counts of single trials, base's at least twice (its spread is the guard against chance).
    costs: seconds per event. change: measured seconds of one trial, head less base; 0: there was none, and
    the direction is that of all counts together. start_up: counts of the bare interpreter, the same work on
    both sides: growth is told without it. What is no count (negative, not finite) is left out. An access that
    misses the last cache missed the first one too: it counts, with both costs, to memory alone.
    """
    costs = {**costs, "last_misses": _cost(costs, "last_misses") + _cost(costs, "first_misses")}
    counts = tuple(
        CountChange(
            count,
            _mean(before),
            _mean(after),
            *_judged(
                _caused(base, count), _caused(head, count), cost=_cost(costs, count), certainty=certainty
            ),
        )
        for count in FEATURE_OF
        if (before := _usable(base, count)) and (after := _usable(head, count))
    )
    counts = _worth_a_doubt(counts)
    moved = [one for one in counts if one.moved]
    total = sum(one.seconds for one in moved)
    sign = math.copysign(1.0, change or total)
    features = [
        (feature, sorted(own, key=lambda one: -sign * one.seconds))
        for feature in FEATURES
        if (own := [one for one in moved if FEATURE_OF[one.count] == feature])
    ]
    grown = [(f, own) for f, own in features if sign * sum(one.seconds for one in own) > 0]
    ranked = _ranked([(f, own, _lift(own, costs, start_up)) for f, own in grown], LEAST_PART * abs(change))
    return Named(ranked, counts, total / change if change else None)


def _worth_a_doubt(counts: Sequence[CountChange]) -> tuple[CountChange, ...]:
    """The same; only what might be named were it sure stays doubtful."""
    whole = sum(abs(one.seconds) for one in counts if one.moved or one.doubtful)
    return tuple(
        replace(one, doubtful=one.doubtful and abs(one.seconds) >= LEAST_SHARE * whole) for one in counts
    )


def _ranked(
    features: Sequence[tuple[Feature, Sequence[CountChange], float]], least: float
) -> tuple[FeatureChange, ...]:
    """Score: the geometric mean of a feature's share of the cost and its relative growth (lift).

    least: seconds that a named feature costs or saves.
    """
    spent = [abs(sum(one.seconds for one in own)) for _, own, _ in features]
    whole, most = sum(spent), max((lift for _, _, lift in features), default=0.0)
    found = [
        FeatureChange(
            feature=feature,
            seconds=sum(one.seconds for one in own),
            share=cost / whole,
            score=math.sqrt(cost / whole * (lift / most if most > 0 else 1.0)),
            counts=tuple(own),
        )
        for (feature, own, lift), cost in zip(features, spent, strict=True)
        if cost / whole >= LEAST_SHARE and cost >= least
    ]
    return tuple(sorted(found, key=lambda one: -one.score)[:MOST_NAMES])


def _lift(
    counts: Sequence[CountChange], costs: Mapping[Count, float], start_up: Mapping[Count, float]
) -> float:
    """Logarithm of how many times as much, in cost; one event more on both sides keeps it finite."""
    event = max(costs[one.count] for one in counts)
    base, head = (
        sum(costs[one.count] * max(n - start_up.get(one.count, 0.0), 0.0) for one, n in side)
        for side in ([(one, one.base) for one in counts], [(one, one.head) for one in counts])
    )
    return abs(math.log((head + event) / (base + event)))


def _usable(runs: Sequence[Mapping[Count, float]], count: Count) -> list[float]:
    values = [run[count] for run in runs if count in run]
    return [float(n) for n in values if 0 <= n < MOST_EVENTS]


def _caused(runs: Sequence[Mapping[Count, float]], count: Count) -> list[float]:
    """Events that cost what `count` does: a miss of both caches is the last one's, with both costs."""
    if count == "first_misses":
        both = [(run.get(count, math.nan), run.get("last_misses", 0.0)) for run in runs]
        runs = [
            {count: max(first - last, 0.0)} for first, last in both if 0 <= last < MOST_EVENTS and first >= 0
        ]
    return _usable(runs, count)


def _cost(costs: Mapping[Count, float], count: Count) -> float:
    """Seconds of an event; 0 where that is not known: such counts are told, and never named."""
    cost = costs.get(count, 0.0)
    return cost if math.isfinite(cost) and cost > 0 else 0.0


def _judged(
    base: Sequence[float], head: Sequence[float], *, cost: float, certainty: float
) -> tuple[float, bool, bool]:
    """Seconds that a count's difference costs, whether it moved, and whether more runs may tell.

    Its spread is that of two runs, sqrt(2) standard deviations; of few runs it may be small by chance, and
    Student's test knows how few they are. Where very few runs tell, a count that varies at all is taken to
    vary by its square root at least, as Poisson's do: of many counts, some have runs that agree by luck.
    """
    before, after = _mean(base), _mean(head)
    seconds, freedom = cost * (after - before), len(base) + len(head) - 2
    if cost == 0.0 or len(base) < LEAST_RUNS or not head:
        return seconds, False, False
    deviations = [*(np.asarray(base) - before), *(np.asarray(head) - after)]
    deviation = math.sqrt(float(np.sum(np.square(deviations))) / freedom)
    lucky = deviation > 0.0 and freedom <= FEW
    spread = math.sqrt(2) * (max(deviation, math.sqrt(before)) if lucky else deviation)
    difference = abs(after - before)
    worth = max(SPREADS * spread, LEAST_CHANGE * before, LEAST_EVENTS)
    error = deviation * math.sqrt(1 / len(base) + 1 / len(head))
    found, sure = difference > worth, difference > -float(student_quantile(certainty / 2, freedom)) * error
    return seconds, found and sure, found and not sure


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0
