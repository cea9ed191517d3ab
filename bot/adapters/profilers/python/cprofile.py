"""Coarse profiler: exact calls, call edges and seconds of every Python function, by cProfile's C half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.adapters.profilers.python.folding import Costs, Link, Row
from bot.adapters.profilers.python.injection import not_started, run_watched, too_old
from bot.adapters.profilers.python.names import Naming
from bot.adapters.profilers.python.reading import Body, Count, Process, Processes, Seconds, Text
from bot.model.profiles import Method, Profile, Target, Tool

SLOWDOWN = 2.0
"""Of a program that calls much."""
PATIENCE = 4.0
"""Factor on the time limit of a trial."""

_MOST = 100_000
_WAITING = 0.25
"""Share from which it is told."""
_BRIEF = 0.1
_SAID = {
    "replaced": "The program set a profiler of its own: what ran under that is missing.",
    "many": "A process had more methods or call edges than are kept; the cheapest are missing.",
    "large": "A process had more to tell than a profile may hold.",
    "unqualified": "Some names lack their class: the source could not be read again (Python before 3.11).",
}


class CountedBody(Body):
    """Methods: file, first line, qualified name, calls, recursive ones, seconds with and without callees.

    Edges: caller, callee (places in `methods`), calls, recursive ones, seconds with and without callees.
    """

    files: Annotated[tuple[Text, ...], Field(max_length=_MOST)] = ()
    methods: Annotated[
        tuple[tuple[Count, Count, Text, Count, Count, Seconds, Seconds], ...], Field(max_length=_MOST)
    ] = ()
    edges: Annotated[
        tuple[tuple[Count, Count, Count, Count, Seconds, Seconds], ...], Field(max_length=4 * _MOST)
    ] = ()


class CProfile:
    """The port `Profiler`, coarse."""

    tool = Tool(
        name="cProfile",
        version="of the program's Python",
        grain="coarse",
        quantities=frozenset({"calls", "seconds", "edges"}),
        slowdown=SLOWDOWN,
        blind=(
            "Built-in and C functions count to the Python function that calls them.",
            "Seconds are of the wall clock, waiting included, and small functions look dearer than they are.",
            "Each resumption of a generator or coroutine counts as a call.",
            "Python processes that other programs start with -S, -E, -I or an environment of their own "
            "are not seen.",
        ),
    )

    def missing(self, target: Target) -> Sequence[str]:
        """An interpreter that is too old; what a command hides (a shell script) shows only when it runs."""
        return too_old(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:  # noqa: ARG002
        """One trial with every function counted; `methods` is not used."""
        try:
            watched = run_watched(target, CountedBody, parts=("counting",), settings={}, slowdown=PATIENCE)
        except OSError as error:
            return not_started(self.tool, error)
        costs = Costs()
        wrong = _sum_up(costs, watched.processes, target.root, watched.folder)
        said = sorted(set(chain.from_iterable(p.body.notes for p in watched.processes.each if p.body)))
        notes = [*watched.notes, *(_SAID[code] for code in said if code in _SAID)]
        if wrong:
            notes.append(f"{wrong} Python processes left a profile that contradicts itself; it was not used.")
        if waited := _waited(watched.processes):
            notes.append(f"The program waited {waited:.0%} of its time: cProfile's seconds contain that.")
        return Profile(
            tool=replace(self.tool, version=_versions(watched.processes)),
            outcome=watched.launched.outcome,
            seconds=watched.launched.cpu,
            methods=costs.methods(),
            edges=costs.edges(),
            notes=tuple(notes),
        )


def _versions(processes: Processes[CountedBody]) -> str:
    return ", ".join(sorted({process.head.python for process in processes.each})) or "unknown"


def _waited(processes: Processes[CountedBody]) -> float:
    """Share of the time that all processes together were not even ready for a core; 0 when it is small."""
    bodies = [process.body for process in processes.each if process.body]
    busy, wall = sum(body.cpu + body.queued for body in bodies), sum(body.wall for body in bodies)
    share = 1 - busy / wall if wall > _BRIEF else 0.0
    return share if share > _WAITING else 0.0


def _sum_up(costs: Costs, processes: Processes[CountedBody], root: Path, agent: Path) -> int:
    """Adds all processes; how many of them contradict themselves."""
    wrong = 0
    for process in processes.each:
        if process.body is None:
            continue
        if _consistent(process.body):
            _add(costs, process, Naming(root, process.head.cwd, agent=agent))
        else:
            wrong += 1
    return wrong


def _consistent(body: CountedBody) -> bool:
    size = len(body.methods)
    return all(row[0] < len(body.files) for row in body.methods) and all(
        edge[0] < size and edge[1] < size for edge in body.edges
    )


def _add(costs: Costs, process: Process[CountedBody], naming: Naming) -> None:
    body = process.body
    assert body is not None
    rows = [
        Row(naming.method(body.files[file], line, name), calls, total, own)
        for file, line, name, calls, _, total, own in body.methods
    ]
    costs.add(rows, (Link(e[0], e[1], e[2], e[4], e[5]) for e in body.edges))
