"""`suspects nightly`: spends the night's budget on the default branch where it teaches most."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands import options
from bot.commands.outcome import Outputs, finish
from bot.model.errors import UsageError

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
    from bot.compose.nightly import AskedNight, spent_night
    from bot.settings import Settings, environment

    if estimator != "ours":
        raise UsageError(f"--estimator {estimator}: no other algorithm plans nights; leave it out")
    asked = AskedNight(
        settings=Settings.read(environment()),
        head=head,
        config=config,
        budget=options.seconds_of(budget),
        seed=seed,
        history=history,
    )
    outputs = Outputs(json, markdown, html, fail_on=fail_on, quiet=quiet)
    finish(outputs, lambda progress: spent_night(asked, progress))
