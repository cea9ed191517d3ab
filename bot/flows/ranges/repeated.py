"""How far trials of one revision differ in a range: from those that a search repeated."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bot.analysis.change_points.noise import spread
from bot.model.change_points import Observation
from bot.model.noise import LEAST_FOR_SCALE, Noise
from bot.model.report import Environment
from bot.model.space import Configuration


def with_noise(environment: Environment, observations: Sequence[Observation], metric: str) -> Environment:
    """The environment with the noise of repeated trials, where it knows none of its own."""
    if any(noise.sd_percent is not None for noise in environment.noise):
        return environment
    return environment.model_copy(update={"noise": (repeated_noise(observations, metric),)})


def repeated_noise(observations: Iterable[Observation], metric: str) -> Noise:
    """Standard deviation of a trial's log, from repetitions or, where less, from neighbours in time.

    What a search repeats are mostly trials that looked odd, which differ more than others do; between
    neighbours in time there may be steps.
    """
    cells: defaultdict[Configuration, defaultdict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for o in observations:
        if o.value > 0.0:
            cells[o.probe.configuration][o.probe.revision].append(math.log(o.value))
    again = [d for found in cells.values() for values in found.values() for d in np.diff(values).tolist()]
    if len(again) < LEAST_FOR_SCALE:
        return Noise(metric=metric, pairs=len(again), sd_percent=None, bias_percent=None)
    beside = [d for found in cells.values() for d in _between(found)]
    scale = min(spread(np.abs(each)) for each in (again, beside) if each)
    return Noise(metric=metric, pairs=len(again), sd_percent=100.0 * scale, bias_percent=None)


def _between(found: Mapping[int, Sequence[float]]) -> list[float]:
    """Differences of a configuration's first trials at revisions that follow each other."""
    return [float(d) for d in np.diff([found[revision][0] for revision in sorted(found)])]
