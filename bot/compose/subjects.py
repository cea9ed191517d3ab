"""What is asked of an analysis, and the subject it is asked about: read, with its constraints checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.adapters.documents.subject_file import load_subject, place_constraint, read_subject
from bot.event import PullFacts
from bot.model.errors import ConstraintError, UsageError
from bot.model.report import Report
from bot.model.subject import Program, Subject
from bot.sampling.constraints import ConstraintSolver

CONFIG = Path(".github/suspects.yml")


@dataclass(frozen=True)
class Asked:
    """What the command line (or the action) asks of one pull-request analysis.

    simulated: whether a table or a callable may be the subject (a callable is code of the working directory,
    run as ourselves: the action refuses it). history: `--history`. pull: what `run_on` may leave out.
    sample_seed: of the sample alone, where machines share an analysis; None: `seed` seeds all. overlay_from:
    the revision whose overlay both sides get, and inputs that neither has; None: head's overlay.
    """

    base: str
    head: str
    config: Path | None = None
    budget: float | None = None
    seed: int = 0
    exact_base: bool = False
    estimator: str = "ours"
    cache: Path | None = None
    repository: Path = Path()
    simulated: bool = True
    history: str | None = None
    pull: PullFacts | None = None
    sample_seed: int | None = None
    overlay_from: str | None = None


@dataclass(frozen=True)
class Subjected:
    """A subject, what its file is called, the folder its table or module lies in, and what to tell of it."""

    subject: Subject
    folder: Path
    notes: tuple[str, ...] = ()


def local_subject(asked: Asked) -> Subjected | None:
    """The subject of `--config`, or of the working directory's file when it is a simulated one; else None.

    Raises:
        UsageError: `--config` names a file that is missing or wrong.
    """
    if asked.config is not None:
        return Subjected(load_checked(asked.config), asked.config.parent)
    path = asked.repository / CONFIG
    if not path.is_file():
        return None
    try:
        subject = load_checked(path)
    except UsageError:
        if asked.base.isdecimal() and asked.head.isdecimal():  # meant for a simulated subject
            raise
        return None  # the merge base's file counts, and that one may be right
    return None if isinstance(subject.program, Program) else Subjected(subject, path.parent)


def refuse_simulated(allowed: bool) -> None:
    """Raises UsageError where only a program that is run may be the subject."""
    if not allowed:
        raise UsageError(
            "program: a table or callable is for evaluation; the action measures a `run` command"
        )


def load_checked(path: Path) -> Subject:
    """A file's subject, constraints included."""
    subject = load_subject(path)
    try:
        ConstraintSolver(subject.space)
    except ConstraintError as error:
        raise place_constraint(error, path.read_text(encoding="utf-8"), name=str(path)) from None
    return subject


def read_checked(text: str, name: str) -> Subject:
    """A text's subject, constraints included."""
    subject = read_subject(text, name=name, directory=None)
    try:
        ConstraintSolver(subject.space)
    except ConstraintError as error:
        raise place_constraint(error, text, name=name) from None
    return subject


def with_config(report: Report, config: Path | None) -> Report:
    """A report with the file that was given, for the commands that it tells."""
    return report if config is None else report.model_copy(update={"config": str(config)})
