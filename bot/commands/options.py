"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.model.errors import UsageError

# What is needed only once a command runs is imported there: `--help` and `--version` answer at once.
if TYPE_CHECKING:
    from bot.flows.ports import Progress
    from bot.model.report import Report

Config = Annotated[
    Path | None,
    typer.Option("--config", help="The subject's file; default: the merge base's .github/suspects.yml."),
]
Budget = Annotated[str | None, typer.Option("--budget", help="Time for measuring, such as 300s or 5m.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the sample and of all random orders.")]
HistoryPlace = Annotated[str | None, typer.Option("--history", help="Where history lies.")]
Estimator = Annotated[str, typer.Option("--estimator", help="ours, or published where a seed has one.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the report as JSON.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write the comment.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write the page.")]
FailOn = Annotated[str, typer.Option("--fail-on", help="regression, violation: end with exit code 1.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more when something goes wrong.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no comment on standard output.")]

FAILING = ("regression", "violation")


def seconds_of(budget: str | None) -> float | None:
    """Seconds of a duration.

    Raises:
        UsageError: not a positive duration.
    """
    from bot.model.quantities import parse_seconds

    if budget is None:
        return None
    try:
        seconds = parse_seconds(budget)
    except ValueError as error:
        raise UsageError(f"--budget {budget}: {error}") from None
    if not isinstance(seconds, int | float) or seconds <= 0:
        raise UsageError(f"--budget {budget}: a duration above zero is needed, such as 300s or 5m")
    return float(seconds)


def failing(words: str) -> frozenset[str]:
    """The conditions of `--fail-on`.

    Raises:
        UsageError: a word is not known.
    """
    found = frozenset(word.strip() for word in words.split(",") if word.strip())
    for word in found.difference(FAILING):
        raise UsageError(f"--fail-on {word}: not known; {' and '.join(FAILING)} are allowed")
    return found


def as_json(target: Path | None, value: Mapping[str, Any]) -> bool:
    """Writes JSON where it was asked for; whether that was standard output, which then holds nothing else."""
    if target is None:
        return False
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    if str(target) == "-":
        typer.echo(text, nl=False)
        return True
    target.write_text(text, encoding="utf-8")
    return False


def progress_for(*, quiet: bool) -> AbstractContextManager[Progress]:
    """Live progress on standard error, or none."""
    from bot.adapters.terminal import QuietProgress, TerminalProgress

    return nullcontext(QuietProgress()) if quiet else TerminalProgress()


def exit_code(report: Report, fail_on: frozenset[str]) -> int:
    """0 done, 1 a condition of `--fail-on` matched, 3 nothing could be measured."""
    from bot.flows.publishing.check_run import conditions, unmeasured

    return 3 if unmeasured(report) else int(bool(conditions(report) & fail_on))
