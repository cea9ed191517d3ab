"""Durations of calls as the agent tells them, to series by method and call path over all processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.adapters.profilers.call_series import MOST_BIAS, MOST_BINS, median, merged
from bot.adapters.profilers.call_series import Watched as Part
from bot.adapters.profilers.python.injection import Watched
from bot.adapters.profilers.python.names import Naming
from bot.adapters.profilers.python.reading import Body, Count, Text
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


def series_of(watched: Watched[TimedBody], root: Path, methods: Sequence[Method]) -> Timed:
    """Series of the asked methods; a code object that looked like one by its name alone is dropped."""
    parts: list[Part] = []
    skipped: Counter[Method] = Counter()
    cost, bias, wrong = 0, 0, 0
    for process in watched.processes.each:
        body = process.body
        if body is None:
            continue
        if not body.consistent:
            wrong += 1
            continue
        cost, bias = max(cost, body.cost), max(bias, body.bias)
        naming = Naming(root, process.head.cwd, agent=watched.folder)
        named = [naming.method(file, line, name) for file, line, name in body.codes]
        parts += _parts(body, named, set(methods))
        skipped.update({method: calls for code, calls in body.skipped if (method := named[code]) is not None})
    timed: Counter[Method] = Counter()
    for part in parts:
        timed[part.method] += part.calls
    series = merged(parts)
    notes = [*_uncertain(series, bias)]
    scaled = tuple(_scaled(one, 1 + skipped[one.method] / timed[one.method]) for one in series)
    if wrong:
        notes.append(f"{wrong} Python processes left a profile that contradicts itself; it was not used.")
    return Timed(scaled, frozenset(timed), cost / 1e9, bias / 1e9, tuple(notes))


def _uncertain(series: Sequence[CallSeries], bias: int) -> Iterator[str]:
    """The tool's own part is taken off each duration; short ones stay uncertain."""
    short = {one.method for one in series if bias / 1e9 > MOST_BIAS * median(one)}
    if short:
        yield (
            f"Durations of {len(short)} methods are uncertain: {bias} ns of the tool's own, more than "
            f"{MOST_BIAS:.0%} of them, were taken off each."
        )


def _parts(body: TimedBody, named: Sequence[Method | None], asked: set[Method]) -> Iterator[Part]:
    for code, path, calls, total, durations, bins, arguments in body.series:
        method = named[code]
        if method is not None and method in asked:
            yield Part(
                method=method,
                path=tuple(caller for place in path if (caller := named[place]) is not None),
                calls=calls,
                nanoseconds=total,
                durations=durations,
                bins=dict(bins),
                given=[tuple(body.texts[place] for place in told) for told in arguments],
            )


def _scaled(series: CallSeries, scale: float) -> CallSeries:
    """scale: all calls to those that were timed."""
    return replace(series, calls=round(series.calls * scale), seconds=series.seconds * scale)
