"""The action's modes `shard` and `merge`: one job of a matrix, and the job after it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.commands.left_history import with_history_left
from bot.commands.of_job import asked_night, asked_question
from bot.model.errors import UsageError

if TYPE_CHECKING:
    from bot.commands.action import Measured
    from bot.event import Plan
    from bot.flows.ports import Progress
    from bot.model.report import Report
    from bot.model.shards import Plan as Matrix
    from bot.model.shards import Shard
    from bot.settings import Settings

SHARD = "suspects-shard"
"""Folder below the workspace that a shard leaves, and how the names of its artifact begin."""
SHARDS = "suspects-shards"
"""Folder below the workspace to which the shards' artifacts are downloaded."""


def shard_of_job(settings: Settings, plan: Plan, progress: Progress) -> Report:
    """Measures the shard of this job and leaves it in the workspace."""
    from bot.adapters.workspace import left_in
    from bot.compose.sharding import measure_shard

    shard = _shard(settings, plan)
    workspace = settings.workspace or Path()
    try:
        with left_in(workspace, SHARD) as folder:
            if shard.mode == "nightly":
                from bot.compose.sharding_nights import measure_night_shard

                return measure_night_shard(shard, asked_night(settings), folder, progress)
            return measure_shard(shard, asked_question(settings, plan), folder, progress)
    except OSError as error:
        raise UsageError(f"{workspace / SHARD}: cannot be written: {error.strerror}") from None


def one_of_many(measure: Callable[[Plan], Measured]) -> Callable[[Plan], Measured]:
    """A shard's end is one line: what it found alone is not the answer, and `fail-on` is not its affair."""

    def run(plan: Plan) -> Measured:
        found = measure(plan)
        said = (
            f"A shard: {found.report.spent.trials} trials. What they show is told with those of all shards."
        )
        return replace(found, summary=said, headline=said, exit_code=3 if found.exit_code == 3 else 0)

    return run


def merge_of_job(settings: Settings, plan: Plan, progress: Progress) -> Report:
    """Merges the shards that were brought to the workspace; a night's history is left for the workflow."""
    from bot.compose.sharding import AskedMerge, merged

    folders = [(settings.workspace or Path()) / SHARDS]
    if plan.head is not None:
        return merged(AskedMerge(folders, asked_question(settings, plan)), progress)
    from bot.compose.sharding_nights import merged_night

    asked = asked_night(settings)
    return with_history_left(asked, merged_night(folders, asked, progress))


def _shard(settings: Settings, plan: Plan) -> Shard:
    """The input `shard`: K/N of the plan that every job makes for itself, or an entry of a plan.

    Raises:
        UsageError: it is neither, or the entry is not for this event.
    """
    from pydantic import ValidationError

    from bot.commands.shards import entry
    from bot.model.shards import Shard

    text = settings.inputs.shard or ""
    if found := re.fullmatch(r"\s*(\d{1,4})\s*/\s*(\d{1,4})\s*", text):
        return entry(_matrix(settings, plan, int(found[2])), int(found[1]))
    try:
        one = Shard.model_validate_json(text)
    except ValidationError:
        raise UsageError(
            f"input shard {text[:80]!r}: K/N is needed, such as 0/4, or an entry of `suspects plan` as JSON"
        ) from None
    mode = "nightly" if plan.head is None else "pull_request"
    if not one.consistent or one.mode != mode or plan.head not in (None, one.head):
        raise UsageError("input shard: it is no entry of a plan for this event")
    return one


def _matrix(settings: Settings, plan: Plan, shards: int) -> Matrix:
    from bot.compose.sharding import AskedPlan
    from bot.compose.sharding import plan as planned

    if plan.head is None:
        from bot.compose.sharding_nights import plan_night

        return plan_night(shards, asked_night(settings), ("",))
    return planned(AskedPlan(shards, asked_question(settings, plan)))
