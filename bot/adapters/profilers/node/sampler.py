"""Coarse profiles of Node programs: V8's sampled stacks, and exact calls from its block coverage."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bot.adapters.profilers.call_tree import CallTree, TreeCosts, tree_costs
from bot.adapters.profilers.launching import another_fits
from bot.adapters.profilers.node import preloading
from bot.adapters.profilers.node.preloading import Hooked
from bot.adapters.profilers.node.sources import Frame, Sources, Span
from bot.adapters.profilers.reports import ToldReports, clean_name, read_as
from bot.model.profiles import Method, Profile, Target, Tool

INTERVAL_SECONDS = 250e-6
"""10 % more CPU time than every millisecond, for four times the samples."""
ENOUGH_SAMPLES, MOST_ROUNDS = 20_000, 5
"""A trial is sampled again until there are so many samples, or so often: when V8 optimises what differs from
trial to trial, which moves the shares of a short one more than chance does."""
FEW_SAMPLES = 400
"""Below this many, the share even of a dominant method is rough: its standard deviation exceeds 5 %."""
SAMPLING_SHARE = 0.4
"""Of the time there is for a profile; the rest is for counting calls and for reading source texts."""
MOST_SLOWDOWN = 5.0

_Count = Annotated[int, Field(ge=0, le=1 << 53)]
_Micros = Annotated[float, Field(ge=0, le=1e15)]
_Place = Annotated[int, Field(ge=-1, le=1 << 31)]


class _Report(BaseModel):
    """What sampler.cjs wrote when a thread ended."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    node: Annotated[str, Field(max_length=40)]


