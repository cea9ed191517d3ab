"""What a reader may look at: the measured values of a few configurations over the revisions of a range."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bot.model.change_points import Observation
from bot.model.report import Point, Series
from bot.model.revisions import Revision
from bot.model.space import Configuration, Space

SHOWN = 8
"""Configurations shown, those seen at most revisions first."""


def series(
    space: Space, revisions: Sequence[Revision], observations: Sequence[Observation]
) -> tuple[Series, ...]:
    """Median value per revision of the configurations that were measured at most revisions."""
    values: dict[Configuration, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for observation in observations:
        if not math.isnan(observation.value):
            values[observation.probe.configuration][observation.probe.revision].append(observation.value)
    chosen = sorted(values, key=lambda c: -len(values[c]))[:SHOWN]
    return tuple(
        Series(
            options=space.as_dict(configuration),
            points=tuple(
                Point(revision=revisions[r].id, place=r, value=float(np.median(found)), trials=len(found))
                for r, found in sorted(values[configuration].items())
            ),
        )
        for configuration in chosen
        if len(values[configuration]) > 1
    )
