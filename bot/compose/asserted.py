"""Where performance assertions are: in a file beside the subject's, of the working directory or of base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bot.adapters.documents.assertion_file import entry_text, read_assertions
from bot.adapters.repositories.git import Repository
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.subjects import CONFIG, Asked, load_checked
from bot.flows.assertions.times import times
from bot.flows.run.job import Job
from bot.model.assertions import Assertion
from bot.model.errors import UsageError
from bot.model.revisions import Revision
from bot.settings import Settings, environment

ASSERTIONS = CONFIG.with_name("suspects.assertions.yml")


def known_assertions(path: Path) -> tuple[Assertion, ...]:
    """The entries of a file; none where there is no file.

    Raises:
        UsageError: it is wrong, or cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return read_assertions(text, name=str(path))


def with_assertions(asked: Asked, job: Job, repository: Repository) -> Job:
    """The job with base's assertions; with `--config`, with those beside that file.

    A file that is wrong stops nothing else: the report says that nothing of it was checked.
    """
    notes = list(job.notes)
    try:
        if asked.config is not None:
            found = known_assertions(asked.config.with_name(ASSERTIONS.name))
        else:
            base, head = (repository.read_file(side, str(ASSERTIONS)) for side in _sides(job))
            label = f"{job.comparison.base.label}:{ASSERTIONS}"
            found = read_assertions(base or "", name=label)
            if base != head:
                notes.append(
                    f"{ASSERTIONS} differs at head: base's was checked; the change counts after merge."
                )
    except UsageError as error:
        notes.append(f"No performance assertion was checked: {error}")
        return replace(job, notes=tuple(notes))
    return replace(job, notes=tuple(notes), assertions=found, entry_text=entry_text)


def times_here(entries: Sequence[Assertion], history: str | None) -> Mapping[str, tuple[float, ...]]:
    """By id, the seconds of the entries' borders as far as the history has durations; for people."""
    path = Path(CONFIG)
    configured = load_checked(path).history if path.is_file() else ()
    where = AskedHistory(Settings.read(environment()), configured=configured, place=history)
    with opened_history(where) as store:
        return times(store.durations(), entries)


def _sides(job: Job) -> tuple[Revision, Revision]:
    return job.comparison.base, job.comparison.head
