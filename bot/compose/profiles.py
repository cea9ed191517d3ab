"""Utilisation profiles from the history of a subject, and fingerprints of this machine into it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot.adapters.processes.threads import one_thread
from bot.adapters.resources.stress import StressNg
from bot.compose.estimators import estimator
from bot.compose.machines import event_costs, machine_run
from bot.compose.remembering import AskedHistory, configured_history, opened_history
from bot.compose.runs import stop_on_signals
from bot.compose.subjects import CONFIG, load_checked
from bot.flows.influences.known_costs import TIMES, cost_metric
from bot.flows.machines import fingerprinting
from bot.flows.machines.utilisation import utilisation
from bot.flows.ports import Progress
from bot.model.errors import NothingMeasuredError
from bot.model.history import RunRecord, program_fingerprint
from bot.model.machines import PUBLISHED, REPRESENTATIVES, Stressed
from bot.model.utilisation import Utilisation
from bot.settings import Settings


@dataclass(frozen=True)
class AskedProfiles:
    """What the command line asks. revisions: base and head; None: no comparison."""

    settings: Settings
    config: Path | None = None
    history: str | None = None
    revisions: tuple[str, str] | None = None
    estimator: str = "ours"
    seed: int = 0
    repository: Path = Path()


@dataclass(frozen=True)
class AskedFingerprint:
    """What is asked of a fingerprint; every: of all published stressors instead of the representatives."""

    settings: Settings
    config: Path | None = None
    history: str | None = None
    repetitions: int = 3
    seconds: int = 2
    every: bool = False
    repository: Path = Path()


def profiled(asked: AskedProfiles, progress: Progress) -> Utilisation:
    """The profile of the subject's program over the machines in its history.

    Raises:
        UsageError: the options or the configuration file are wrong, or a revision is not known.
    """
    published = estimator(asked.estimator) == "published"
    subject = load_checked(asked.config or asked.repository / CONFIG)
    where = AskedHistory(
        asked.settings, configured=subject.history, place=asked.history, folder=asked.repository
    )
    with one_thread(), opened_history(where) as store:
        progress.stage("reading the history")
        return utilisation(
            store,
            program_fingerprint(subject),
            cost_metric(subject, TIMES),
            rng=np.random.default_rng(asked.seed),
            revisions=asked.revisions,
            published=published,
        )


def fingerprint(asked: AskedFingerprint, progress: Progress) -> tuple[Stressed, RunRecord]:
    """Takes a fingerprint of this machine and keeps it, whether or not there is one.

    Raises:
        UsageError: the configuration file is wrong.
        NothingMeasuredError: stress-ng is missing, too old, or gave nothing.
    """
    stressors = PUBLISHED if asked.every else REPRESENTATIVES
    with stop_on_signals() as stop:
        stresser = StressNg(stop=stop.is_set)
        if missing := stresser.missing():
            raise NothingMeasuredError(" ".join(missing))
        where = AskedHistory(
            asked.settings,
            configured=configured_history(asked.config),
            place=asked.history,
            folder=asked.repository,
        )
        with opened_history(where) as store:
            progress.stage(f"stressing this machine: {len(stressors)} stressors")
            run = machine_run()
            found = stresser.stress(stressors, repetitions=asked.repetitions, seconds=asked.seconds)
            if stop.is_set():
                raise NothingMeasuredError("The fingerprint was stopped; nothing is kept.")
            notes = fingerprinting.remembered(store, found, run)
            progress.stage("timing what events cost")
            notes = (*notes, *event_costs(store, stop=stop.is_set))
    found = replace(found, notes=notes)
    if not found.told:
        raise NothingMeasuredError(" ".join(notes))
    return found, run
