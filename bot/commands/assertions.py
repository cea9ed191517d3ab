"""`suspects assertions`: mines performance assertions, lists and shows them, explains and checks them."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.commands import options
from bot.model.errors import UsageError

# What is needed only once a command runs is imported there: `--help` and `--version` answer at once.
if TYPE_CHECKING:
    from bot.compose.mining import MinedFile
    from bot.model.assertions import Assertion

assertions = typer.Typer(help="How long calls take, depending on how they are reached.", no_args_is_help=True)
File = Annotated[
    Path | None,
    typer.Option("--file", help="The file of assertions; default: .github/suspects.assertions.yml."),
]
Config = Annotated[
    Path | None, typer.Option("--config", help="The subject's file; default: .github/suspects.yml.")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write it as JSON; - is standard output.")]
Wanted = Annotated[str | None, typer.Argument(help="An id, or the end of a method's name; default: all.")]


@assertions.command("list")
def list_(file: File = None, json: Json = None) -> None:
    """List the entries of the file: id, method, groups, clusters, calls."""
    from bot.report.assertion_text import entry_line

    found = _entries(file)
    if options.as_json(json, {"assertions": [_told(entry) for entry in found]}):
        return
    for entry in found:
        typer.echo(entry_line(entry))
    typer.echo(f"{len(found)} assertions")


@assertions.command()
def show(
    wanted: Wanted = None, file: File = None, history: options.HistoryPlace = None, json: Json = None
) -> None:
    """Show entries as tables: over which calls, and which share of them falls into each cluster.

    With times, where the history has durations of the method.
    """
    from bot.compose.asserted import times_here
    from bot.report.assertion_text import entry_table

    found = _matching(wanted, file)
    times = times_here(found, history)
    if not options.as_json(
        json,
        {"assertions": [{**_told(e), "borders_seconds": list(times.get(e.id, ()))} for e in found]},
    ):
        typer.echo("\n".join(entry_table(e, times.get(e.id, ())) for e in found), nl=False)


@assertions.command()
def explain(wanted: Wanted = None, file: File = None) -> None:
    """Say in words what entries expect."""
    from bot.report.assertion_text import explained

    typer.echo("\n".join(explained(entry) for entry in _matching(wanted, file)), nl=False)


@assertions.command()
def mine(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    revision: Annotated[str, typer.Option("--revision", help="Commit to build and watch.")] = "HEAD",
    hint: Annotated[
        list[str] | None,
        typer.Option("--hint", help="End of a method's name to begin with; may be repeated."),
    ] = None,
    config: Config = None,
    budget: options.Budget = None,
    seed: options.Seed = 0,
    estimator: options.Estimator = "ours",
    file: File = None,
    pid: Annotated[
        int | None,
        typer.Option("--pid", min=1, help="Attach to this running process instead of running one."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
    json: Json = None,
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Watch the program run, and write into the file what is typical of its methods' calls."""
    from bot.compose.mining import AskedMining, mined_file

    asked = AskedMining(
        revision,
        config=config,
        budget=options.seconds_of(budget),
        seed=seed,
        estimator=estimator,
        hints=tuple(hint or ()),
        file=file,
        pid=pid,
    )
    with options.progress_for(quiet=quiet) as progress:
        found = mined_file(asked, progress)
    changes = _difference(found)
    if not dry_run and found.proposal.differs:
        _write(found)
    if options.as_json(json, _mined(found, changes, written=not dry_run)):
        return
    if not quiet:
        _tell(found, written=not dry_run)
        typer.echo(changes, nl=False)
        for note in found.notes:
            typer.echo(f"Note: {note}", err=True)


