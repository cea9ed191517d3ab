"""`suspects pr`: the pull-request analysis from the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands import options
from bot.commands.outcome import Outputs, finish

Base = Annotated[str, typer.Option("--base", help="Revision to compare with (its merge base with head).")]
Head = Annotated[str, typer.Option("--head", help="Revision to judge.")]
ExactBase = Annotated[bool, typer.Option("--exact-base", help="Compare with --base itself.")]
OverlayFrom = Annotated[
    str | None,
    typer.Option("--overlay-from", help="Revision whose overlay both get, and inputs that neither has."),
]


def pr(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    base: Base,
    head: Head,
    exact_base: ExactBase = False,
    overlay_from: OverlayFrom = None,
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
    from bot.compose.measuring import analyse
    from bot.compose.subjects import Asked

    asked = Asked(
        base=base,
        head=head,
        config=config,
        budget=options.seconds_of(budget),
        seed=seed,
        exact_base=exact_base,
        estimator=estimator,
        history=history,
        overlay_from=overlay_from,
    )
    finish(
        Outputs(json, markdown, html, fail_on=fail_on, quiet=quiet), lambda progress: analyse(asked, progress)
    )
