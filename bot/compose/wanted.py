"""Which pull requests the subject's `run_on` leaves out."""

from __future__ import annotations

from bot.adapters.repositories.git import Repository
from bot.event import PullFacts
from bot.model.errors import NotWantedError
from bot.model.revisions import Comparison
from bot.model.subject_running import RunOn


def refuse_unwanted(run_on: RunOn, pull: PullFacts, repository: Repository, compared: Comparison) -> None:
    """Says in one line why a pull request is not measured.

    Raises:
        NotWantedError: it is a draft, has none of the labels, or changes none of the paths.
    """
    if pull.draft and not run_on.drafts:
        raise NotWantedError(
            "the pull request is a draft: mark it ready, or set run_on.drafts or the input mode: pull_request"
        )
    if run_on.labels and not set(run_on.labels) & set(pull.labels):
        raise NotWantedError(f"the pull request has none of the labels {', '.join(run_on.labels)} (run_on)")
    if run_on.paths and not _touched(repository, compared, run_on.paths):
        raise NotWantedError(f"the pull request changes nothing in {', '.join(run_on.paths)} (run_on)")


def _touched(repository: Repository, compared: Comparison, patterns: tuple[str, ...]) -> bool:
    """Whether a changed, added or removed file matches; what git cannot tell is measured."""
    patterns_of_files = {"GIT_LITERAL_PATHSPECS": "0", "GIT_GLOB_PATHSPECS": "1"}
    command = ("diff", "--quiet", "--no-renames", "--no-ext-diff", "--no-textconv")
    ends = (compared.base.id, compared.head.id)
    return repository.mirrored(*command, *ends, "--", *patterns, env=patterns_of_files).code != 0
