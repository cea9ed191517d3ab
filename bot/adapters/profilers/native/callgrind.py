"""Callgrind: exact instructions, calls and edges of every function, at ten times the time of the trial."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.processes.process import PATH
from bot.adapters.processes.tool_versions import version_of
from bot.adapters.profilers.evidence import folder_for, told
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.native.callgrind_file import MOST_FILES, Counts, Place, read_profiles
from bot.adapters.profilers.native.functions import Functions, Known, Seen, without_names
from bot.adapters.trials.request import CALLGRIND_FACTOR
from bot.adapters.trials.valgrind import FOLLOWING, steadied
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Target, Tool

SLOWDOWN = 12.0

_BLIND = (
    "What a process did before it replaced itself by another program (exec) is not counted.",
    "Instructions are not time: they do not wait for memory or for the kernel.",
)


class Callgrind:
    """Fits the port `Profiler`; what it counts is the same in every run of a deterministic program."""

    @cached_property
    def tool(self) -> Tool:
        """Its version is that of the valgrind on this machine."""
        return Tool(
            "callgrind",
            version_of("valgrind"),
            "coarse",
            frozenset({"calls", "instructions", "edges"}),
            slowdown=SLOWDOWN,
            blind=_BLIND,
        )

    def missing(self, target: Target) -> Sequence[str]:
        """Only valgrind itself: it can run whatever the machine can."""
        del target
        if shutil.which("valgrind", path=PATH) is None:
            return ("`valgrind` is not installed: no instructions and calls of functions.",)
        return ()

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial under callgrind; all methods, whatever is asked."""
        del methods
        functions = Functions(target)
        try:
            folder = folder_for(target, "callgrind")
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No place for a profile: {error}.",))
        try:
            launched = self._launch(target, folder)
            counts, notes = _read(folder, target)
        finally:
            checkout.remove(folder)
        costs, edges, more = summarise(counts, functions)
        return Profile(
            self.tool,
            launched.outcome,
            launched.cpu,
            costs,
            edges,
            notes=(*_ending(launched), *notes, *functions.notes, *more),
        )

    def _launch(self, target: Target, folder: Path) -> Launched:
        words = [
            str(shutil.which("valgrind", path=PATH) or "valgrind"),
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/profile.%p",
            f"--log-file={folder}/log.%p",
            *FOLLOWING,
            "--demangle=no",
            # A fork's child begins with the counts of its parent; a dump sets them to zero first.
            *(f"--dump-before={name}" for name in ("fork", "__fork", "__libc_fork", "_Fork")),
            *target.words,
        ]
        env = {"VALGRIND_OPTS": "", **steadied(target.env)}
        return launch(target, words, env=env, slowdown=CALLGRIND_FACTOR)


def summarise(
    counts: Counts, functions: Functions
) -> tuple[Mapping[Method, MethodCost], Mapping[tuple[Method, Method], EdgeCost], Sequence[str]]:
    """Costs of methods and of edges between them from those of functions, and what a reader must know.

    Calls into a piece of a function (cold code, a lambda) from itself are not calls of it. A method that was
    never called (the kernel or a jump entered it) has unknown calls. Costs of recursive edges contain
    themselves.
    """
    total = sum(counts.own.values())
    if not total:
        return {}, {}, ()
    places = {*counts.own, *(place for edge in counts.edges for place in edge)}
    known = dict(zip(places, _known(places, functions), strict=True))
    own: dict[Method, int] = {}
    for place, cost in counts.own.items():
        own[known[place].method] = own.get(known[place].method, 0) + cost
    calls, edges = _between(counts, known)
    nameless = {k.method for k in known.values() if k.nameless}
    shares = {method: cost / total for method, cost in own.items()}
    costs = {
        method: MethodCost(
            shares.get(method, 0.0),
            calls=None if method in nameless else calls.get(method),
            instructions=own.get(method, 0),
        )
        for method in own.keys() | calls.keys()
    }
    notes = without_names(nameless, shares, "instructions")
    return costs, edges, notes


def _between(
    counts: Counts, known: Mapping[Place, Known]
) -> tuple[Mapping[Method, int], Mapping[tuple[Method, Method], EdgeCost]]:
    """Calls of each method, and costs of edges between them."""
    calls: dict[Method, int] = {}
    edges: dict[tuple[Method, Method], EdgeCost] = {}
    for (caller, callee), (count, cost) in counts.edges.items():
        source, goal = known[caller], known[callee]
        if source.method == goal.method and (goal.part or goal.nameless):
            continue
        calls[goal.method] = calls.get(goal.method, 0) + count
        before = edges.get((source.method, goal.method), EdgeCost(0, 0.0))
        edges[source.method, goal.method] = EdgeCost((before.calls or 0) + count, before.total + cost)
    return calls, edges


def _known(places: set[Place], functions: Functions) -> Sequence[Known]:
    methods = functions.methods(Seen(p.object, p.symbol, p.file) for p in places)
    return [methods[Seen(p.object, p.symbol, p.file)] for p in places]


def _read(folder: Path, target: Target) -> tuple[Counts, Sequence[str]]:
    """What all processes counted, and what a reader must know of it."""
    try:
        read = told(target, read_profiles, folder, files=[folder])
    except OSError as error:
        return Counts(), [f"The callgrind profiles cannot be read: {error}."]
    notes = [f"The callgrind profile of one process is not used: {reason}." for reason in read.reasons]
    if read.profiles > MOST_FILES:
        notes.append(f"Only the {MOST_FILES} largest of {read.profiles} callgrind profiles were read.")
    if (more := read.refused - len(read.reasons)) > 0:
        notes.append(f"And {more} more callgrind profiles could not be used.")
    if read.lost:
        processes = "1 process was" if read.lost == 1 else f"{read.lost} processes were"
        it = "it wrote all of its" if read.lost == 1 else "they wrote all of their"
        notes.append(f"{processes} killed before {it} callgrind profile.")
    return read.counts, notes


def _ending(launched: Launched) -> Sequence[str]:
    if launched.outcome == "ok":
        return ()
    reason = launched.ended.reason("The program under callgrind")
    if launched.ended.exit_code == -signal.SIGILL:
        reason += " Valgrind does not know all instructions of new processors: build without `-march=native`."
    return (reason,)
