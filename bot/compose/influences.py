"""Learns the influences of a subject from its history, on the workers that its file names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot.adapters.processes.threads import one_thread
from bot.adapters.workers import workers
from bot.compose.estimators import estimator
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.subjects import CONFIG, load_checked
from bot.flows.influences.known_costs import known
from bot.flows.influences.learning import Effort, Influences, learnt
from bot.flows.ports import Progress
from bot.model.errors import NothingMeasuredError, UsageError
from bot.settings import Settings

MANY = 20_000
"""Profiled costs from which on several processes learn sooner than one: each takes seconds to start."""


@dataclass(frozen=True)
class AskedInfluences:
    """What the command line asks: whose influences, of which method and option (None: of all)."""

    settings: Settings
    config: Path | None = None
    history: str | None = None
    seed: int = 0
    estimator: str = "ours"
    method: str | None = None
    option: str | None = None
    repository: Path = Path()


def learnt_influences(asked: AskedInfluences, progress: Progress) -> Influences:
    """Reads the history and learns from it.

    Raises:
        UsageError: the options or the configuration file are wrong, or no cluster answers.
        NothingMeasuredError: history has too little.
    """
    published = estimator(asked.estimator) == "published"
    subject = load_checked(asked.config or asked.repository / CONFIG)
    if asked.option is not None and asked.option not in subject.space.names:
        names = ", ".join(subject.space.names)
        raise UsageError(f"--option {asked.option}: there is no such option; there are {names}")
    where = AskedHistory(
        asked.settings, configured=subject.history, place=asked.history, folder=asked.repository
    )
    with opened_history(where) as store:
        progress.stage("reading the history")
        found = known(store, subject)
        said = tuple(store.notes())
    progress.stage("learning influence models")
    effort = Effort(published=published)
    jobs = None if len(found.profiles) >= MANY and asked.method is None else 1
    try:
        with one_thread(), workers(subject.analysis.backend, jobs=jobs):
            influences = learnt(
                found, subject, rng=np.random.default_rng(asked.seed), effort=effort, method=asked.method
            )
    except NothingMeasuredError as error:
        error.add_note(" ".join(said))
        raise
    return replace(influences, notes=(*said, *influences.notes))
