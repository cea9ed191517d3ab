"""Observations over a range as the history keeps them: single trials, or pairs beside one revision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.model.change_points import Observation
from bot.model.history import NO_PAIR, Measurements, RunRecord
from bot.model.recording import Recorder
from bot.model.report import RevisionRef
from bot.model.revisions import Revision
from bot.model.space import Space
from bot.model.trials import Trial


def recorded(
    observations: Sequence[Observation],
    run: RunRecord,
    *,
    space: Space,
    revisions: Sequence[Revision],
    metric: str,
    partner: int | None,
) -> Measurements:
    """The trials behind the observations of revisions that could be built.

    partner: the revision beside which the others ran, where values are ratios to it; None: trials ran alone.
    """
    recorder = Recorder()
    for pair, observation in enumerate(observations):
        if not observation.built:
            continue
        options = space.as_dict(observation.probe.configuration)
        revision = _named(revisions[observation.probe.revision])
        if not observation.value > 0:
            recorder.trial(Trial("exit"), revision, options)
        elif partner is None:
            recorder.trial(Trial("ok", {metric: observation.value}), revision, options)
        else:
            seconds = observation.anchor, observation.value * observation.anchor
            recorder.trial(Trial("ok", {metric: seconds[0]}), _named(revisions[partner]), options, pair=pair)
            recorder.trial(Trial("ok", {metric: seconds[1]}), revision, options, pair=pair, second=True)
    return recorder.measurements(run)


def observed(found: Measurements) -> int:
    """How many observations of built revisions these trials are of: one each, or two in a pair."""
    return int(np.count_nonzero((found.pair == NO_PAIR) | found.second))


def _named(revision: Revision) -> RevisionRef:
    return RevisionRef(revision=revision.id, label=revision.label)
