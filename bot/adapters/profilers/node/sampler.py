"""Coarse profiles of Node programs: V8's sampled stacks, and exact calls from its block coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.adapters.profilers.call_tree import CallTree, tree_costs
from bot.adapters.profilers.node import preloading
from bot.adapters.profilers.node.preloading import Hooked
from bot.adapters.profilers.node.sources import Frame, Sources, Span
from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import Method, Profile, Target, Tool

INTERVAL_SECONDS = 250e-6
"""10 % more CPU time than every millisecond, for four times the samples."""
ENOUGH_SAMPLES, MOST_ROUNDS = 4000, 3
"""A trial is sampled again until there are so many samples, or so often: when V8 optimises what differs from
trial to trial, which moves the shares of a short one more than chance does."""
FEW_SAMPLES = 400
"""Below this many, the share even of a dominant method is rough: its standard deviation exceeds 5 %."""
MOST_SLOWDOWN = 5.0

_Count = Annotated[int, Field(ge=0, le=1 << 53)]
_Micros = Annotated[float, Field(ge=0, le=1e15)]
_Place = Annotated[int, Field(ge=-1, le=1 << 31)]


class _Report(BaseModel):
    """What sampler.cjs wrote when a thread ended."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    node: Annotated[str, Field(max_length=40)]


class SampledReport(_Report):
    """The tree of sampled stacks, parents first: frames, own elapsed microseconds and samples.

    cpu: nanoseconds that the thread had a core meanwhile; 0: not known. whole: the same of all threads of the
    process, V8's own included and the profiler's not, told by its main thread. alone: no other one of its
    threads runs JavaScript.
    """

    cpu: _Count
    whole: _Count
    alone: bool
    frames: list[tuple[str, str, _Place, _Place]]
    parents: list[int]
    micros: list[_Micros]
    hits: list[_Count]

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        if not len(self.frames) == len(self.parents) == len(self.micros) == len(self.hits):
            raise ValueError("columns of different lengths")
        if any(not -1 <= parent < node for node, parent in enumerate(self.parents)):
            raise ValueError("a parent that does not come first")
        return self


class CountedReport(_Report):
    """Per script its functions as [start, end, calls, V8's own name], with offsets in characters."""

    counts: list[tuple[str, list[tuple[_Count, _Count, _Count, str]]]]


_AnyReport = TypeVar("_AnyReport", SampledReport, CountedReport)


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
            profile, sampled, rounds = self._sampled(target)
            if not sampled:
                return _with_notes(profile, "No method was seen.")
            counted: list[CountedReport] = []
            notes: list[str] = []
            if self._counts and profile.outcome == "ok":
                hooked = preloading.run_hooked(target, "sampler.cjs", {"interval": 0}, slowdown=MOST_SLOWDOWN)
                counted, notes = _validated(hooked, CountedReport)
                if hooked.launched.outcome != "ok":
                    counted = []
                    notes.append(hooked.launched.ended.reason("The trial whose calls were counted"))
            return _explained(_with_notes(profile, *notes), (sampled, counted), target, rounds=rounds)
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror}.",))

    def _sampled(self, target: Target) -> tuple[Profile, list[SampledReport], int]:
        """What trials sampled until there is enough, and their number. Raises OSError as `run_hooked`."""
        settings = {"interval": round(INTERVAL_SECONDS * 1e6), "inlining": self._inlining}
        profiles: list[Profile] = []
        sampled: list[SampledReport] = []
        while True:
            hooked = preloading.run_hooked(target, "sampler.cjs", settings, slowdown=MOST_SLOWDOWN)
            reports, notes = _validated(hooked, SampledReport)
            profiles.append(_with_notes(_begun(self.tool, hooked), *notes))
            sampled += reports
            enough = sum(sum(report.hits) for report in sampled) >= ENOUGH_SAMPLES
            if enough or profiles[-1].outcome != "ok" or not reports or len(profiles) == MOST_ROUNDS:
                break
        told = tuple(dict.fromkeys(note for profile in profiles for note in profile.notes))
        seconds = sum(profile.seconds for profile in profiles) / len(profiles)
        return replace(profiles[-1], seconds=seconds, notes=told), sampled, len(profiles)


