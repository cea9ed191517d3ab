"""`suspects profiles`: which parts of a machine a program's time goes with, over the machines in history."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bot.commands import options
from bot.model.errors import UsageError

# What is needed only once a command runs is imported there: `--help` and `--version` answer at once.

profiles = typer.Typer(help="Resource utilisation profiles over unlike machines.")
Config = Annotated[
    Path | None, typer.Option("--config", help="The subject's file; default: .github/suspects.yml.")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write it as JSON; - is standard output.")]


@profiles.callback(invoke_without_command=True)
def show(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    context: typer.Context,
    base: Annotated[str | None, typer.Option("--base", help="Compare this revision ...")] = None,
    head: Annotated[str | None, typer.Option("--head", help="... with this one.")] = None,
    config: Config = None,
    history: options.HistoryPlace = None,
    estimator: options.Estimator = "ours",
    seed: options.Seed = 0,
    json: Json = None,
    html: options.Html = None,
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Show what the program's time goes with on unlike machines, and what moved between two revisions."""
    if context.invoked_subcommand is not None:
        return
    from bot.compose.profiles import AskedProfiles, profiled
    from bot.report.utilisation import utilisation_page, utilisation_text
    from bot.settings import Settings, environment

    if (base is None) != (head is None):
        raise UsageError("--base and --head: a comparison needs both")
    asked = AskedProfiles(
        Settings.read(environment()),
        config=config,
        history=history,
        revisions=None if base is None or head is None else (base, head),
        estimator=estimator,
        seed=seed,
    )
    with options.progress_for(quiet=quiet) as progress:
        found = profiled(asked, progress)
    if html is not None:
        html.write_text(utilisation_page(found, name=Path().resolve().name), encoding="utf-8")
    if options.as_json(json, asdict(found)) or quiet:
        return
    typer.echo(utilisation_text(found), nl=False)
    for note in found.notes:
        typer.echo(f"Note: {note}", err=True)


@profiles.command()
def measure(
    config: Config = None,
    history: options.HistoryPlace = None,
    repetitions: Annotated[int, typer.Option("--repetitions", min=1, help="Of each stressor.")] = 3,
    seconds: Annotated[int, typer.Option("--seconds", min=1, help="Of each repetition.")] = 2,
    every: Annotated[bool, typer.Option("--all", help="All 43 published stressors.")] = False,
    json: Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Take the fingerprint of this machine with stress-ng, and keep it in the history."""
    from bot.compose.profiles import AskedFingerprint, fingerprint
    from bot.settings import Settings, environment

    asked = AskedFingerprint(
        Settings.read(environment()),
        config=config,
        history=history,
        repetitions=repetitions,
        seconds=seconds,
        every=every,
    )
    with options.progress_for(quiet=quiet) as progress:
        found, run = fingerprint(asked, progress)
    known = {
        name: [rate if math.isfinite(rate) else None for rate in rates] for name, rates in found.rates.items()
    }
    told = {
        "tool": found.tool,
        "run": run.model_dump(mode="json"),
        "rates": known,
        "notes": list(found.notes),
    }
    if options.as_json(json, told) or quiet:
        return
    for name, rates in known.items():
        shown = ", ".join("nothing" if rate is None else f"{rate:,.5g}" for rate in rates)
        typer.echo(f"{name}: {shown} operations per CPU second")
    for note in found.notes:
        typer.echo(f"Note: {note}", err=True)
