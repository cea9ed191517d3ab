"""`suspects nightly`: spends the night's budget on the default branch where it teaches most."""

from __future__ import annotations

import json as jsonlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands import options
from bot.commands.outcome import Outputs, finish
from bot.event import read_event
from bot.model.errors import UsageError

# What is needed only once a command runs is imported there: `--help` and `--version` answer at once.
if TYPE_CHECKING:
    from bot.flows.ports import Progress
    from bot.model.report import Report
    from bot.settings import Settings

Head = Annotated[
    str | None,
    typer.Option("--head", help="The tip to judge; default: the checked-out commit (simulated: the last)."),
]


def nightly(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    head: Head = None,
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
    """Spend the night's budget where it teaches most, and remember what was measured."""
    from bot.adapters.runner import Runner
    from bot.compose.nightly import AskedNight, spent_night
    from bot.report.render import summary
    from bot.settings import Settings, environment

    settings = Settings.read(environment())
    asked = AskedNight(
        settings=settings,
        head=head,
        config=config,
        budget=options.seconds_of(budget),
        seed=seed,
        history=history,
        writes=on_default_branch(settings),
        estimator=estimator,
    )

    def run(progress: Progress) -> Report:
        report = spent_night(asked, progress)
        Runner(sys.stdout, summary=settings.step_summary).summary(summary(report))
        return report

    finish(Outputs(json, markdown, html, fail_on=fail_on, quiet=quiet), run)


def on_default_branch(settings: Settings) -> bool:
    """Whether what is measured may enter the history; outside of GitHub it is one's own.

    Raises:
        UsageError: the event cannot be read.
    """
    if settings.event_path is None or settings.event_name is None:
        return True
    try:
        payload = jsonlib.loads(settings.event_path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the event {settings.event_path} cannot be read: {error}") from None
    facts = read_event(settings.event_name, payload, ref=settings.ref)
    return facts.name == "schedule" or facts.on_default
