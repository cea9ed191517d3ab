"""What a history's nights know of a line, for pull requests: in the words that the last night told it in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.past_changes import NamedChanges
from bot.flows.nights.known_changes import known_changes
from bot.flows.nights.past import nights
from bot.flows.nights.search import NightSearch
from bot.flows.nights.window import Window
from bot.model.history import Measurements
from bot.model.revisions import Revision
from bot.model.subject import Subject
from bot.sampling.constraints import ConstraintSolver


def named_by_nights(
    subject: Subject, past: Measurements, metric: str, line: Sequence[str]
) -> NamedChanges | None:
    """The changes on a line (ids, oldest first) as its nights name them; None: no night measured it."""
    nightly = np.array([run.mode == "nightly" for run in past.runs], bool)
    found = nights(past.where(nightly[past.run]), subject.space, [Revision(i, i) for i in line], metric)
    solver = ConstraintSolver(subject.space)

    def search(count: int) -> NightSearch:
        rng = np.random.default_rng(0)  # it asks nothing
        return NightSearch(subject.space, Window(count), solver, rng=rng, threshold=subject.threshold)

    return known_changes(found, subject.space, search)
