"""Which wishes are still to be answered."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration


def unanswered(pending: Sequence[Probe], observations: Sequence[Observation]) -> list[Probe]:
    """Wishes that no observation answers.

    A failed trial is an answer, and so is another configuration at the wished revision: a table serves the
    nearest one it has.
    """
    left: dict[int, list[Configuration]] = {}
    for probe in pending:
        left.setdefault(probe.revision, []).append(probe.configuration)
    others: list[int] = []
    for observation in observations:
        waiting = left.get(observation.probe.revision, [])
        if observation.probe.configuration in waiting:
            waiting.remove(observation.probe.configuration)
        else:
            others.append(observation.probe.revision)
    for revision in others:
        if left.get(revision):
            left[revision].pop()
    return [Probe(c, revision) for revision, waiting in left.items() for c in waiting]
