"""`suspects pr`: the pull-request analysis from the command line."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands import options
from bot.model.errors import UsageError

if TYPE_CHECKING:
    from bot.model.report import Report

Base = Annotated[str, typer.Option("--base", help="Revision to compare with (its merge base with head).")]
Head = Annotated[str, typer.Option("--head", help="Revision to judge.")]
ExactBase = Annotated[bool, typer.Option("--exact-base", help="Compare with --base itself.")]


def pr(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    base: Base,
    head: Head,
    exact_base: ExactBase = False,
    config: options.Config = None,
    budget: options.Budget = None,
    seed: options.Seed = 0,
    history: options.HistoryPlace = None,
    estimator: options.Estimator = "ours",
    json: options.Json = None,
    markdown: options.Markdown = None,
    html: options.Html = None,
    fail_on: options.FailOn = "",
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Compare two revisions and name the options that made the program slower."""
    from bot.adapters.terminal import show_comment
    from bot.compose.measuring import analyse
    from bot.compose.subjects import Asked
    from bot.report.render import comment

    if history is not None:
        raise UsageError("--history: not yet supported; leave it out")
    conditions = options.failing(fail_on)
    targets = [path for path in (json, markdown, html) if path is not None]
    for path in targets:
        _check_writable(path)
    asked = Asked(
        base=base,
        head=head,
        config=config,
        budget=options.seconds_of(budget),
        seed=seed,
        exact_base=exact_base,
        estimator=estimator,
    )
    with options.progress_for(quiet=quiet) as progress:
        report = analyse(asked, progress)
        progress.stage("writing the report")
        write(report, json=json, markdown=markdown, html=html)
    code = options.exit_code(report, conditions)
    if not quiet:
        try:
            show_comment(comment(report))
        except BrokenPipeError:  # whoever read it has seen enough; the exit code and the files still count
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(code)


def write(
    report: Report, *, json: Path | None = None, markdown: Path | None = None, html: Path | None = None
) -> None:
    """Writes what was asked for, each file whole or not at all.

    Raises:
        UsageError: a file cannot be written (after all the others were tried).
    """
    from bot.report.render import comment, page

    texts: list[tuple[Path | None, Callable[[], str]]] = [
        (json, lambda: report.model_dump_json(indent=1) + "\n"),
        (markdown, lambda: comment(report)),
        (html, lambda: page(report)),
    ]
    problems = []
    for path, text in texts:
        if path is None:
            continue
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_text(text(), encoding="utf-8")
            part.replace(path)
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    if problems:
        raise UsageError(f"The report could not be written: {'; '.join(problems)}")


def _check_writable(path: Path) -> None:
    """Minutes of measuring must not end in a file that cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        part = path.with_name(f".{path.name}.part")
        part.touch()
        part.unlink()
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
