"""`suspects action` and `suspects publish` on the command line, with the adapters they speak through."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands import options
from bot.commands.left_history import with_history_left
from bot.commands.of_job import asked_night, asked_question, asked_range
from bot.commands.outcome import write
from bot.commands.shard_modes import merge_of_job, one_of_many, shard_of_job
from bot.model.errors import UsageError

# What is needed only once a command runs is imported there: `--help` and `--version` answer at once.
if TYPE_CHECKING:
    from bot.commands.action import Measured
    from bot.commands.publish import Connect
    from bot.event import Plan
    from bot.flows.ports import Progress
    from bot.flows.publish import Artifacts, Forge
    from bot.model.report import Report
    from bot.settings import Settings

RESULTS = "suspects-report"
"""Folder of the results below the workspace: the only place that later steps can see from outside."""


def action_command() -> None:
    """What the container runs: chooses the mode from the event."""
    from bot.adapters.runner import Runner
    from bot.commands.action import Abilities, action
    from bot.report.render import comment
    from bot.settings import Settings, environment

    settings = Settings.read(environment())
    abilities = Abilities(
        runner=Runner(sys.stdout, output=settings.output, summary=settings.step_summary),
        connect=connector(settings),
        render=comment,
        measure={
            "pull_request": measure_for(settings, pull_request),
            "bisect": measure_for(settings, bisection),
            "nightly": measure_for(settings, nightly),
            "shard": one_of_many(measure_for(settings, shard_of_job)),
            "merge": measure_for(settings, merge_of_job),
        },
    )
    raise typer.Exit(action(settings, abilities))


def publish(
    run_id: Annotated[int, typer.Option("--run-id", help="The measuring workflow's run.")],
    repository: Annotated[str | None, typer.Option("--repository", help="owner/name.")] = None,
) -> None:
    """Post what an unprivileged run measured (trusted second stage)."""
    from bot.commands.publish import publish_command
    from bot.report.render import comment
    from bot.settings import Settings, environment

    settings = Settings.read(environment())
    outcome = publish_command(
        settings,
        run_id=run_id,
        connect=connector(settings),
        render=comment,
        repository=repository,
    )
    typer.echo(f"{outcome.ending}: {outcome.reason}")
    if outcome.checked:
        typer.echo(outcome.checked)


def connector(settings: Settings) -> Connect:
    """(repository, token) -> GitHub behind our ports."""
    from bot.adapters.github.artifacts import GithubArtifacts
    from bot.adapters.github.checks import GithubChecks

    @contextmanager
    def connect(repository: str, token: str) -> Iterator[tuple[Forge, Artifacts]]:
        url = settings.api_url
        with (
            GithubChecks(repository, token, api_url=url) as forge,
            GithubArtifacts(repository, token, api_url=url) as artifacts,
        ):
            yield forge, artifacts

    return connect


def pull_request(settings: Settings, plan: Plan, progress: Progress) -> Report:
    """The analysis of a pull request."""
    from bot.compose.measuring import analyse

    assert plan.base is not None and plan.head is not None
    return analyse(asked_question(settings, plan), progress)


def bisection(settings: Settings, plan: Plan, progress: Progress) -> Report:
    """The bisection of the range that was asked for."""
    from bot.compose.bisecting import bisected

    return bisected(asked_range(settings, plan), progress)


def nightly(settings: Settings, plan: Plan, progress: Progress) -> Report:  # noqa: ARG001  the same for all
    """The night of the default branch; the whole history is left where the workflow uploads it."""
    from bot.compose.nightly import spent_night

    asked = asked_night(settings)
    return with_history_left(asked, spent_night(asked, progress))


def measure_for(
    settings: Settings, analyse: Callable[[Settings, Plan, Progress], Report]
) -> Callable[[Plan], Measured]:
    """A plan -> its analysis, with the files written where later steps can read them."""
    from bot.adapters.terminal import TerminalProgress
    from bot.adapters.workspace import left_in
    from bot.commands.action import Measured
    from bot.report.render import comment, summary
    from bot.report.view import view

    def measure(plan: Plan) -> Measured:
        with TerminalProgress() as progress:
            found = analyse(settings, plan, progress)
        report = found.model_copy(update={"repository": settings.address()})
        workspace = settings.workspace or Path()
        try:
            with left_in(workspace, RESULTS) as folder:
                json, markdown, html = (folder / f"report.{end}" for end in ("json", "md", "html"))
                write(report, json=json, markdown=markdown, html=html)
        except OSError as error:
            raise UsageError(f"{workspace / RESULTS}: cannot be written: {error.strerror}") from None
        return Measured(
            report=report,
            path=json,
            comment=comment(report),
            summary=summary(report),
            headline=str(view(report).headline.title),
            exit_code=options.exit_code(report, settings.inputs.fail_on),
        )

    return measure
