"""What a night needs to mine assertions: the file at the tip, a share of the budget, where it is proposed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from bot.adapters.documents.assertion_file import assertion_text, read_assertions
from bot.adapters.github.proposals import GithubProposals
from bot.compose.asserted import ASSERTIONS
from bot.compose.nights import AskedNight
from bot.compose.ranging import Opened, measuring_seconds
from bot.flows.influences.profiles import PROFILING_SHARE
from bot.flows.nights.asserting import MINING_SHARE, Asserting, AssertionFile
from bot.flows.nights.job import NightJob
from bot.flows.nights.proposing import Proposals
from bot.model.errors import UsageError
from bot.sampling.constraints import ConstraintSolver


def with_asserting(asked: AskedNight, opened: Opened, job: NightJob) -> NightJob:
    """The night with a share of its time for mining the tip, in the default configuration.

    A file that is wrong, or methods that cannot be profiled, stop nothing else.
    """
    profiler = job.teaching.profiler if job.teaching is not None else None
    if profiler is None:
        return job
    tip = job.revisions[-1]
    read = partial(read_assertions, name=f"{tip.label}:{ASSERTIONS}")
    try:
        text = opened.repository.read_file(tip, str(ASSERTIONS)) or ""
        read(text)  # what is wrong is told even if no time is left for mining
    except UsageError as error:
        return replace(job, notes=(*job.notes, f"No assertion was mined: {error}"))
    file = AssertionFile(str(ASSERTIONS), text, read, assertion_text)
    asserting = Asserting(
        profiler,
        ConstraintSolver(job.subject.space).default(),
        file,
        seconds=MINING_SHARE * PROFILING_SHARE * job.budget,
        overhead=job.subject.overhead,
        ends=measuring_seconds(job.budget),
    )
    return replace(job, asserting=asserting, proposals=_proposals(asked, opened.run.stack))


def _proposals(asked: AskedNight, stack: ExitStack) -> Proposals | None:
    """Where changes of the file are proposed: on GitHub, with a token, for the default branch."""
    found = asked.forge
    return stack.enter_context(GithubProposals(*found, api_url=asked.settings.api_url)) if found else None
