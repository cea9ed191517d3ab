"""`suspects bisect`: where in a range of revisions which term became slower or faster."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands import options
from bot.commands.outcome import Outputs, finish
from bot.model.errors import UsageError

Range = Annotated[str, typer.Argument(metavar="GOOD..BAD", help="The range's first and last revision.")]
Trials = Annotated[int | None, typer.Option("--trials", min=1, help="Run at most so many trials.")]
Tags = Annotated[bool, typer.Option("--tags", help="Look at tagged revisions only.")]


def bisect(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    range_: Range,
    trials: Trials = None,
    tags: Tags = False,
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
    """Localise change points over commits and terms in a range of revisions."""
    from bot.commands.nightly import on_default_branch
    from bot.compose.bisecting import AskedRange, bisected
    from bot.settings import Settings, environment

    settings = Settings.read(environment())
    good, bad = ends(range_)
    asked = AskedRange(
        good=good,
        bad=bad,
        config=config,
        budget=options.seconds_of(budget),
        trials=trials,
        seed=seed,
        estimator=estimator,
        tags=tags,
        settings=settings if on_default_branch(settings) else None,
        history=history,
    )
    outputs = Outputs(json, markdown, html, fail_on=fail_on, quiet=quiet)
    finish(outputs, lambda progress: bisected(asked, progress))


def ends(range_: str) -> tuple[str, str]:
    """Both ends of `GOOD..BAD`.

    Raises:
        UsageError: it is no such range.
    """
    good, dots, bad = range_.partition("..")
    if not (good and dots and bad) or bad.startswith("."):
        raise UsageError(f"{range_!r} is not a range: write GOOD..BAD, such as v1.0..v2.0")
    return good, bad
