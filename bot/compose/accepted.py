"""Which changes people accepted: a file beside the subject's, of the working directory or of base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bot.adapters.documents.accepted_file import read_accepted
from bot.adapters.repositories.git import Repository
from bot.compose.subjects import Asked
from bot.flows.history.accepting import LABEL, Accepted, stale
from bot.flows.run.job import Job
from bot.model.accepted import PATH
from bot.model.errors import UsageError
from bot.model.revisions import Comparison
from bot.model.space import Space

if TYPE_CHECKING:
    from bot.flows.nights.job import NightJob  # loads what learns, which a pull request may not need


def with_accepted_changes(asked: Asked, job: Job, repository: Repository | None) -> Job:
    """The job with what base's file accepts; with `--config` (or without a repository), the one beside it."""
    if asked.config is not None or repository is None:
        accepted, notes = _beside(asked.config or asked.repository / PATH, job.subject.space)
    else:
        base = f"{job.comparison.base.label}:{PATH}"
        accepted, notes = _read(lambda: _at_base(repository, job.comparison), base, job.subject.space)
    labelled = asked.pull is not None and LABEL in asked.pull.labels
    return replace(job, notes=(*job.notes, *notes), accepted=replace(accepted, labelled=labelled))


def with_accepted_at_night(config: Path, job: NightJob) -> NightJob:
    """The night with what the file beside the subject's accepts."""
    accepted, notes = _beside(config, job.subject.space)
    return replace(job, notes=(*job.notes, *notes), accepted=accepted)


def _beside(config: Path, space: Space) -> tuple[Accepted, list[str]]:
    path = config.with_name(Path(PATH).name)
    return _read(lambda: (_local(path), ()), str(path), space)


def _at_base(repository: Repository, compared: Comparison) -> tuple[str, Sequence[str]]:
    base, head = (repository.read_file(side, PATH) for side in (compared.base, compared.head))
    differ = f"{PATH} differs at head: base's was used; the change counts after merge."
    return base or "", [differ] if base != head else []


def _read(
    read: Callable[[], tuple[str, Sequence[str]]], name: str, space: Space
) -> tuple[Accepted, list[str]]:
    """read: a file's text, and what to tell of it. A wrong one stops nothing else: nothing is accepted."""
    today = datetime.now(UTC).date()
    try:
        text, notes = read()
        entries = read_accepted(text, name=name)
    except UsageError as error:
        return Accepted(today), [f"No change was accepted by a file: {error}."]
    return Accepted(today, entries), [*notes, *stale(entries, space, today)]


def _local(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