@assertions.command()
def check(  # noqa: PLR0913, PLR0917  typer: one parameter per option of the contract
    base: Annotated[str, typer.Option("--base", help="Commit to compare with.")],
    head: Annotated[str, typer.Option("--head", help="Commit to check.")] = "HEAD",
    config: Config = None,
    budget: options.Budget = None,
    seed: options.Seed = 0,
    file: File = None,
    json: Json = None,
    fail_on: options.FailOn = "",
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Watch base and head, and say which assertions hold."""
    from bot.compose.mining import AskedMining, checked_file
    from bot.report.assertion_text import outcome_lines

    failing = options.failing(fail_on)
    asked = AskedMining(head, config=config, budget=options.seconds_of(budget), seed=seed, file=file)
    with options.progress_for(quiet=quiet) as progress:
        found = checked_file(asked, base, progress)
    told = {"assertions": [one.model_dump(mode="json") for one in found.outcomes], "notes": list(found.notes)}
    if not options.as_json(json, told) and not quiet:
        typer.echo("\n".join(outcome_lines(found.outcomes)))
        for note in found.notes:
            typer.echo(f"Note: {note}", err=True)
    outcomes = {one.outcome for one in found.outcomes}
    if not any(any(one.trials) for one in found.outcomes):
        raise typer.Exit(3)
    raise typer.Exit(int("violation" in failing and "violated" in outcomes))


def _tell(found: MinedFile, *, written: bool) -> None:
    """What was mined: tables of what is new or changed, with this machine's times, and a summary."""
    from bot.report.assertion_text import entry_table

    mined, offered = found.mined, found.proposal
    borders = {(model.method, model.file): model.borders for model in mined.models}
    for entry in (*offered.new, *offered.changed):
        typer.echo(entry_table(entry, borders[entry.method, entry.file]))
    refused, shift = sum(map(len, mined.refused.values())), max(mined.shifts.values(), default=0.0)
    hot, covered = mined.hot
    overhead = "" if mined.overhead is None else f", {mined.overhead:.1%} overhead"
    typer.echo(
        f"{len(mined.models)} methods mined in {mined.trials} trials{overhead}; {refused} refused;"
        f" {covered / hot if hot else 0.0:.0%} of the hottest methods' own time covered,"
        f" {mined.within:.0%} of all time within their calls;"
        f" the tool itself took at most {shift:.1%} of a median call."
    )
    for reason, methods in mined.refused.items():
        typer.echo(f"Refused: {len(methods)} {reason}.")
    kept = len(offered.assertions) - len(offered.new) - len(offered.changed)
    typer.echo(
        f"{found.path}: {len(offered.new)} new, {len(offered.changed)} changed, {len(offered.gone)} gone,"
        f" {kept} as they were{'' if written else ' (not written)'}."
    )


def _write(found: MinedFile) -> None:
    """Replaces the file at once.

    Raises:
        UsageError: it cannot be written.
    """
    part = found.path.with_name(f".{found.path.name}.part")
    try:
        part.write_text(found.text, encoding="utf-8")
        part.replace(found.path)
    except OSError as error:
        raise UsageError(f"{found.path}: cannot be written: {error.strerror or error}") from None


def _difference(found: MinedFile) -> str:
    """What a person reviews."""
    from bot.adapters.documents.assertion_file import assertion_text

    before = assertion_text(found.before) if found.before else ""
    if not found.proposal.differs:
        return ""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        found.text.splitlines(keepends=True),
        f"a/{found.path.name}",
        f"b/{found.path.name}",
    )
    return "".join(lines)


def _entries(file: Path | None) -> tuple[Assertion, ...]:
    from bot.compose.asserted import ASSERTIONS, known_assertions

    path = file or ASSERTIONS
    if not path.exists():
        raise UsageError(f"{path}: there is no such file; `suspects assertions mine` writes one")
    return known_assertions(path)


def _matching(wanted: str | None, file: Path | None) -> tuple[Assertion, ...]:
    every = _entries(file)
    found = tuple(e for e in every if wanted is None or e.id == wanted or e.method.endswith(wanted))
    if wanted is not None and not found:
        close = difflib.get_close_matches(wanted, [e.method for e in every], n=1, cutoff=0.3)
        meant = f"; did you mean {close[0]}?" if close else ""
        raise UsageError(f"{wanted}: no assertion has this id, or is of a method that ends so{meant}")
    return found


def _told(entry: Assertion) -> dict[str, Any]:
    return {
        "id": entry.id,
        "method": entry.method,
        "file": entry.file,
        "borders": list(entry.places),
        "groups": [
            {
                "when": group.when.text,
                "edges": {name: list(edge) for name, edge in group.when.edges.items()},
                "expected": list(group.expected),
                "calls": group.calls,
            }
            for group in entry.groups
        ],
        "mined": {"revision": entry.mined, "trials": entry.trials},
    }


def _mined(found: MinedFile, changes: str, *, written: bool) -> dict[str, Any]:
    mined, offered = found.mined, found.proposal
    return {
        "file": str(found.path),
        "written": written and offered.differs,
        "assertions": [_told(entry) for entry in offered.assertions],
        "new": [entry.id for entry in offered.new],
        "changed": [entry.id for entry in offered.changed],
        "gone": [entry.id for entry in offered.gone],
        "refused": {reason: [m.name for m in methods] for reason, methods in mined.refused.items()},
        "models": len(mined.models),
        "trials": mined.trials,
        "overhead": mined.overhead,
        "hot_share": mined.hot[0],
        "covered_share": mined.hot[1],
        "within_share": mined.within,
        "shifts": {method.name: shift for method, shift in mined.shifts.items()},
        "finished": mined.finished,
        "difference": changes,
        "notes": list(found.notes),
    }
