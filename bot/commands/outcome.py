"""What a command leaves behind: files, the comment in the terminal, the exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.commands import options
from bot.model.errors import UsageError

if TYPE_CHECKING:
    from bot.flows.ports import Progress
    from bot.model.report import Report


@dataclass(frozen=True)
class Outputs:
    """Files to write, what fails the command, and whether the comment is shown."""

    json: Path | None
    markdown: Path | None
    html: Path | None
    fail_on: str = ""
    quiet: bool = False


def finish(outputs: Outputs, run: Callable[[Progress], Report]) -> None:
    """Runs an analysis with progress, writes and shows its report, and ends with its exit code.

    Raises:
        UsageError: a file cannot be written (before the analysis when that can be seen), or the analysis's.
    """
    from bot.adapters.terminal import show_comment
    from bot.report.render import comment

    conditions = options.failing(outputs.fail_on)
    for path in (outputs.json, outputs.markdown, outputs.html):
        if path is not None:
            _check_writable(path)
    with options.progress_for(quiet=outputs.quiet) as progress:
        report = run(progress)
        progress.stage("writing the report")
        write(report, json=outputs.json, markdown=outputs.markdown, html=outputs.html)
    code = options.exit_code(report, conditions)
    if not outputs.quiet:
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
