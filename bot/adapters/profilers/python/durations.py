"""Durations of calls as the agent tells them, to series by method and call path over all processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from bot.adapters.profilers.call_series import LEFT, MOST_BIAS, MOST_BINS, median, merged
from bot.adapters.profilers.call_series import Watched as Part
from bot.adapters.profilers.python.names import Naming
from bot.adapters.profilers.python.reading import Body, Count, Left, Text, read_processes
from bot.adapters.profilers.reports import ToldMethod
from bot.adapters.reading.answers import Column
from bot.model.profiles import CallSeries, Method

_MOST = 1_000_000

_Numbers = Annotated[tuple[Count, ...], Field(max_length=_MOST)]
_Bins = Annotated[
    tuple[tuple[Annotated[int, Field(ge=0, le=MOST_BINS)], Count], ...], Field(max_length=MOST_BINS)
]
_Arguments = Annotated[tuple[tuple[Count, ...], ...], Field(max_length=_MOST)]


class TimedBody(Body):
    """cost, bias: ns that a timed call costs, and that show in it. own: ns of all. skipped: code, calls.

    codes: file, first line, qualified name. series: code, path (codes, outermost first), timed calls, their
    ns, durations in ns or bins of their histogram, and of each kept call its arguments (places in texts).
    """

    cost: Count = 0
    bias: Count = 0
    own: Count = 0
    skipped: Annotated[tuple[tuple[Count, Count], ...], Field(max_length=100_000)] = ()
    codes: Annotated[tuple[tuple[Text, Count, Text], ...], Field(max_length=_MOST)] = ()
    texts: Annotated[tuple[Text, ...], Field(max_length=_MOST)] = ()
    series: Annotated[
        tuple[tuple[Count, _Numbers, Count, Count, _Numbers, _Bins, _Arguments], ...], Field(max_length=_MOST)
    ] = ()

    @property
    def consistent(self) -> bool:
        """Whether all places lie within their lists, and numbers of calls agree."""
        codes, texts = len(self.codes), len(self.texts)
        return all(code < codes for code, _ in self.skipped) and all(
            code < codes
            and all(place < codes for place in path)
            and calls == len(durations) + sum(count for _, count in bins)
            and len(arguments) in (0, len(durations))
            and all(place < texts for told in arguments for place in told)
            for code, path, calls, _, durations, bins, arguments in self.series
        )


class ToldPart(NamedTuple):
    """Calls of one method over one path of one process: numbers of methods, nanoseconds, numbers of texts."""

    method: Count
    path: list[Count]
    calls: Count
    nanoseconds: Count
    durations: Column
    bins: _Bins
    given: _Arguments


class TimedLeft(Left):
    """What a reader tells: calls of the asked methods, and how many were not timed; cost and bias in ns."""

    methods: list[ToldMethod] = Field(default_factory=list)
    parts: list[ToldPart] = Field(default_factory=list)
    texts: list[Text] = Field(default_factory=list)
    skipped: list[tuple[Count, Count]] = Field(default_factory=list)
    cost: Count = 0
    bias: Count = 0

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Self:
        methods, texts = len(self.methods), len(self.texts)
        if any(number >= methods for number, _ in self.skipped) or not all(
            all(number < methods for number in (part.method, *part.path))
            and part.calls == len(part.durations) + sum(count for _, count in part.bins)
            and len(part.given) in (0, len(part.durations))
            and all(number < texts for told in part.given for number in told)
            and (part.durations >= 0).all()
            for part in self.parts
        ):
            raise ValueError("calls of what is not there")
        return self


@dataclass(frozen=True)
class Timed:
    """All series, the methods that were seen, notes.

    seconds_per_call, bias: what a timed call costs, and what of it shows in its duration and was taken off.
    """

    series: tuple[CallSeries, ...]
    seen: frozenset[Method]
    seconds_per_call: float = 0.0
    bias: float = 0.0
    notes: tuple[str, ...] = ()


def tell_durations(folder: Path, root: Path, asked: list[ToldMethod]) -> TimedLeft:
    """A reader: calls of the asked methods; code that looked like one by its name alone is dropped."""
    processes = read_processes(folder, TimedBody)
    wanted = {told.method for told in asked}
    numbers: dict[Method, int] = {}
    parts: list[ToldPart] = []
    texts: dict[str, int] = {}
    skipped: Counter[int] = Counter()
    cost, bias, wrong = 0, 0, 0
    for process in processes.each:
        body = process.body
        if body is None:
            continue
        if not body.consistent:
            wrong += 1
            continue
        cost, bias = max(cost, body.cost), max(bias, body.bias)
        naming = Naming(root, process.head.cwd, agent=folder)
        named = [naming.method(file, line, name) for file, line, name in body.codes]
        places = [None if m is None else numbers.setdefault(m, len(numbers)) for m in named]
        parts += _parts(body, places, {numbers[m] for m in wanted if m in numbers}, texts)
        for code, calls in body.skipped:
            if (place := places[code]) is not None:
                skipped[place] += calls
    return TimedLeft(
        **processes.told(), wrong=wrong, cost=cost, bias=bias, parts=parts, texts=list(texts),
        methods=[ToldMethod(m.name, m.file, m.line) for m in numbers], skipped=list(skipped.items()),
    )  # fmt: skip


def series_of(left: TimedLeft) -> Timed:
    """Series of what a reader told."""
    named = [told.method for told in left.methods]
    parts = [
        Part(
            method=named[part.method],
            path=tuple(named[number] for number in part.path),
            calls=part.calls,
            nanoseconds=part.nanoseconds,
            durations=part.durations.tolist(),
            bins=dict(part.bins),
            given=[tuple(left.texts[number] for number in told) for told in part.given],
        )
        for part in left.parts
    ]
    skipped = Counter({named[number]: calls for number, calls in left.skipped})
    timed: Counter[Method] = Counter()
    for one in parts:
        timed[one.method] += one.calls
    series = merged(parts)
    scaled = tuple(_scaled(one, 1 + skipped[one.method] / timed[one.method]) for one in series)
    notes = tuple(_uncertain(series, left.bias))
    return Timed(scaled, frozenset(timed), left.cost / 1e9, left.bias / 1e9, notes)


def _uncertain(series: Sequence[CallSeries], bias: int) -> Iterator[str]:
    """The tool's own part is taken off each duration; short ones stay uncertain."""
    short = {one.method for one in series if LEFT * bias / 1e9 > MOST_BIAS * median(one)}
    if short:
        yield (
            f"Durations of {len(short)} methods are uncertain: {bias} ns of the tool's own, more than "
            f"{MOST_BIAS / LEFT:.0%} of them, were taken off each."
        )


def _parts(
    body: TimedBody, places: Sequence[int | None], asked: set[int], texts: dict[str, int]
) -> Iterator[ToldPart]:
    """places: the number of the method of each code."""
    for code, path, calls, total, durations, bins, arguments in body.series:
        method = places[code]
        if method is not None and method in asked:
            yield ToldPart(
                method,
                [caller for place in path if (caller := places[place]) is not None],
                calls,
                total,
                np.array(durations, np.int64),
                bins,
                tuple(
                    tuple(texts.setdefault(body.texts[place], len(texts)) for place in told)
                    for told in arguments
                ),
            )


def _scaled(series: CallSeries, scale: float) -> CallSeries:
    """scale: all calls to those that were timed."""
    return replace(series, calls=round(series.calls * scale), seconds=series.seconds * scale)