def _begun(tool: Tool, hooked: Hooked) -> Profile:
    launched = hooked.launched
    profile = Profile(tool, launched.outcome, launched.cpu, notes=hooked.notes)
    if launched.outcome == "ok":
        return profile
    return _with_notes(profile, launched.ended.reason("The profiled trial"))


def _with_notes(profile: Profile, *notes: str) -> Profile:
    return replace(profile, notes=(*profile.notes, *notes))


def _validated(hooked: Hooked, kind: type[_AnyReport]) -> tuple[list[_AnyReport], list[str]]:
    """The reports that are what they should be, and a note on those that are not."""
    reports: list[_AnyReport] = []
    for content in hooked.reports.contents.values():
        try:
            reports.append(kind.model_validate_json(content))
        except ValidationError:
            continue
    refused = len(hooked.reports.contents) - len(reports)
    return reports, [f"{refused} profile files were damaged and left out."] if refused else []


def _explained(
    profile: Profile,
    reports: tuple[Sequence[SampledReport], Sequence[CountedReport]],
    target: Target,
    *,
    rounds: int,
) -> Profile:
    """Names what the reports hold and sums it up, for one of so many sampled trials."""
    sampled, counted = reports
    sources = Sources(target)
    frames = {Frame(*frame) for report in sampled for frame in report.frames}
    sources.parse(
        frames,
        {Span(name, url, start, end) for r in counted for url, fs in r.counts for start, end, _, name in fs},
    )
    named = {frame: sources.method(frame) for frame in frames}
    tree = CallTree()
    samples = sum(_graft(tree, r, named, rounds=rounds, one_core=target.one_core) for r in sampled)
    costs = tree_costs(tree)
    # Other threads (V8's compilers, say) cost time that no method has.
    whole = min(profile.seconds, sum(report.whole for report in sampled) / 1e9 / rounds)
    few = (f"Only {samples} samples: shares are rough.",) if samples < FEW_SAMPLES else ()
    return replace(
        profile,
        tool=replace(profile.tool, version=clean_name(sampled[0].node)),
        methods=costs.methods(seen=max(sum(tree.own), whole), calls=_calls(counted, sources)),
        edges=costs.edge_costs(),
        samples=samples,
        notes=(*profile.notes, *sources.notes, *few),
    )


def _graft(
    tree: CallTree,
    report: SampledReport,
    named: Mapping[Frame, Method | None],
    *,
    rounds: int,
    one_core: bool,
) -> int:
    """Adds one thread's stacks to the tree, in CPU seconds where they are known; its number of samples.

    The seconds are those of one of so many trials. Elapsed time is longer when others have the core: other
    programs, or (one_core) V8's compilers and collectors, which mostly work for the
    function that waits for them meanwhile.
    """
    idle = [frame[0] == "(idle)" and not frame[1] for frame in report.frames]
    elapsed = sum(micros for micros, waits in zip(report.micros, idle, strict=True) if not waits)
    spent = min(report.whole / 1e3, elapsed) if one_core and report.alone else report.cpu / 1e3
    scale = (spent / elapsed if spent and elapsed else 1.0) * 1e-6 / rounds
    numbers: list[int] = []
    samples = 0
    rows = zip(report.frames, report.parents, report.micros, report.hits, idle, strict=True)
    for frame, parent, micros, hits, waits in rows:
        above = numbers[parent] if parent >= 0 else -1
        numbers.append(tree.add(above, named[Frame(*frame)], 0.0 if waits else micros * scale))
        samples += 0 if waits else hits
    return samples


def _calls(reports: Iterable[CountedReport], sources: Sources) -> Counter[Method]:
    calls = Counter[Method]()
    for report in reports:
        for url, functions in report.counts:
            for start, end, count, name in functions:
                if method := sources.method_over(Span(name, url, start, end)):
                    calls[method] += count
    return calls
