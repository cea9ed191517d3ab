"""Which changes people accepted: a file beside the subject's, of the working directory or of base."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.accepted_file import read_accepted
from bot.adapters.git import Repository
from bot.compose.subjects import Asked
from bot.flows.accepting import LABEL, Accepted, stale
from bot.flows.job import Job
from bot.flows.night import NightJob
from bot.model.accepted import PATH
from bot.model.errors import UsageError


def with_accepted_changes(asked: Asked, job: Job, repository: Repository | None) -> Job:
    """The job with what base's file accepts; with `--config` (and without a repository), the one beside it.

    A file that is wrong stops nothing else: the report says that nothing was accepted.
    """
    labelled = asked.pull is not None and LABEL in asked.pull.labels
    accepted = replace(_nothing(), labelled=labelled)
    notes = list(job.notes)
    try:
        if asked.config is not None or repository is None:
            path = (asked.config or asked.repository / PATH).with_name(Path(PATH).name)
            text, name = _local(path), str(path)
        else:
            base, head = (
                repository.read_file(side, PATH) for side in (job.comparison.base, job.comparison.head)
            )
            text, name = base or "", f"{job.comparison.base.label}:{PATH}"
            if base != head:
                notes.append(f"{PATH} differs at head: base's was used; the change counts after merge.")
        accepted = replace(accepted, entries=read_accepted(text, name=name))
        notes += stale(accepted.entries, job.subject.space, accepted.today)
    except UsageError as error:
        notes.append(f"No change was accepted by a file: {error}.")
    return replace(job, notes=tuple(notes), accepted=accepted)


def with_accepted_at_night(config: Path, job: NightJob) -> NightJob:
    """The night with what the file beside the subject's accepts; one that is wrong stops nothing else."""
    path = config.with_name(Path(PATH).name)
    accepted = _nothing()
    try:
        accepted = replace(accepted, entries=read_accepted(_local(path), name=str(path)))
        notes = stale(accepted.entries, job.subject.space, accepted.today)
    except UsageError as error:
        notes = [f"No change was accepted by a file: {error}."]
    return replace(job, notes=(*job.notes, *notes), accepted=accepted)


def _nothing() -> Accepted:
    return Accepted(datetime.now(UTC).date())


def _local(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
