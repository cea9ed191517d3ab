"""Coarse profiler: exact calls, call edges and seconds of every Python function, by cProfile's C half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from bot.adapters.profilers.python.folding import Costs, Link, Row
from bot.adapters.profilers.python.injection import not_started, run_watched, too_old
from bot.adapters.profilers.python.names import Naming
from bot.adapters.profilers.python.reading import (
    Body,
    Count,
    Left,
    Process,
    Seconds,
    Seen,
    Text,
    read_processes,
)
from bot.adapters.profilers.reports import ToldMethod
from bot.model.profiles import Method, Profile, Target, Tool

SLOWDOWN = 2.0
"""Of a program that calls much."""
PATIENCE = 4.0
"""Factor on the time limit of a trial."""

_MOST = 100_000
Sum = Annotated[float, Field(ge=-1.0, le=1e15)]
"""Seconds of several processes, with what rounding may leave."""
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


class Counted(Left):
    """What a reader tells of all processes: methods, of each its calls and seconds without and with callees.

    edges: caller, callee (places in `methods`), calls, if these are known, and seconds with callees.
    """

    methods: list[ToldMethod] = Field(default_factory=list)
    costs: list[tuple[Count, Sum, Sum]] = Field(default_factory=list)
    edges: list[tuple[Count, Count, Count | None, Sum]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Self:
        size = len(self.methods)
        if len(self.costs) != size or any(a >= size or b >= size for a, b, _, _ in self.edges):
            raise ValueError("a method that is not there")
        return self

    @property
    def sums(self) -> Costs:
        """The same, by method."""
        named, found = [told.method for told in self.methods], Costs()
        for method, (calls, own, total) in zip(named, self.costs, strict=True):
            found.calls[method], found.own[method], found.total[method] = calls, own, total
        for caller, callee, known, total in self.edges:
            found.edge_calls[named[caller], named[callee]] = known
            found.edge_total[named[caller], named[callee]] = total
        return found


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
            watched = run_watched(
                target, tell_counts, empty=Counted(), parts=("counting",), settings={}, slowdown=PATIENCE
            )
        except OSError as error:
            return not_started(self.tool, error)
        left = watched.left
        costs = left.sums
        said = sorted(set(chain.from_iterable(process.notes for process in left.processes)))
        notes = [*watched.notes, *(_SAID[code] for code in said if code in _SAID)]
        if waited := _waited(left.processes):
            notes.append(f"The program waited {waited:.0%} of its time: cProfile's seconds contain that.")
        return Profile(
            tool=replace(self.tool, version=_versions(left.processes)),
            outcome=watched.launched.outcome,
            seconds=watched.launched.cpu,
            methods=costs.methods(),
            edges=costs.edges(),
            notes=tuple(notes),
        )


def tell_counts(folder: Path, root: Path) -> Counted:
    """A reader: the sums over all processes, with functions named."""
    processes = read_processes(folder, CountedBody)
    costs = Costs()
    wrong = 0
    for process in processes.each:
        if process.body is None:
            continue
        if _consistent(process.body):
            _add(costs, process, Naming(root, process.head.cwd, agent=folder))
        else:
            wrong += 1
    places = {method: number for number, method in enumerate(costs.calls)}
    return Counted(
        **processes.told(),
        wrong=wrong,
        methods=[ToldMethod(method.name, method.file, method.line) for method in places],
        costs=[(calls, costs.own[method], costs.total[method]) for method, calls in costs.calls.items()],
        edges=[
            (places[caller], places[callee], costs.edge_calls[caller, callee], total)
            for (caller, callee), total in costs.edge_total.items()
        ],
    )


def _versions(processes: Sequence[Seen]) -> str:
    return ", ".join(sorted({process.python for process in processes})) or "unknown"


def _waited(processes: Sequence[Seen]) -> float:
    """Share of the time that all processes together were not even ready for a core; 0 when it is small."""
    busy, wall = sum(one.cpu + one.queued for one in processes), sum(one.wall for one in processes)
    share = 1 - busy / wall if wall > _BRIEF else 0.0
    return share if share > _WAITING else 0.0


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
