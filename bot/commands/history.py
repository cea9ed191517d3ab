"""`suspects history`: lists, checks, shows, exports and imports what earlier runs measured."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.commands import options
from bot.model.errors import UsageError

if TYPE_CHECKING:
    from bot.adapters.stores.layered import LayeredStore
    from bot.model.history import Segment

history = typer.Typer(help="What earlier runs measured.", no_args_is_help=True)
Json = Annotated[Path | None, typer.Option("--json", help="Write it as JSON; - is standard output.")]
Config = Annotated[Path | None, typer.Option("--config", help="The subject's file, which names the places.")]
ROWS = {
    "trials": "measurements",
    "profiles": "profiled costs",
    "durations": "bins of durations",
    "fingerprints": "rates of stressors",
}
"""What the rows of each kind are called."""
DAMAGED = "damaged"
"""What `verify --fail-on` may be given."""


@history.command("list")
def list_(place: options.HistoryPlace = None, config: Config = None, json: Json = None) -> None:
    """List all segments: when, which mode, what kind of rows, how many rows, which run."""
    from bot.compose.exchanging import listed

    with _store(place, config) as store:
        found = store.segments()
        if options.as_json(
            json, {"source": store.source, "segments": listed(found), "notes": list(store.notes())}
        ):
            return
        for segment in found:
            typer.echo(_line(segment))
        rows = {kind: sum(s.rows for s in found if s.kind == kind) for kind in ROWS}
        typer.echo(f"{len(found)} segments, {_rows(rows)}, {store.source or 'no source'}")
        _tell(store)


@history.command()
def verify(
    place: options.HistoryPlace = None,
    config: Config = None,
    json: Json = None,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", help="`damaged`: exit code 1 when something is.")
    ] = None,
) -> None:
    """Read every byte and row; damaged segments are set aside, the rest stays usable."""
    from bot.compose.exchanging import listed

    if fail_on not in (None, DAMAGED):
        raise UsageError(f"--fail-on {fail_on}: not known; {DAMAGED} is allowed")
    with _store(place, config) as store:
        found = store.verify()
        damaged = [segment for segment in found if segment.problem]
        notes = list(store.notes())
        if not options.as_json(json, {"segments": listed(found), "damaged": len(damaged), "notes": notes}):
            for segment in damaged:
                typer.echo(segment.problem)
            typer.echo(f"{len(found) - len(damaged)} of {len(found)} segments are whole")
            _tell(store, except_for={f"{segment.problem}." for segment in damaged})
    raise typer.Exit(1 if damaged and fail_on else 0)


@history.command()
def show(
    run: Annotated[str, typer.Argument(help="Beginning of a run's id or of a segment's name.")],
    place: options.HistoryPlace = None,
    config: Config = None,
    json: Json = None,
) -> None:
    """Show one run: where and when it measured, the median of every configuration, its costliest methods."""
    from bot.compose.exchanging import chosen, costliest, listed, longest, medians, stressed
    from bot.model.duration_history import DurationTable
    from bot.model.history import Measurements
    from bot.model.machines import FingerprintTable
    from bot.model.profile_history import ProfileTable

    with _store(place, config) as store:
        found = chosen(store, run)
        segment = next(iter(found.values()))
        rows, methods, watched, rates = [], [], [], []
        if "trials" in found:
            rows = medians(Measurements.concatenated(list(store.of_segment(found["trials"].name))))
        if "profiles" in found:
            methods = costliest(ProfileTable.concatenated(list(store.profiles_of(found["profiles"].name))))
        if "durations" in found:
            watched = longest(DurationTable.concatenated(list(store.durations_of(found["durations"].name))))
        if "fingerprints" in found:
            table = FingerprintTable.concatenated(list(store.fingerprints_of(found["fingerprints"].name)))
            rates = stressed(table)
        told = {
            **listed([segment])[0],
            "medians": rows,
            "methods": methods,
            "watched": watched,
            "rates": rates,
        }
        if options.as_json(json, told):
            return
        assert segment.run is not None
        known = segment.run.model_dump(mode="json", exclude={"options"})
        names = {kind: one.name for kind, one in found.items()}
        for name, value in {**names, **known}.items():
            if value not in ("", {}, []):
                typer.echo(f"{name}: {value if isinstance(value, str) else jsonlib.dumps(value)}")
        for row in rows:
            typer.echo(_median_line(row))
        for row in methods:
            typer.echo(_method_line(row))
        for row in watched:
            typer.echo(_watched_line(row))
        for row in rates:
            typer.echo(_rate_line(row))


def _median_line(row: Mapping[str, Any]) -> str:
    values = " ".join(f"{name}={value}" for name, value in row["options"].items())
    measured = f"{row['metric']} {row['median']:.6g} ({row['trials']})" if row["metric"] else "no value"
    failed = f", {row['failed']} failed" if row["failed"] else ""
    return f"{row['revision'][:12]}  {values or 'default'}: {measured}{failed}"


def _method_line(row: Mapping[str, Any]) -> str:
    from bot.report.formats import clean

    told = [
        f"{name} {row[name]:,.6g}"
        for name in ("self_seconds", "calls", "instructions")
        if row[name] is not None
    ]
    return f"{100 * row['share']:5.1f} %  {clean(row['method'])}: {', '.join(told)}"


def _watched_line(row: Mapping[str, Any]) -> str:
    from bot.report.formats import clean, seconds

    if not row["calls"]:
        return f"watched  {clean(row['method'])}: no durations"
    mean, most = seconds(row["mean"]), seconds(row["nine_in_ten_below"])
    return f"watched  {clean(row['method'])}: {row['calls']:,} calls of {mean} in the mean, 90 % below {most}"


def _rate_line(row: Mapping[str, Any]) -> str:
    told = "nothing" if row["rate"] is None else f"{row['rate']:,.5g} operations per CPU second"
    return f"stressed  {row['stressor']}: {told} ({row['repetitions']})"


@history.command()
def export(  # noqa: PLR0913, PLR0917  typer: one parameter per option
    target: Annotated[Path, typer.Argument(help="A .csv or .parquet file, or a folder for all segments.")],
    place: options.HistoryPlace = None,
    config: Config = None,
    last: Annotated[int | None, typer.Option("--last", min=1, help="Only the newest N runs.")] = None,
    revision: Annotated[list[str] | None, typer.Option("--revision", help="Only these (full ids).")] = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="Only these metrics.")] = None,
    profiles: Annotated[
        bool, typer.Option("--profiles", help="A table of profiles: what each method cost in each.")
    ] = False,
    durations: Annotated[
        bool,
        typer.Option("--durations", help="A table of durations: single calls of watched methods, in bins."),
    ] = False,
    fingerprints: Annotated[
        bool, typer.Option("--fingerprints", help="A table of machines: rates of stressors on each.")
    ] = False,
) -> None:
    """Write measurements as a table, or all segments as they are (what a workflow uploads)."""
    from bot.compose.exchanging import exported
    from bot.model.history import Selection

    with _store(place, config) as store:
        wanted = Selection(
            last=last,
            revisions=frozenset(revision) if revision else None,
            metrics=frozenset(metric) if metric else None,
        )
        asked = {"profiles": profiles, "durations": durations, "fingerprints": fingerprints}
        kind = next((kind for kind, wish in asked.items() if wish), "trials")
        done = exported(store, target, wanted, kind=kind)
        typer.echo(f"{done.runs} runs, {_rows(done.rows)}: {target}")
        _tell(store)


@history.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Files, folders of asv, or segments.")],
    place: options.HistoryPlace = None,
    config: Config = None,
    kind: Annotated[
        str | None, typer.Option("--format", help="Their format, when it is not recognised.")
    ] = None,
    revision: Annotated[str | None, typer.Option("--revision", help="Which commit they measured.")] = None,
) -> None:
    """Append CSV, Parquet, github-action-benchmark, asv, pytest-benchmark or hyperfine results."""
    from bot.compose.exchanging import imported

    with _store(place, config) as store:
        done = imported(store, files, kind=kind, revision=revision)
        known = f", {done.known} were there already" if done.known else ""
        typer.echo(f"{done.runs} runs, {_rows(done.rows)} imported{known}")


def _rows(rows: Mapping[str, int]) -> str:
    """How many there are of each kind; of measurements even if there is none and nothing else."""
    told = [f"{rows[kind]:,} {name}" for kind, name in ROWS.items() if rows.get(kind)]
    return ", ".join(told) or "0 measurements"


@contextmanager
def _store(place: str | None, config: Path | None) -> Iterator[LayeredStore]:
    from bot.compose.remembering import AskedHistory, configured_history, opened_history
    from bot.settings import Settings, environment

    configured = () if place is not None else configured_history(config)
    settings = Settings.read(environment())
    with opened_history(AskedHistory(settings, configured=configured, place=place)) as store:
        yield store


def _line(segment: Segment) -> str:
    if segment.run is None:
        return f"{segment.name}  {segment.problem or segment.kind}"
    run = segment.run
    about = " ".join(word for word in (run.subject, run.label) if word)
    what = f"{run.mode:<12} {segment.kind:<8} {segment.rows:>9,}"
    return f"{run.started:%Y-%m-%d %H:%M}  {what}  {run.id}  {about}"


def _tell(store: LayeredStore, except_for: set[str] | None = None) -> None:
    for note in store.notes():
        if note not in (except_for or set()):
            typer.echo(f"Note: {note}", err=True)
