"""`suspects influences`: which methods are behind an option, and which options are behind a method."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.commands import options

# What is needed only once a command runs is imported there: `--help` and `--version` answer at once.

Method = Annotated[
    str | None,
    typer.Option("--method", help="Only methods whose name ends so, with the options behind them."),
]
Option = Annotated[str | None, typer.Option("--option", help="Only this option, with the methods behind it.")]
Config = Annotated[
    Path | None, typer.Option("--config", help="The subject's file; default: .github/suspects.yml.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the held-out configurations.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write it as JSON; - is standard output.")]


def influences(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    method: Method = None,
    option: Option = None,
    config: Config = None,
    history: options.HistoryPlace = None,
    estimator: options.Estimator = "ours",
    seed: Seed = 0,
    json: Json = None,
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Learn from the history what each option costs, in the whole program and in its methods."""
    from bot.compose.influences import AskedInfluences, learnt_influences
    from bot.report.influence_text import influence_text
    from bot.report.variation_text import overhead_text, variation_text
    from bot.settings import Settings, environment

    asked = AskedInfluences(
        Settings.read(environment()),
        config=config,
        history=history,
        seed=seed,
        estimator=estimator,
        method=method,
        option=option,
    )
    with options.progress_for(quiet=quiet) as progress:
        found = learnt_influences(asked, progress)
    told = {
        "influences": [entry.model_dump(mode="json") for entry in found.entries],
        "variations": [one.model_dump(mode="json") for one in found.variations],
        "profilers": [one.model_dump(mode="json") for one in found.profilers],
        "notes": found.notes,
    }
    if options.as_json(json, told):
        return
    if not quiet:
        typer.echo(influence_text(found.entries, method=method, option=option), nl=False)
        if option is None:
            typer.echo(variation_text(found.variations, every=method is not None), nl=False)
        if option is None and method is None:
            typer.echo(overhead_text(found.profilers), nl=False)
        for note in found.notes:
            typer.echo(f"Note: {note}", err=True)
