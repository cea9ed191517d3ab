"""The rows of the reliability benchmark as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def markdown(rows: Sequence[Row]) -> str:
    """One table for faults by kind, one for kills by mode, one line for many pull requests."""
    faults = [row for row in rows if row["part"] == "faults"]
    kills = [row for row in rows if row["part"] == "kills"]
    lines = [
        "# Reliability",
        "",
        "Made by `python -m benchmarks.reliability.run`. Wrong: something was lost, said twice or left",
        "half-written, an error was no line for a person, or a rerun did not complete the work.",
        "",
        "## Faults of GitHub",
        "",
        "Each kind at every call of ten operations (comments, check runs, a fork's report published, issues,",
        "proposals, history), passing and, where that differs, until the end of the job.",
        "",
        "| fault | injected | done all the same | told in one line, and done by a rerun | wrong |",
        "|---|---:|---:|---:|---:|",
        *(_fault(kind, some) for kind, some in _grouped(faults, ": ").items()),
        _fault("**all**", faults),
        "",
        "## kill -9",
        "",
        "Half before an act (opening a file to write, renaming, removing, a connection, a request), half at",
        "moments of CPU time; each followed by a run that must complete the work.",
        "",
        "| mode | killed | ended before | wrong |",
        "|---|---:|---:|---:|",
        *(_kill(mode, some) for mode, some in _grouped(kills, " ").items()),
        _kill("**all**", kills),
        "",
        "## Many pull requests in one process",
        "",
        *(
            f"{row['tried']} analysed, told and checked as forks': {row['settled']:.0f} MiB resident after"
            f" the twentieth, at most {row['most']:.0f} MiB after any later one."
            for row in rows
            if row["part"] == "many"
        ),
        "",
    ]
    return "\n".join(lines)


def _grouped(rows: Iterable[Row], separator: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = row["name"].partition(separator)[0] if separator == ": " else row["name"].rpartition(" ")[0]
        found.setdefault(name, []).append(row)
    return found


def _fault(kind: str, rows: Sequence[Row]) -> str:
    injected, survived = (sum(row[key] for row in rows) for key in ("tried", "survived"))
    return f"| {kind} | {injected} | {survived} | {injected - survived} | {_wrong(rows)} |"


def _kill(mode: str, rows: Sequence[Row]) -> str:
    killed, ended = (sum(row[key] for row in rows) for key in ("tried", "ended"))
    return f"| {mode} | {killed} | {ended} | {_wrong(rows)} |"


def _wrong(rows: Sequence[Row]) -> int:
    return sum(len(row["wrong"]) for row in rows)
