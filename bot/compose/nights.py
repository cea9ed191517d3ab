"""What is asked of a night, and what both kinds of nights are made of: history, search, record."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bot.adapters.github.issues import GithubIssues
from bot.adapters.workers import workers
from bot.flows.influences.known_costs import Known, profiles_of
from bot.flows.influences.profiles import PROFILING_SHARE, plan
from bot.flows.nights.archive import Archive
from bot.flows.nights.asserting import MINING_SHARE
from bot.flows.nights.issues import Issues
from bot.flows.nights.job import NightJob
from bot.flows.nights.past import LOOKED_BACK, NIGHTS, Night, newest, nights, window
from bot.flows.nights.search import NightSearch
from bot.flows.nights.teaching import Teaching
from bot.flows.ports import ProfileBench, Store
from bot.model.history import (
    Measurements,
    Selection,
    program_fingerprint,
    told,
)
from bot.model.profile_history import ProfileTable
from bot.model.report import History
from bot.model.revisions import Revision
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import random_uniform
from bot.settings import Settings

SAMPLE = 40
"""Random configurations a night that show what options cost where no method can be profiled."""


@dataclass(frozen=True)
class AskedNight:
    """What the command line (or the action) asks of a night.

    head: the tip (None: the checked-out commit, or the last simulated revision). history: `--history`.
    writes: whether this run's trials enter the history and its findings become issues; only the default
    branch's do. simulated: whether a table or a callable may be the subject. leave: a folder that takes what
    this run adds to the history, whose findings nobody is told; None: the history itself. estimator: of
    methods and influences, ours or published.
    """

    settings: Settings
    config: Path | None = None
    head: str | None = None
    budget: float | None = None
    seed: int = 0
    history: str | None = None
    repository: Path = Path()
    cache: Path | None = None
    writes: bool = True
    simulated: bool = True
    leave: Path | None = None
    estimator: str = "ours"

    @property
    def forge(self) -> tuple[str, str] | None:
        """Repository and token with which people are told something; None: not on GitHub, or not ours."""
        repository, token = self.settings.repository, self.settings.github_token
        if not (self.settings.on_github and self.writes and repository and token) or self.leave:
            return None
        return repository, token


@dataclass(frozen=True)
class Remembered:
    """The store, what it knows of earlier nights of this program, and where issues are (None: nowhere).

    past: the newest nights. all_nights: these and those whose changes alone are still told.
    """

    store: Store
    past: Measurements
    all_nights: Measurements
    profiles: ProfileTable
    issues: Issues | None = None

    @classmethod
    def of(cls, store: Store, subject: Subject, issues: Issues | None) -> Remembered:
        """Reads the nights."""
        program = program_fingerprint(subject)
        wanted = Selection(last=LOOKED_BACK, program=program, modes=frozenset({"nightly"}))
        found = store.read(wanted)
        return cls(store, newest(found), found, profiles_of(store, subject), issues)

    def without(self, runs: Collection[str]) -> Remembered:
        """What it knew before these runs (ids)."""
        found = self.all_nights
        kept = found.where(~np.array([run.id in runs for run in found.runs], bool)[found.run])
        return replace(self, past=newest(kept), all_nights=kept)

    def generators(self, seed: int, count: int) -> list[np.random.Generator]:
        """Sources of randomness that no earlier night had: its configurations are not drawn once more."""
        last = max(self.past.runs, key=lambda run: run.started).id if self.past.runs else ""
        return np.random.default_rng([seed, zlib.crc32(last.encode())]).spawn(count)

    def history(self) -> History:
        """What a report tells of it."""
        return told(self.store.source, self.past, datetime.now(UTC))

    def notes(self, past: Sequence[Night], *, writes: bool) -> list[str]:
        """What a reader must know of it, and when no earlier night is of use."""
        said = list(self.store.notes())
        if len(self.past.runs) >= LOOKED_BACK:
            oldest = min(run.started for run in self.past.runs)
            said.append(f"Nights before {oldest:%Y-%m-%d} are not read: what only they showed is not told.")
        if not writes:
            said.append(
                "This is not the default branch: the night is not remembered, and no issue is opened."
            )
        if not past:
            said.append("No earlier night of this program and branch is known: this is the first.")
        return said


def opened_issues(asked: AskedNight, stack: ExitStack) -> Issues | None:
    """Where confirmed slow-downs are announced: on GitHub, with a token, for the default branch."""
    found = asked.forge
    return stack.enter_context(GithubIssues(*found, api_url=asked.settings.api_url)) if found else None


def search_of(
    subject: Subject,
    revisions: int,
    past: Sequence[Night],
    *,
    rng: np.random.Generator,
    candidates: Collection[Configuration] | None = None,
) -> NightSearch:
    """The search of a night over so many revisions."""
    return NightSearch(
        subject.space,
        window(revisions, past),
        ConstraintSolver(subject.space),
        rng=rng,
        candidates=candidates,
        threshold=subject.threshold,
    )


def with_archive(
    job: NightJob, remembered: Remembered, *, before: Callable[[], Sequence[Revision]]
) -> NightJob:
    """The same with what all nights showed; before: the line before the job's revisions, oldest first."""
    found, subject = remembered.all_nights, job.subject
    labels = {found.revisions[i].revision: found.revisions[i].label for i in np.unique(found.revision)}
    if len(np.unique(found.run)) <= NIGHTS and labels.keys() <= {r.id for r in job.revisions}:
        return job  # tonight's search knows all of it
    line = list(before())
    first = next((i for i, revision in enumerate(line) if revision.id in labels), len(line))
    whole = [*(replace(r, label=labels.get(r.id, r.label)) for r in line[first:]), *job.revisions]
    past = nights(found, subject.space, whole, job.metric)

    def search(count: int) -> NightSearch:
        return search_of(subject, count, (), rng=np.random.default_rng(0))  # it asks nothing

    job.progress.stage(f"looking back on {len(past)} nights")
    archive = Archive.of(past, whole, search, since=len(whole) - len(job.revisions))
    return replace(job, archive=archive)


def teaching_of(
    remembered: Remembered,
    subject: Subject,
    metric: str,
    *,
    rng: np.random.Generator,
    tip: Revision,
    profiler: ProfileBench | None = None,
    budget: float = 0.0,
    candidates: Sequence[Configuration] | None = None,
) -> Teaching:
    """What the night learns of options, with a share of its budget where methods can be profiled.

    rng: for what is measured; what is held out does not depend on the night.
    """
    solver = ConstraintSolver(subject.space)
    sample: Sequence[Configuration] = ()
    if profiler is None and candidates is not None:
        sample = [candidates[i] for i in rng.permutation(len(candidates))[:SAMPLE]]
    elif profiler is None:
        sample = random_uniform(subject.space, solver, SAMPLE, rng=rng)
    return Teaching(
        Known(remembered.profiles, remembered.past, metric),
        np.random.default_rng(0),
        profiler=profiler,
        wanted=lambda measured: plan(
            subject.space, solver, remembered.profiles, tip.id, measured=measured, rng=rng
        ),
        seconds=(1.0 - MINING_SHARE) * PROFILING_SHARE * budget,
        sample=sample,
        workers=lambda: workers(subject.analysis.backend, jobs=1),
    )
