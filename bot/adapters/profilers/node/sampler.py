"""Coarse profiles of Node programs: V8's sampled stacks, and exact calls from its block coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Self

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from bot.adapters.profilers.call_tree import CallTree, tree_costs
from bot.adapters.profilers.node import preloading
from bot.adapters.profilers.node.sources import Frame, Sources
from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import Method, Profile, Target, Tool

INTERVAL_SECONDS = 500e-6
FEW_SAMPLES = 400
"""Below this many, the share even of a dominant method is rough: its standard deviation exceeds 5 %."""
MOST_SLOWDOWN = 5.0

_Count = Annotated[int, Ge(0), Le(1 << 53)]
_Micros = Annotated[float, Ge(0), Le(1e15)]
_Place = Annotated[int, Ge(-1), Le(1 << 31)]


class SampledReport(BaseModel):
    """What sampler.cjs wrote: the tree of stacks, parents first, and per script [start, end, calls]."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    node: Annotated[str, MaxLen(40)]
    frames: list[tuple[str, str, _Place, _Place]]
    parents: list[int]
    micros: list[_Micros]
    hits: list[_Count]
    counts: list[tuple[str, list[tuple[_Count, _Count, _Count]]]]

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        if not len(self.frames) == len(self.parents) == len(self.micros) == len(self.hits):
            raise ValueError("columns of different lengths")
        if any(not -1 <= parent < node for node, parent in enumerate(self.parents)):
            raise ValueError("a parent that does not come first")
        return self


class NodeSampler:
    """V8's sampling profiler in every process and worker thread; `counts`: exact calls in the same trial."""

    def __init__(self, *, counts: bool = True) -> None:
        self._counts = counts

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        return Tool(
            name="V8 CPU profile",
            version="",
            grain="coarse",
            quantities=frozenset({"seconds", "edges", "calls"} if self._counts else {"seconds", "edges"}),
            slowdown=1.3 if self._counts else 1.15,
            blind=(
                "Native code and Node's own modules count to the JavaScript that called them.",
                "Processes that are killed, or whose environment is replaced, leave no profile.",
                "A thread that waits inside of a call (execSync, Atomics.wait) looks busy.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not."""
        return preloading.what_is_missing(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:  # noqa: ARG002 - sees all
        """One sampled trial."""
        settings = {"interval": round(INTERVAL_SECONDS * 1e6), "counts": self._counts}
        try:
            hooked = preloading.run_hooked(target, "sampler.cjs", settings, slowdown=MOST_SLOWDOWN)
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror}.",))
        launched = hooked.launched
        profile = Profile(self.tool, launched.outcome, launched.cpu, notes=hooked.notes)
        if launched.outcome != "ok":
            profile = _with_notes(profile, launched.ended.reason("The profiled trial"))
        reports, refused = _validated(hooked.reports.contents.values())
        if refused:
            profile = _with_notes(profile, f"{refused} profile files were damaged and left out.")
        if not reports:
            return _with_notes(profile, "No method was seen.")
        return _explained(profile, reports, target)


def _with_notes(profile: Profile, *notes: str) -> Profile:
    return replace(profile, notes=(*profile.notes, *notes))


def _validated(contents: Iterable[bytes]) -> tuple[list[SampledReport], int]:
    """The reports that are what they should be, and how many are not."""
    reports, refused = [], 0
    for content in contents:
        try:
            reports.append(SampledReport.model_validate_json(content))
        except ValidationError:
            refused += 1
    return reports, refused


def _explained(profile: Profile, reports: Sequence[SampledReport], target: Target) -> Profile:
    """Names what the reports hold and sums it up."""
    sources = Sources(target)
    frames = {Frame(*frame) for report in reports for frame in report.frames}
    try:
        sources.parse(frames, (url for report in reports for url, _ in report.counts))
    except OSError as error:
        return _with_notes(profile, f"No profile: {error.strerror}.")
    named = {frame: sources.method(frame) for frame in frames}
    tree, samples = CallTree(), 0
    for report in reports:
        samples += _graft(tree, report, named)
    costs = tree_costs(tree)
    known = Counter[Method]()
    for report in reports:
        for url, functions in report.counts:
            for start, end, calls in functions:
                if method := sources.method_over(url, start, end):
                    known[method] += calls
    few = (f"Only {samples} samples: shares are rough.",) if samples < FEW_SAMPLES else ()
    return replace(
        profile,
        tool=replace(profile.tool, version=clean_name(reports[0].node)),
        methods=costs.methods(seen=sum(tree.own), calls=known),
        edges=costs.edge_costs(),
        samples=samples,
        notes=(*profile.notes, *sources.notes, *few),
    )


def _graft(tree: CallTree, report: SampledReport, named: Mapping[Frame, Method | None]) -> int:
    """Adds one thread's stacks to the tree, without the time in which it waited; its number of samples."""
    numbers: list[int] = []
    samples = 0
    for frame, parent, micros, hits in zip(
        report.frames, report.parents, report.micros, report.hits, strict=True
    ):
        idle = frame[0] == "(idle)" and not frame[1]
        above = numbers[parent] if parent >= 0 else -1
        numbers.append(tree.add(above, named[Frame(*frame)], 0.0 if idle else micros / 1e6))
        samples += 0 if idle else hits
    return samples
