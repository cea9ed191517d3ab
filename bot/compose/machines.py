"""What is to be known of this machine: its fingerprint, its condition, and what events cost on it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from bot import __version__
from bot.adapters.builds.run_folder import run_folder
from bot.adapters.resources.calibration import timed_kernels
from bot.adapters.resources.stress import StressNg
from bot.adapters.trials.fingerprint import environment
from bot.flows.machines import fingerprinting
from bot.flows.ports import Progress, Store
from bot.flows.resources.event_costs import costs_known_or_taken, known_costs
from bot.flows.run.job import Job
from bot.model.history import RunRecord

LEAST_PART = 20
"""A run looks after this machine when its budget is so many times what that costs."""
KERNELS_SECONDS = 30.0
"""Wall time of the kernels that tell what events cost."""
CANARY_SECONDS = float(len(fingerprinting.CANARY))
"""A second each."""


def fingerprinted(
    store: Store, budget: float, *, progress: Progress, stop: Callable[[], bool]
) -> tuple[Sequence[str], float]:
    """Before a night: takes a fingerprint unless there is a valid one; notes, and the seconds it took.

    A night that is too short even for the canary does without.
    """
    if not _affords(budget, CANARY_SECONDS):
        return (), 0.0
    began = datetime.now(UTC)
    taking = _affords(budget, fingerprinting.SECONDS + KERNELS_SECONDS)
    notes = list(condition(store, budget, progress=progress, stop=stop, taking=taking))
    if taking and not stop():
        notes += event_costs(store, stop=stop)
    return notes, (datetime.now(UTC) - began).total_seconds()


def condition(
    store: Store, budget: float, *, progress: Progress, stop: Callable[[], bool], taking: bool = False
) -> Sequence[str]:
    """A canary of a few seconds: whether this machine is as fast as others of its kind were; notes."""
    if not _affords(budget, CANARY_SECONDS):
        return ()
    progress.stage("checking this machine")
    return fingerprinting.known_or_taken(store, StressNg(stop=stop), machine_run(), taking=taking)


def _affords(budget: float, seconds: float) -> bool:
    """Whether so many seconds are a small part of a run's budget."""
    return budget >= LEAST_PART * seconds


def on_this_machine(job: Job, *, stop: Callable[[], bool]) -> Job:
    """The job with what its history knows of this machine."""
    if (memory := job.memory) is None:
        return job
    return replace(
        job,
        condition=lambda: condition(memory.store, job.budget, progress=job.progress, stop=stop),
        costs=lambda: known_costs(memory.store, environment(), memory.now),
    )


def event_costs(store: Store, *, stop: Callable[[], bool]) -> Sequence[str]:
    """Times what events cost here, unless history knows it; notes."""
    with run_folder() as folder:
        kernels = partial(timed_kernels, folder, stop=stop, seconds=KERNELS_SECONDS)
        return costs_known_or_taken(store, kernels, machine_run())


def machine_run() -> RunRecord:
    """A run that measures this machine and nothing else."""
    return RunRecord(
        id=f"machine-{uuid.uuid4().hex}",
        mode="machine",
        started=datetime.now(UTC),
        tool_version=__version__,
        environment=environment(),
    )
