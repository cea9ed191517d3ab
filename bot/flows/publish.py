"""The trusted second stage: posts what an unprivileged run measured, without believing any of its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from bot.flows.disarm import disarm
from bot.model.errors import ArtifactError
from bot.model.forge import CommentPolicy, Placed, PullRequest, Stamp, WorkflowRun
from bot.model.report import Report

ARTIFACT = "suspects-report"
"""The exact name of the artifact that the measuring workflow leaves."""


class Forge(Protocol):
    """What a flow asks of the place where pull requests live."""

    def run(self, run_id: int) -> WorkflowRun:
        """A workflow run by its id."""
        ...

    def pull_requests(self, *, owner: str, branch: str) -> tuple[PullRequest, ...]:
        """Open pull requests whose head is this branch of this owner."""
        ...

    def merge_base(self, base: str, head: str) -> str:
        """The merge base of two commits."""
        ...

    def place(
        self, number: int, body: str, stamp: Stamp, *, key: str = "pull-request", create: bool = True
    ) -> Placed:
        """Makes `body` our one comment on a pull request, unless a newer run's stands there."""
        ...


class Artifacts(Protocol):
    """What unprivileged runs left."""

    def report(self, run_id: int, name: str) -> Report | None:
        """The report in a run's artifact of this exact name; None when there is none."""
        ...


class Render(Protocol):
    """A comment's Markdown (`bot.report.render.comment`)."""

    def __call__(self, report: Report, *, fork: bool) -> str:
        """`fork`: the figures come from a run of somebody else's, which the reader must know."""
        ...


Ending: TypeAlias = Literal["published", "nothing"]


@dataclass(frozen=True)
class Outcome:
    """How publishing ended: one sentence, and what was placed on which pull request."""

    ending: Ending
    reason: str
    report: Report | None = None
    placed: tuple[tuple[int, Placed], ...] = ()

    @property
    def url(self) -> str | None:
        """Where our comment is."""
        return next((placed.url for _, placed in self.placed if placed.url), None)


def comment(
    forge: Forge, number: int, *, report: Report, markdown: str, stamp: Stamp, policy: CommentPolicy
) -> Placed:
    """Comments as the policy says: `on-change` starts one only when there is something to act on.

    A comment that stands is always brought up to date: an old alarm must not outlive its fix.
    """
    if policy == "never":
        return Placed("absent")
    return forge.place(number, markdown, stamp, create=policy == "always" or noteworthy(report))


def noteworthy(report: Report) -> bool:
    """Whether a reader must act: something moved, or nothing could be measured."""
    moved = report.verdict in ("regression", "improvement", "mixed")
    return moved or bool(report.build_failures) or (report.verdict == "inconclusive" and not report.measured)


def publish(
    forge: Forge,
    artifacts: Artifacts,
    *,
    repository: str,
    run_id: int,
    render: Render,
    policy: CommentPolicy = "always",
    address: str = "",
) -> Outcome:
    """Posts the result of a measuring run on its pull request.

    The pull request is found through the API, never through the artifact; a fork's report is disarmed;
    the Markdown is rendered here. address: where people read the repository's files ("": not known).

    Raises:
        ArtifactError: the artifact is not what a measuring run leaves; nothing is posted.
        ForgeError: GitHub refused or did not answer.
    """
    run = forge.run(run_id)
    if run.event != "pull_request":
        return Outcome("nothing", f"run {run.id} was started by {run.event}, not by a pull request")
    if run.head_repository is None or run.head_branch is None:
        return Outcome("nothing", "the fork or branch that was measured has been deleted")
    candidates = _candidates(forge, run, owner=run.head_repository.split("/")[0], branch=run.head_branch)
    if not candidates:
        return Outcome("nothing", f"no open pull request has {run.head_sha[:12]} as its head any more")
    report = artifacts.report(run.id, ARTIFACT)
    if report is None:
        return Outcome("nothing", f"run {run.id} ({run.conclusion}) left no artifact named {ARTIFACT}")
    _check(report, run)
    fork = run.head_repository != repository
    report = disarm(report, head_sha=run.head_sha, address=address) if fork else report
    pulls = _measured(forge, candidates, report)
    stamp = Stamp(run.id, run.attempt, run.head_sha)
    markdown = render(report, fork=fork)
    placed = tuple(
        (
            pull.number,
            comment(forge, pull.number, report=report, markdown=markdown, stamp=stamp, policy=policy),
        )
        for pull in pulls
    )
    told = ", ".join(f"#{number}: {one.placing}" for number, one in placed)
    return Outcome("published", told, report, placed)


def _candidates(forge: Forge, run: WorkflowRun, *, owner: str, branch: str) -> list[PullRequest]:
    """Open pull requests with exactly this head: branch names are anyone's choice, commits are not."""
    return [
        pull
        for pull in forge.pull_requests(owner=owner, branch=branch)
        if pull.open and pull.head_sha == run.head_sha and pull.head_repository == run.head_repository
    ]


def _check(report: Report, run: WorkflowRun) -> None:
    if report.mode != "pull_request":
        raise ArtifactError(f"the artifact holds a report of mode {report.mode}, not of a pull request")
    if report.base is None or report.head is None or report.head.revision != run.head_sha:
        raise ArtifactError("the artifact measured another head than the run that left it")


def _measured(forge: Forge, candidates: list[PullRequest], report: Report) -> list[PullRequest]:
    """Of several pull requests from one head (into different bases) those whose merge base was measured."""
    if len(candidates) == 1:
        return candidates
    assert report.base is not None and report.head is not None
    base, head = report.base.revision, report.head.revision
    chosen = [pull for pull in candidates if forge.merge_base(pull.base_sha, head) == base]
    if not chosen:
        raise ArtifactError("the artifact measured another base than any pull request of this head has")
    return chosen
