"""The command line as a whole: which commands there are, and which are not there yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot import __version__
from bot.commands import init as initialising
from bot.commands.assertions import assertions
from bot.commands.bisect import bisect
from bot.commands.check import check
from bot.commands.github import action_command, publish
from bot.commands.history import history
from bot.commands.influences import influences
from bot.commands.nightly import nightly
from bot.commands.pr import pr
from bot.commands.profiles import profiles
from bot.commands.shards import merge, plan, shard
from bot.model.errors import UsageError

LATER = (
    "rehearse",
    "dashboard",
)
"""Commands of the contract that a later version brings: refused in one line, never a pretend success."""

application = typer.Typer(
    name="suspects",
    help="Names what in a change made a configurable program slower.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"suspects {__version__}")
        raise typer.Exit


@application.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Names what in a change made a configurable program slower."""


@application.command()
def init(
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    action: Annotated[
        str, typer.Option("--action", help="What the workflows use: OWNER/suspects@COMMIT # vX.")
    ] = initialising.ACTION,
    shards: Annotated[
        int, typer.Option("--shards", min=1, max=256, help="Machines that measure at the same time.")
    ] = 1,
) -> None:
    """Write .github/suspects.yml and the workflows, from what is found here."""
    for line in initialising.init(Path(), force=force, action=action, shards=shards).lines:
        typer.echo(line)


def _refuse(name: str) -> None:
    def refuse(context: typer.Context) -> None:
        raise UsageError(f"`suspects {context.info_name}` is not yet supported")

    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    application.command(name, hidden=True, context_settings=settings)(refuse)


application.command()(pr)
application.command()(bisect)
application.command()(nightly)
application.command()(check)
application.command()(plan)
application.command()(shard)
application.command()(merge)
application.command()(influences)
application.command()(publish)
application.command("action")(action_command)
application.add_typer(history, name="history")
application.add_typer(assertions, name="assertions")
application.add_typer(profiles, name="profiles")
for _name in LATER:
    _refuse(_name)
