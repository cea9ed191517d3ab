"""What history keeps of a run besides its trials and its machine."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from bot import __version__
from bot.model.history import RunMode, RunRecord, known_options, program_fingerprint
from bot.model.subject import Subject
from bot.settings import Settings


def record(
    mode: RunMode, settings: Settings, subject: Subject, *, name: str, label: str, search: str = ""
) -> RunRecord:
    """The record of the run that begins now; search: what runs that go on with one another have in common."""
    own = f"{settings.run_id}-{settings.run_attempt}-" if settings.run_id is not None else ""
    return RunRecord(
        id=f"{mode}-{search}{own}{uuid.uuid4().hex}",
        mode=mode,
        started=datetime.now(UTC),
        subject=name,
        program=program_fingerprint(subject),
        ref=settings.ref or "",
        label=label,
        tool_version=__version__,
        options=known_options(subject.space),
        metrics={m.name: m.unit for m in subject.metrics if m.unit},
    )
