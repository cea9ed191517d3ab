"""What hooks wrote of watched calls: checked, and summed up by method, by edge and by context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from bot.adapters.profilers.call_series import MOST_BINS, MOST_KEPT, Watched, merged, trusted
from bot.adapters.profilers.reports import ToldReports, clean_name, read_as
from bot.adapters.reading.answers import Told
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile

MOST_CALLERS = 20_000_000
"""In the paths of all contexts of a report together."""
_Nanoseconds = Annotated[int, Field(ge=0, le=1 << 62)]
_Count = Annotated[int, Field(ge=0, le=1 << 53)]
_Bin = Annotated[int, Field(ge=0, le=MOST_BINS)]


class SeriesReport(Told):
    """Calls of one method in one context; `given`: for each kept duration the number of a text."""

    method: int
    parent: int
    calls: _Count
    sum: _Nanoseconds
    durations: Annotated[list[_Nanoseconds], Field(max_length=MOST_KEPT)]
    bins: Annotated[list[tuple[_Bin, _Count]], Field(max_length=MOST_BINS)]
    given: list[int]


class WatchedReport(Told):
    """What a hook wrote when a thread ended; parents of contexts come first, times in nanoseconds."""

    runtime: Annotated[str, Field(max_length=40)]
    series: list[SeriesReport]
    totals: list[_Nanoseconds]
    selves: list[_Nanoseconds]
    begun: list[_Count]
    left: _Count
    cost: _Nanoseconds
    bias: _Nanoseconds
    texts: list[str]

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Self:
        methods = len(self.totals)
        if not methods == len(self.selves) == len(self.begun):
            raise ValueError("columns of different lengths")
        depths: list[int] = []
        for place, one in enumerate(self.series):
            if not (0 <= one.method < methods and -1 <= one.parent < place):
                raise ValueError("a method or parent that is not there")
            depths.append(0 if one.parent < 0 else depths[one.parent] + 1)
            if one.given and len(one.given) != len(one.durations):
                raise ValueError("arguments of other calls")
            if any(not 0 <= text < len(self.texts) for text in one.given):
                raise ValueError("arguments that are not there")
        if sum(depths) > MOST_CALLERS:
            raise ValueError("paths that are too long")
        return self


def tell_watched(folder: Path, methods: int, lines: bool) -> ToldReports[WatchedReport]:
    """A reader: reports on this many methods; `lines`: several in a file."""
    return read_as(folder, WatchedReport, by_line=lines, fits=lambda one: len(one.totals) == methods)


def explained(
    profile: Profile,
    reports: Sequence[WatchedReport],
    methods: Sequence[Method],
    timed: Mapping[int, bool],
    *,
    every: Mapping[Method, int],
) -> Profile:
    """A profile with what the reports of its threads say, without the series that the tool's own time blurs.

    timed: for the number of each method that was found, whether it is timed or only counted. every: one in
    how many calls was timed; of sampled methods the reports count all as begun.
    """
    if not reports:
        return profile
    spent = sum(r.cost / 1e9 * sum(s.calls for s in r.series) for r in reports)
    looked = sum(s.calls for r in reports for s in r.series)
    sampled = [number for number, method in enumerate(methods) if every[method] > 1]
    reports = _scaled(reports, sampled)
    parts = [part for report in reports for part in _contexts(report, methods)]
    bias = max(report.bias for report in reports) / 1e9
    series, notes = trusted(merged(parts), bias)
    known = _costs(reports, methods, timed)
    if looked and profile.seconds > 0:
        notes.append(
            f"{looked} watched calls cost {spent / looked * 1e9:.0f} ns each: "
            f"{spent / profile.seconds:.1%} of the trial."
        )
    uncalled = [methods[n].name for n in sorted(timed) if not known[methods[n]].calls]
    if uncalled:
        notes.append(
            f"{len(uncalled)} watched methods were never called, or their files are not what ran "
            f"(first: {uncalled[0]})."
        )
    if left := sum(report.left for report in reports):
        notes.append(f"{left} calls came from more contexts than are kept: their callers are not told apart.")
    return replace(
        profile,
        tool=replace(
            profile.tool,
            version=clean_name(reports[0].runtime),
            seconds_per_call=max(report.cost for report in reports) / 1e9,
            bias=bias,
        ),
        methods=known,
        edges=_edges(parts),
        series=tuple(series),
        notes=(*profile.notes, *notes),
    )


def _scaled(reports: Sequence[WatchedReport], sampled: Sequence[int]) -> Sequence[WatchedReport]:
    """The reports as if all calls of the sampled methods had been timed, each as long as those that were.

    Their calls by context are as many as were timed there in proportion; durations stay what was seen.
    """
    looked = Counter[int]()
    for report in reports:
        for one in report.series:
            looked[one.method] += one.calls
    begun = {n: sum(report.begun[n] for report in reports) for n in sampled}
    factor = {n: begun[n] / looked[n] for n in sampled if looked[n]}
    if not factor:
        return reports

    def times(column: Sequence[int]) -> list[int]:
        return [round(value * factor.get(number, 1.0)) for number, value in enumerate(column)]

    return [
        report.model_copy(
            update={
                "totals": times(report.totals),
                "selves": times(report.selves),
                "series": [
                    one.model_copy(update={"calls": round(one.calls * f), "sum": round(one.sum * f)})
                    if (f := factor.get(one.method)) is not None
                    else one
                    for one in report.series
                ],
            }
        )
        for report in reports
    ]


def _contexts(report: WatchedReport, methods: Sequence[Method]) -> list[Watched]:
    """The calls of each context of one thread."""
    texts = [tuple(clean_name(line) for line in text.split("\n")) if text else () for text in report.texts]
    parts: list[Watched] = []
    for one in report.series:
        above = parts[one.parent] if one.parent >= 0 else None
        parts.append(
            Watched(
                method=methods[one.method],
                path=(*above.path, above.method) if above else (),
                calls=one.calls,
                nanoseconds=one.sum,
                durations=one.durations,
                bins=dict(one.bins),
                given=[texts[g] for g in one.given],
            )
        )
    return parts


def _costs(
    reports: Sequence[WatchedReport], methods: Sequence[Method], timed: Mapping[int, bool]
) -> Mapping[Method, MethodCost]:
    """Costs of the methods with these numbers; those that are not timed are counted only."""
    ended = Counter(dict.fromkeys(range(len(methods)), 0))
    for report in reports:
        for one in report.series:
            ended[one.method] += one.calls
    seen = sum(sum(report.selves) for report in reports) or 1
    known = {}
    for number in sorted(timed):
        own, total = (
            sum(c[number] for c in cs) for cs in ([r.selves for r in reports], [r.totals for r in reports])
        )
        known[methods[number]] = MethodCost(
            self_share=own / seen,
            self_seconds=own / 1e9 if timed[number] else None,
            total_seconds=total / 1e9 if timed[number] else None,
            # Async calls and generators that never ended have begun all the same.
            calls=max(ended[number], sum(report.begun[number] for report in reports)),
        )
    return known


def _edges(parts: Iterable[Watched]) -> dict[tuple[Method, Method], EdgeCost]:
    """Calls between watched methods, whatever lies between the two."""
    calls, nanoseconds = Counter[tuple[Method, Method]](), Counter[tuple[Method, Method]]()
    for part in parts:
        if part.path:
            calls[part.path[-1], part.method] += part.calls
            nanoseconds[part.path[-1], part.method] += part.nanoseconds
    return {edge: EdgeCost(calls[edge], nanoseconds[edge] / 1e9) for edge in calls}
