"""The trusted second stage: posts what an unprivileged run measured, without believing any of its words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol, TypeAlias

from bot.flows.history.accepting import LABEL, Accepted, with_accepted
from bot.flows.publishing.check_run import Checks, check_run
from bot.flows.publishing.disarm import disarm
from bot.flows.publishing.rebuild import rebuilt
from bot.model.accepted import PATH, AcceptedChange
from bot.model.errors import ArtifactError, ForgeError, ForgeRefusedError, UsageError
from bot.model.forge import Check, CommentPolicy, Placed, PullRequest, Stamp, WorkflowRun
from bot.model.report import Report
from bot.model.subject import Subject

_OTHER_BASE = "the artifact measured another base than any pull request of this head has"
ARTIFACT = "suspects-report"
"""The exact name of the artifact that the measuring workflow leaves."""


class Forge(Checks, Protocol):
    """What a flow asks of the place where pull requests live."""

    def run(self, run_id: int) -> WorkflowRun:
        """A workflow run by its id."""
        ...

    def pull_request(self, number: int) -> PullRequest:
        """A pull request as it is now."""
        ...

    def pull_requests(self, *, owner: str, branch: str) -> tuple[PullRequest, ...]:
        """Open pull requests whose head is this branch of this owner."""
        ...

    def merge_base(self, base: str, head: str) -> str:
        """The merge base of two commits."""
        ...

    def file(self, path: str, revision: str) -> str | None:
        """The text of a file at a revision; None: there is none."""
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


@dataclass(frozen=True)
class Trusted:
    """What the trusted side knows of the repository.

    path: where its configuration lies; read: (text, name) -> subject, or a UsageError; address: where people
    read its files ("": not known); accepted: as `read`, of the file of accepted changes.
    """

    path: str
    read: Callable[[str, str], Subject]
    address: str = ""
    accepted: Callable[[str, str], Sequence[AcceptedChange]] = lambda _text, _name: ()
    today: date = date.min


@dataclass(frozen=True)
class Requested:
    """What a dispatched run was asked to measure."""

    number: int
    head: str


Ending: TypeAlias = Literal["published", "nothing"]


@dataclass(frozen=True)
class Outcome:
    """How publishing ended: one sentence, and what was placed on which pull request.

    checked: what became of the check run, one sentence.
    """

    ending: Ending
    reason: str
    report: Report | None = None
    placed: tuple[tuple[int, Placed], ...] = ()
    checked: str = ""

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
    """Whether a reader must act: something moved, head fails, or nothing could be measured."""
    moved = report.verdict in ("regression", "improvement", "mixed")
    broken = bool(report.broken_at_head or report.build_failures)
    return moved or broken or (report.verdict == "inconclusive" and not report.measured)


def checked(forge: Checks, check: Check, stamp: Stamp) -> str:
    """Places a check run and says how that ended; a token that may not is told, and no error.

    Raises:
        ForgeError: GitHub did not answer after all tries.
    """
    try:
        placed = forge.check(check, stamp)
    except ForgeRefusedError as error:
        return f"no check run: {error}"
    return f"check run {check.name!r}, {check.conclusion}: {placed.placing}"


def publish(  # noqa: PLR0913  all but two are named
    forge: Forge,
    artifacts: Artifacts,
    *,
    repository: str,
    run_id: int,
    render: Render,
    trusted: Trusted,
    policy: CommentPolicy = "always",
    fail_on: Collection[str] = (),
    requested: Requested | None = None,
) -> Outcome:
    """Posts the result of a measuring run on its pull request, and beside its head.

    The pull request is found through the API, never through the artifact; a fork's report is disarmed, and
    what can be is made anew from the base's configuration; the Markdown is rendered here. requested: what a
    dispatched run was asked to measure, by people who may write.

    Raises:
        ArtifactError: the artifact is not what a measuring run leaves; nothing is posted.
        ForgeError: GitHub refused or did not answer.
    """
    run = forge.run(run_id)
    if run.event != ("workflow_dispatch" if requested else "pull_request"):
        return Outcome("nothing", f"run {run.id} was started by {run.event}, not by a pull request")
    if run.head_repository is None or run.head_branch is None:
        return Outcome("nothing", "the fork or branch that was measured has been deleted")
    head = requested.head if requested else run.head_sha
    candidates = _requested(forge, requested) if requested else _candidates(forge, run)
    if not candidates:
        return Outcome("nothing", f"no open pull request has {head[:12]} as its head any more")
    report = artifacts.report(run.id, ARTIFACT)
    if report is None:
        return Outcome("nothing", f"run {run.id} ({run.conclusion}) left no artifact named {ARTIFACT}")
    _check(report, head)
    fork = candidates[0].head_repository != repository
    report = disarm(report, head_sha=head, address=trusted.address) if fork else report
    pulls = _measured(forge, candidates, report)
    report = _rebuilt(forge, report, trusted, pulls[0]) if fork else report
    report = _with_accepted(forge, report, trusted, pulls, fork=fork)
    stamp = Stamp(run.id, run.attempt, head)
    markdown = render(report, fork=fork)

    def place() -> tuple[tuple[int, Placed], ...]:
        return tuple(
            (
                pull.number,
                comment(forge, pull.number, report=report, markdown=markdown, stamp=stamp, policy=policy),
            )
            for pull in pulls
        )

    placed = place()
    told = ", ".join(f"#{number}: {one.placing}" for number, one in placed)
    said = checked(forge, check_run(report, markdown=markdown, fork=fork, fail_on=fail_on), stamp)
    with suppress(ForgeError):  # whoever answered a command meanwhile may have brought old words back
        place()
    return Outcome("published", told, report, placed, said)


def _requested(forge: Forge, asked: Requested) -> list[PullRequest]:
    """The pull request that was asked for, if its head is still the one that was seen then."""
    pull = forge.pull_request(asked.number)
    return [pull] if pull.open and pull.head_sha == asked.head else []


def _candidates(forge: Forge, run: WorkflowRun) -> list[PullRequest]:
    """Open pull requests with exactly this head: branch names are anyone's choice, commits are not."""
    owner, branch = (run.head_repository or "").split("/")[0], run.head_branch or ""
    return [
        pull
        for pull in forge.pull_requests(owner=owner, branch=branch)
        if pull.open and pull.head_sha == run.head_sha and pull.head_repository == run.head_repository
    ]


