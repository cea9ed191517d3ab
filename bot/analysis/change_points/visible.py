"""What a finished search would have seen: the smallest lasting change of each option's cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bot.model.change_points import Observation
from bot.model.report import Visible, VisibleOption
from bot.model.space import Configuration, Level, Space

Floats = NDArray[np.float64]

NEEDED = 12.0
"""Standard errors at which our search found about four lasting changes of five or more, at any place but the
first and last tenth of the range: 98 to 100 % in benchmarks/change_points/results/visible.md."""
EDGE, PLACES = 0.1, 17
NAMED = ("on", "off", "=")
"""Operators of levels that are named when they were not exercised."""
LEAST, MOST = 0.001, 2.0
"""Smaller changes are not claimed, larger ones are as good as invisible."""


def visible_steps(space: Space, observations: Sequence[Observation], revisions: int) -> Visible:
    """The report's `visible`: per option its least visible level, and the levels that were not exercised.

    A step of a level is seen by the configurations that hold it and were measured on both sides of it.
    """
    trials = by_configuration(observations)
    if revisions < 2 or not trials:
        return Visible()
    scale = scale_of(trials)
    known = {c: _information(at, revisions) for c, (at, _) in trials.items() if len(np.unique(at)) > 1}
    sizes: dict[Level, float | None] = {}
    for level in space.levels:
        holding = [information for c, information in known.items() if space.holds(level, c)]
        sizes[level] = _smallest(holding, scale) if holding else None
    return by_option(space, sizes, everything=_smallest(list(known.values()), scale) if known else math.inf)


def by_option(space: Space, sizes: Mapping[Level, float | None], *, everything: float) -> Visible:
    """An option is as visible as its least visible value. sizes: None where a level was not exercised."""
    worst: dict[str, float] = {}
    for level, size in sizes.items():
        if size is not None and plain(level):
            worst[level.option] = max(worst.get(level.option, 0.0), size)
    return Visible(
        options=tuple(
            VisibleOption(option=name, slow_down=_told(worst.get(name, math.inf))) for name in space.names
        ),
        everything=_told(everything),
        levels_not_exercised=tuple(
            str(level) for level, size in sizes.items() if size is None and level.operator in NAMED
        ),
    )


def by_configuration(
    observations: Sequence[Observation],
) -> dict[Configuration, tuple[NDArray[np.intp], Floats]]:
    """Places and log values of each configuration's good trials, in order of place."""
    found: dict[Configuration, list[tuple[int, float]]] = defaultdict(list)
    for o in observations:
        if 0.0 < o.value < math.inf:
            found[o.probe.configuration].append((o.probe.revision, math.log(o.value)))
    trials = {}
    for configuration, pairs in found.items():
        pairs.sort(key=lambda pair: pair[0])  # by place alone: sorted values would look less noisy
        places, values = zip(*pairs, strict=True)
        trials[configuration] = (np.array(places, dtype=np.intp), np.array(values, dtype=np.float64))
    return trials


def scale_of(trials: dict[Configuration, tuple[NDArray[np.intp], Floats]]) -> float:
    """Relative noise of one trial: from differences of neighbours in time, of which few hold a step."""
    differences = np.concatenate([np.diff(values) for _, values in trials.values()])
    return float(1.4826 * np.median(np.abs(differences)) / math.sqrt(2.0)) if len(differences) else math.inf


def _information(places: NDArray[np.intp], revisions: int) -> Floats:
    """What trials at these places tell of a step, in trials, for each of a few places where it may be."""
    first, last = max(1.0, EDGE * revisions), min(revisions - 1.0, (1.0 - EDGE) * revisions)
    before = (places[:, None] < np.round(np.linspace(first, last, PLACES))).sum(axis=0)
    after = len(places) - before
    return np.asarray(before * after / np.maximum(before + after, 1), dtype=np.float64)


def _smallest(information: Sequence[Floats], scale: float) -> float:
    least = float(np.sum(information, axis=0).min())
    return math.expm1(min(NEEDED * scale / math.sqrt(least), 10.0)) if least > 0.0 else math.inf


def plain(level: Level) -> bool:
    """Whether it is one of the levels that stand for an option: on, or a value."""
    return level.operator in ("on", "=")


def _told(change: float) -> float | None:
    return max(change, LEAST) if change <= MOST else None
