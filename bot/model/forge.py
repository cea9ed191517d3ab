"""What we know of a forge: pull requests, workflow runs, checks, a comment's stamp and where it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

CommentPolicy: TypeAlias = Literal["always", "on-change", "never"]
Placing: TypeAlias = Literal["created", "edited", "unchanged", "outdated", "absent"]
"""unchanged: the same words already stood there; outdated: a newer run's comment stands and was left alone;
absent: none stood there and none was wanted."""


@dataclass(frozen=True)
class PullRequest:
    """A pull request as the API tells it; `head_repository` is None when the fork was deleted."""

    number: int
    open: bool
    base_sha: str
    head_sha: str
    head_repository: str | None
    base_branch: str = ""
    head_branch: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkflowRun:
    """A run of a workflow; `conclusion` is None while it goes on, the head's place when it was deleted."""

    id: int
    attempt: int
    event: str
    conclusion: str | None
    head_sha: str
    head_branch: str | None
    head_repository: str | None


@dataclass(frozen=True, order=True)
class Stamp:
    """Which run wrote a comment: a later run (then a later attempt of it) is newer."""

    run_id: int
    attempt: int
    head_sha: str


@dataclass(frozen=True)
class Placed:
    """Where our comment is (None: nowhere) and what was done to it."""

    placing: Placing
    url: str | None = None


Conclusion: TypeAlias = Literal["success", "failure", "neutral", "action_required"]
"""neutral: nothing was decided; action_required: nothing could be measured."""


@dataclass(frozen=True)
class Annotation:
    """Words on one line (from 1) of a file of the checked commit; plain text, not Markdown."""

    path: str
    line: int
    level: Literal["notice", "warning"]
    title: str
    message: str


@dataclass(frozen=True)
class Check:
    """A check run: what is said beside a commit. summary is Markdown, title one plain line."""

    name: str
    conclusion: Conclusion
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True)
class Issue:
    """An issue that we opened: where it is, and its text, which begins with our marker."""

    url: str
    body: str


@dataclass(frozen=True)
class FileChange:
    """A file's new text on top of a revision, with title and body for those who review it.

    before: digest of its text at the revision.
    """

    path: str
    before: str
    text: str
    revision: str
    title: str
    body: str


@dataclass(frozen=True)
class Standing:
    """What became of the change that was proposed last.

    state: `unopened` is on its branch, without a pull request; `foreign` has somebody else's commits.
    commit: the branch's newest, None: there is no branch. before: digest of the file that was changed.
    text: the file as it was proposed, where it is still of use.
    """

    state: Literal["none", "unopened", "open", "declined", "merged", "foreign"] = "none"
    commit: str | None = None
    url: str = ""
    before: str = ""
    text: str = ""