def _check(report: Report, head: str) -> None:
    if report.mode != "pull_request":
        raise ArtifactError(f"the artifact holds a report of mode {report.mode}, not of a pull request")
    if report.base is None or report.head is None or report.head.revision != head:
        raise ArtifactError("the artifact measured another head than the run that left it")


def _measured(forge: Forge, candidates: list[PullRequest], report: Report) -> list[PullRequest]:
    """Of several pull requests from one head (into different bases) those whose merge base was measured."""
    if len(candidates) == 1:
        return candidates
    assert report.base is not None and report.head is not None
    base, head = report.base.revision, report.head.revision
    chosen = [pull for pull in candidates if forge.merge_base(pull.base_sha, head) == base]
    if not chosen:
        raise ArtifactError(_OTHER_BASE)
    return chosen


def _rebuilt(forge: Forge, report: Report, trusted: Trusted, pull: PullRequest) -> Report:
    """With what the base's configuration says; where it cannot be read, a note says what is missing.

    The base is GitHub's word: a fork that names another could bring a configuration of its own.
    """
    assert report.base is not None
    try:
        if forge.merge_base(pull.base_sha, pull.head_sha) != report.base.revision:
            raise ArtifactError(_OTHER_BASE)
        text = forge.file(trusted.path, report.base.revision)
        if text is None:
            raise UsageError(f"{trusted.path} is not in the base")
        subject = trusted.read(text, trusted.path)
    except (UsageError, ForgeRefusedError) as error:
        note = f"There are no commands to reproduce this, and rules are the run's own claim: {error}."
        return report.model_copy(update={"notes": (*report.notes, note)})
    return rebuilt(report, subject, number=pull.number)


def _with_accepted(
    forge: Forge, report: Report, trusted: Trusted, pulls: Sequence[PullRequest], *, fork: bool
) -> Report:
    """With what people accepted: by the label as it is now; of a fork by base's file, whatever its run said.

    Our own runs have read base's file themselves. A file that cannot be read accepts nothing.
    """
    if any(LABEL in pull.labels for pull in pulls):
        return with_accepted(report, Accepted(trusted.today, labelled=True))
    if not fork:
        return report
    entries: Sequence[AcceptedChange] = ()
    try:
        base = forge.merge_base(pulls[0].base_sha, pulls[0].head_sha)
        entries = trusted.accepted(forge.file(PATH, base) or "", PATH)
    except (UsageError, ForgeRefusedError) as error:
        note = f"No change was accepted by a file: {error}."
        report = report.model_copy(update={"notes": (*report.notes, note)})
    return with_accepted(report, Accepted(trusted.today, tuple(entries)))
