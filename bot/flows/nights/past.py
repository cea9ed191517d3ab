"""Earlier nights from the history: their trials over tonight's revisions, and where tonight begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.flows.nights.window import Window
from bot.model.change_points import Observation, Probe
from bot.model.history import NO_METRIC, NO_PAIR, Measurements, RunRecord
from bot.model.revisions import Revision
from bot.model.space import Configuration, Space, Value

NIGHTS = 14
"""Nights whose trials are read with tonight's: older ones add little to what the younger ones say."""
LOOKED_BACK = 400
"""Nights from which changes are told: what only older ones show is not known any more, which is said."""
FIRST_REACH = 30
"""Revisions between anchor and tip in the first night."""
FARTHEST = 500
"""Revisions after which the anchor is too old to be a measure: a younger one takes its place."""


@dataclass(frozen=True)
class Night:
    """What one earlier run measured at revisions of tonight's window; tip: the newest of them."""

    run: RunRecord
    observations: tuple[Observation, ...]

    @property
    def tip(self) -> int:
        """The newest revision that gave a value."""
        return max((o.probe.revision for o in self.observations if o.value > 0), default=0)


def newest(past: Measurements) -> Measurements:
    """The runs that are read with tonight's."""
    order = sorted(range(len(past.runs)), key=lambda i: past.runs[i].started, reverse=True)
    return past.where(np.isin(past.run, order[:NIGHTS]))


def anchor_of(past: Measurements, revisions: Sequence[str]) -> int:
    """Where tonight's window begins: at the newest night's oldest revision, as long as it is near enough.

    revisions: ids in first-parent order, the tip last. A first night begins `FIRST_REACH` before the tip.
    """
    place = {revision: i for i, revision in enumerate(revisions)}
    known = np.array([place.get(r.revision, -1) for r in past.revisions], dtype=np.intp)
    for run in range(len(past.runs) - 1, -1, -1):
        rows = (past.run == run) & (past.metric != NO_METRIC)
        found = known[past.revision[rows]]
        found = found[found >= max(len(revisions) - 1 - FARTHEST, 0)]
        if len(found):
            return int(found.min())
    return max(len(revisions) - 1 - FIRST_REACH, 0)


def nights(past: Measurements, space: Space, revisions: Sequence[Revision], metric: str) -> tuple[Night, ...]:
    """Each run's trials at these revisions, oldest first; configurations that are gone are left out.

    Of an option that is gone, those that had its default are left.
    """
    beside = _anchors(past, metric)
    place = {revision.id: i for i, revision in enumerate(revisions)}
    where = [place.get(r.revision) for r in past.revisions]
    known = {name: option.default for run in past.runs for name, option in run.options.items()}
    gone = {name: default for name, default in known.items() if name not in space.index}
    what = [configuration_of(options, space, gone) for options in past.configurations]
    code = past.metrics.index(metric) if metric in past.metrics else None
    wanted = (past.metric == NO_METRIC) | (past.metric == (NO_METRIC if code is None else code))
    found: list[list[Observation]] = [[] for _ in past.runs]
    for row in np.flatnonzero(wanted):
        revision, configuration = where[past.revision[row]], what[past.configuration[row]]
        pair = (int(past.run[row]), int(past.pair[row]))
        partner = pair in beside and not past.second[row]
        if revision is not None and configuration is not None and not partner:
            anchor = beside.get(pair, 1.0)
            value = float(past.value[row]) / anchor
            found[past.run[row]].append(Observation(Probe(configuration, revision), value, anchor=anchor))
    order = sorted(range(len(past.runs)), key=lambda i: past.runs[i].started)
    return tuple(Night(past.runs[i], tuple(found[i])) for i in order if found[i])


def _anchors(past: Measurements, metric: str) -> dict[tuple[int, int], float]:
    """What the first trial of each pair gave: (run, pair) -> value."""
    if metric not in past.metrics:
        return {}
    rows = (past.pair != NO_PAIR) & ~past.second & (past.metric == past.metrics.index(metric))
    return {
        (int(run), int(pair)): float(value)
        for run, pair, value in zip(past.run[rows], past.pair[rows], past.value[rows], strict=True)
    }


def window(revisions: int, past: Sequence[Night]) -> Window:
    """What tonight's tip is compared with: the tip of the night before last, as far as there was one."""
    earlier = list(dict.fromkeys(night.tip for night in reversed(past)))
    older = [tip for tip in earlier if tip < revisions - 1]
    reference = older[1] if len(older) > 1 else 0
    return Window(revisions, reference=reference, previous=older[0] if older else 0)


def configuration_of(
    options: Mapping[str, Value], space: Space, gone: Mapping[str, Value] | None = None
) -> Configuration | None:
    """A recorded configuration in today's space; None: it has a value that is not known any more.

    An option that was not there had the program's own behaviour, which is today's default. gone: defaults of
    options that are not there any more: who had them has the program's own behaviour today.
    """
    gone = gone or {}
    if any(name not in space.index and (name not in gone or gone[name] != options[name]) for name in options):
        return None
    values = []
    for option in space.options:
        value = options.get(option.name, option.default)
        match = [v for v in option.values if v == value and isinstance(v, bool) == isinstance(value, bool)]
        if not match:
            return None
        values.append(match[0])
    return tuple(values)
