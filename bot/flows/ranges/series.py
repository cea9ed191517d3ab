"""What a reader may look at: the measured values of a few configurations over the revisions of a range."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from bot.model.change_points import Observation
from bot.model.report import Point, Series, Unit
from bot.model.revisions import Revision
from bot.model.space import Configuration, Space, Term, distance

SHOWN = 8
"""Configurations shown."""
Measured: TypeAlias = Mapping[Configuration, Mapping[int, Sequence[float]]]


def series(
    space: Space,
    revisions: Sequence[Revision],
    observations: Sequence[Observation],
    *,
    terms: Iterable[Term] = (),
    unit: Unit = "seconds",
    partner: int | None = None,
) -> tuple[Series, ...]:
    """Median value per revision of a few configurations.

    First the default one, then for each of `terms` one that holds it, then those measured at most revisions.
    partner: the revision to which values are ratios: there they are 1 without a trial.
    """
    values: dict[Configuration, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    failed: dict[Configuration, set[int]] = defaultdict(set)
    unbuilt = {o.probe.revision for o in observations if not o.built}
    for observation in observations:
        probe = observation.probe
        if math.isnan(observation.value):
            failed[probe.configuration].add(probe.revision)
        else:
            values[probe.configuration][probe.revision].append(observation.value)
    return tuple(
        Series(
            options=space.as_dict(configuration),
            default=configuration == space.default,
            points=_points(values[configuration], revisions, partner),
            failed=tuple(sorted((failed[configuration] | unbuilt) - values[configuration].keys())),
            unit=unit,
        )
        for configuration in _chosen(space, values, terms)
    )


def _points(
    measured: Mapping[int, Sequence[float]], revisions: Sequence[Revision], partner: int | None
) -> tuple[Point, ...]:
    known = {r: (float(np.median(found)), len(found)) for r, found in measured.items()}
    if partner is not None:
        known.setdefault(partner, (1.0, 0))
    return tuple(
        Point(revision=revisions[r].id, place=r, value=value, trials=trials)
        for r, (value, trials) in sorted(known.items())
    )


def _chosen(space: Space, values: Measured, terms: Iterable[Term]) -> list[Configuration]:
    """The configurations to show, of those that were measured at two revisions or more."""
    often = sorted((c for c in values if len(values[c]) > 1), key=lambda c: -len(values[c]))
    chosen = [c for c in often if c == space.default]
    for term in terms:
        # Of those that hold it the one with the fewest other differences shows the term alone.
        holding = [c for c in often if space.carries(term, c)]
        if term and holding:
            enough = [c for c in holding if 2 * len(values[c]) >= len(values[holding[0]])]
            chosen.append(min(enough, key=lambda c: distance(c, space.default)))
    return list(dict.fromkeys([*chosen, *often]))[:SHOWN]