class _Tree(BaseModel):
    """Nodes of a tree, parents first, and columns of the same length."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    frames: list[tuple[str, str, _Place, _Place]]
    parents: list[int]

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        columns = [column for _, column in self if isinstance(column, list)]
        if len({len(column) for column in columns}) != 1:
            raise ValueError("columns of different lengths")
        if any(not -1 <= parent < node for node, parent in enumerate(self.parents)):
            raise ValueError("a parent that does not come first")
        return self


class Allocations(_Tree):
    """Bytes that functions allocated, by the stacks that sampled it."""

    bytes: list[_Count]


class SampledReport(_Report, _Tree):
    """The tree of sampled stacks: own elapsed microseconds and samples, without collections of garbage.

    collecting: microseconds of these, where the program was when they came. cpu: nanoseconds that the thread
    had a core meanwhile; 0: not known. whole: the same of all threads of the process, V8's own included and
    the profiler's not, told by its main thread. alone: no other one of its threads runs JavaScript.
    """

    cpu: _Count
    whole: _Count
    alone: bool
    micros: list[_Micros]
    hits: list[_Count]
    collecting: list[_Micros]
    heap: Allocations


class CountedReport(_Report):
    """Per script its functions as [start, end, calls, V8's own name], with offsets in characters."""

    counts: list[tuple[str, list[tuple[_Count, _Count, _Count, str]]]]


class NodeSampler:
    """V8's sampling profiler in every process and worker thread of a trial.

    counts: a second trial counts all calls, which are None otherwise. inlining: leaves V8's optimiser as it
    is; then time in an inlined function may count to its caller.
    """

    def __init__(self, *, counts: bool = True, inlining: bool = False) -> None:
        self._counts = counts
        self._inlining = inlining

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        seen = ["Small functions weigh more than unprofiled: V8 does not inline them while it is profiled."]
        return Tool(
            name="V8 CPU profile",
            version="",
            grain="coarse",
            quantities=frozenset({"seconds", "edges", "calls"} if self._counts else {"seconds", "edges"}),
            slowdown=2.5 if self._counts else 1.3,
            blind=(
                "Native code and Node's own modules count to the JavaScript that called them.",
                "What compiling a function costs counts to no method.",
                "Processes that are killed, or whose environment is replaced, leave no profile.",
                "A thread that waits inside of a call (execSync, Atomics.wait) looks busy.",
                *([] if self._inlining else seen),
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not."""
        return preloading.what_is_missing(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:  # noqa: ARG002 - sees all
        """Sampled trials, and one in which calls are counted if that was asked for."""
        try:
            profile, sampled = self._sampled(target)
            if not any(sampled):
                return _with_notes(profile, "No method was seen.")
            counted: Sequence[CountedReport] = ()
            notes: list[str] = []
            if self._counts and profile.outcome == "ok":
                hooked = preloading.run_hooked(
                    target, "sampler.cjs", {"interval": 0}, tell_counted, slowdown=MOST_SLOWDOWN
                )
                counted, notes = hooked.reports, list(hooked.notes)
                if hooked.launched.outcome != "ok":
                    counted = ()
                    notes.append(hooked.launched.ended.reason("The trial whose calls were counted"))
            return _explained(_with_notes(profile, *notes), (sampled, counted), target)
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror or error}.",))

    def _sampled(self, target: Target) -> tuple[Profile, list[Sequence[SampledReport]]]:
        """What each trial sampled, until there is enough. Raises OSError as `run_hooked`."""
        settings = {"interval": round(INTERVAL_SECONDS * 1e6), "inlining": self._inlining}
        profiles: list[Profile] = []
        sampled: list[Sequence[SampledReport]] = []
        began = time.monotonic()
        while True:
            hooked = preloading.run_hooked(
                target, "sampler.cjs", settings, tell_sampled, slowdown=MOST_SLOWDOWN
            )
            reports = hooked.reports
            profiles.append(_begun(self.tool, hooked))
            sampled.append(reports)
            enough = sum(sum(report.hits) for one in sampled for report in one) >= ENOUGH_SAMPLES
            late = not another_fits(began, len(profiles), SAMPLING_SHARE * target.seconds)
            failed = profiles[-1].outcome != "ok" or not reports
            if enough or late or failed or len(profiles) == MOST_ROUNDS:
                break
        told = tuple(dict.fromkeys(note for profile in profiles for note in profile.notes))
        seconds = sum(profile.seconds for profile in profiles) / len(profiles)
        return replace(profiles[-1], seconds=seconds, notes=told), sampled


def _begun(tool: Tool, hooked: Hooked[SampledReport]) -> Profile:
    launched = hooked.launched
    profile = Profile(tool, launched.outcome, launched.cpu, notes=hooked.notes)
    if launched.outcome == "ok":
        return profile
    return _with_notes(profile, launched.ended.reason("The profiled trial"))


def _with_notes(profile: Profile, *notes: str) -> Profile:
    return replace(profile, notes=(*profile.notes, *notes))


def tell_sampled(folder: Path) -> ToldReports[SampledReport]:
    """A reader: what was sampled."""
    return read_as(folder, SampledReport)


def tell_counted(folder: Path) -> ToldReports[CountedReport]:
    """A reader: what was counted."""
    return read_as(folder, CountedReport)


def _explained(
    profile: Profile,
    reports: tuple[Sequence[Sequence[SampledReport]], Sequence[CountedReport]],
    target: Target,
) -> Profile:
    """Names what the reports hold and sums it up, for one of the sampled trials."""
    sampled, counted = reports
    sources = Sources(target)
    trees = [tree for one in sampled for report in one for tree in (report, report.heap)]
    frames = {Frame(*frame) for tree in trees for frame in tree.frames}
    sources.parse(
        frames,
        {Span(name, url, start, end) for r in counted for url, fs in r.counts for start, end, _, name in fs},
    )
    named = {frame: sources.method(frame) for frame in frames}
    costs, seen, samples = _costs(profile, sampled, named, target)
    few = (f"Only {samples} samples: shares are rough.",) if samples < FEW_SAMPLES else ()
    trials = []
    for one in sampled:
        own, whole, number = _costs(profile, [one], named, target)
        trials.append(replace(profile, methods=own.methods(seen=whole), samples=number, notes=()))
    return replace(
        profile,
        tool=replace(profile.tool, version=clean_name(next(r.node for one in sampled for r in one))),
        methods=costs.methods(seen=seen, calls=_calls(counted, sources)),
        edges=costs.edge_costs(),
        samples=samples,
        notes=(*profile.notes, *sources.notes, *few),
        trials=trials,
    )


def _costs(
    profile: Profile,
    trials: Sequence[Sequence[SampledReport]],
    named: Mapping[Frame, Method | None],
    target: Target,
) -> tuple[TreeCosts, float, int]:
    """What methods cost in a trial, the mean of these; CPU seconds of all that was seen of it; samples."""
    tree = CallTree()
    for one in trials:
        for report in one:
            graft(tree, report, named, trials=len(trials), one_core=target.one_core)
    # Other threads (V8's compilers, say) cost time that no method has.
    whole = min(profile.seconds, sum(report.whole for one in trials for report in one) / 1e9 / len(trials))
    return tree_costs(tree), max(sum(tree.own), whole), sum(tree.samples)


def graft(
    tree: CallTree,
    report: SampledReport,
    named: Mapping[Frame, Method | None],
    *,
    trials: int,
    one_core: bool,
) -> None:
    """Adds one thread's stacks to the tree, in CPU seconds where they are known.

    The seconds are those of one of so many trials. Elapsed time is longer when others have the core: other
    programs, or (one_core) V8's compilers, which mostly work for the function that waits for them meanwhile.
    Collections count to who allocates, by bytes, or else to where they came.
    """
    idle = [frame[0] == "(idle)" and not frame[1] for frame in report.frames]
    garbage, size = sum(report.collecting), sum(report.heap.bytes)
    elapsed = sum(m for m, waits in zip(report.micros, idle, strict=True) if not waits) + garbage
    spent = min(report.whole / 1e3, elapsed) if one_core and report.alone else report.cpu / 1e3
    scale = (spent / elapsed if spent and elapsed else 1.0) * 1e-6 / trials
    here = [0.0 if size else micros for micros in report.collecting]
    own = [0.0 if waits else m + g for m, g, waits in zip(report.micros, here, idle, strict=True)]
    hits = [0 if waits else number for number, waits in zip(report.hits, idle, strict=True)]
    _plant(tree, report, named, [micros * scale for micros in own], hits)
    each = garbage * scale / max(size, 1)
    _plant(tree, report.heap, named, [each * count for count in report.heap.bytes])


def _plant(
    tree: CallTree,
    told: _Tree,
    named: Mapping[Frame, Method | None],
    own: Sequence[float],
    samples: Sequence[int] | None = None,
) -> None:
    """Adds the nodes of a reported tree, with their own seconds."""
    numbers: list[int] = []
    for node, (frame, parent) in enumerate(zip(told.frames, told.parents, strict=True)):
        above = numbers[parent] if parent >= 0 else -1
        count = samples[node] if samples else 0
        numbers.append(tree.add(above, named[Frame(*frame)], own[node], samples=count))


def _calls(reports: Iterable[CountedReport], sources: Sources) -> Counter[Method]:
    calls = Counter[Method]()
    for report in reports:
        for url, functions in report.counts:
            for start, end, count, name in functions:
                if method := sources.method_over(Span(name, url, start, end)):
                    calls[method] += count
    return calls
