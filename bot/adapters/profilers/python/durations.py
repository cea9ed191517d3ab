"""Durations of calls as the agent tells them, to series by method and call path over all processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bot.adapters.profilers.python.injection import Watched
from bot.adapters.profilers.python.names import Naming
from bot.adapters.profilers.python.reading import Body, Count, Process, Text
from bot.model.profiles import CallPath, CallSeries, Method

MOST_KEPT = 100_000
"""Durations of one series; of more, their histogram is kept."""
BIAS = 0.1
"""Share of a method's median duration from which the tool's own part of it is told."""
_MOST = 1_000_000
_EXACT, _PER_DOUBLING = 16, 8

_Numbers = Annotated[tuple[Count, ...], Field(max_length=_MOST)]
_Bins = Annotated[tuple[tuple[Annotated[int, Field(ge=0, le=1000)], Count], ...], Field(max_length=1000)]
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
    """All series, the calibrated cost of a timed call, sentences for the report."""

    series: tuple[CallSeries, ...]
    seconds_per_call: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass
class _Gathered:
    """One series while processes are added: numbers in ns."""

    timed: int = 0
    total: int = 0
    durations: list[int] = field(default_factory=list)
    bins: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    arguments: list[tuple[str, ...]] = field(default_factory=list)


def series_of(watched: Watched[TimedBody], root: Path, methods: Sequence[Method]) -> Timed:
    """Series of the asked methods; a code object that looked like one by its name alone is dropped."""
    asked = set(methods)
    gathered: dict[tuple[Method, CallPath], _Gathered] = defaultdict(_Gathered)
    skipped: dict[Method, int] = defaultdict(int)
    costs, bias, wrong = [], 0, 0
    for process in watched.processes.each:
        if process.body is None:
            continue
        if not process.body.consistent:
            wrong += 1
            continue
        costs.append(process.body.cost)
        bias = max(bias, process.body.bias)
        naming = Naming(root, process.head.cwd, agent=watched.folder)
        _gather(process, naming, asked, gathered=gathered, skipped=skipped)
    timed: dict[Method, int] = defaultdict(int)
    for (method, _), one in gathered.items():
        timed[method] += one.timed
    series = tuple(
        _series(method, path, one, scale=1 + skipped[method] / max(timed[method], 1))
        for (method, path), one in sorted(gathered.items(), key=lambda item: _order(item[0]))
    )
    notes = [*_biased(gathered, bias)]
    if wrong:
        notes.append(f"{wrong} Python processes left a profile that contradicts itself; it was not used.")
    return Timed(series, float(max(costs)) / 1e9 if costs else 0.0, tuple(notes))


def _order(key: tuple[Method, CallPath]) -> tuple[str, str, tuple[str, ...]]:
    return key[0].name, key[0].file or "", tuple(method.name for method in key[1])


def _gather(
    process: Process[TimedBody],
    naming: Naming,
    asked: set[Method],
    *,
    gathered: Mapping[tuple[Method, CallPath], _Gathered],
    skipped: dict[Method, int],
) -> None:
    body = process.body
    assert body is not None
    named = [naming.method(file, line, name) for file, line, name in body.codes]
    for code, calls in body.skipped:
        method = named[code]
        if method is not None:
            skipped[method] += calls
    for code, path, calls, total, durations, bins, arguments in body.series:
        method = named[code]
        if method is None or method not in asked:
            continue
        one = gathered[method, tuple(m for place in path if (m := named[place]) is not None)]
        one.timed += calls
        one.total += total
        if len(arguments) == len(durations) and len(one.arguments) == len(one.durations):
            one.arguments += [tuple(body.texts[place] for place in told) for told in arguments]
        one.durations += durations
        for place, count in bins:
            one.bins[place] += count


def _series(method: Method, path: CallPath, one: _Gathered, *, scale: float) -> CallSeries:
    """scale: all calls to those that were timed."""
    kept = not one.bins and len(one.durations) <= MOST_KEPT
    if not kept:
        for duration in one.durations:
            one.bins[bin_of(duration)] += 1
    edges, counts = histogram(one.bins) if not kept else (np.empty(0), np.empty(0, dtype=np.int64))
    return CallSeries(
        method=method,
        path=path,
        calls=round(one.timed * scale),
        seconds=one.total * scale / 1e9,
        durations=np.asarray(one.durations if kept else [], dtype=np.float64) / 1e9,
        edges=edges,
        counts=counts,
        arguments=tuple(one.arguments) if kept and len(one.arguments) == len(one.durations) else (),
    )


def bin_of(duration: int) -> int:
    """Number of the bin of a duration in ns: exact below 16, from there eight to each doubling."""
    size = duration.bit_length()
    return duration if duration < _EXACT else size * _PER_DOUBLING + (duration >> (size - 4)) % _PER_DOUBLING


def bounds(number: int) -> tuple[int, int]:
    """First ns in a bin, and first ns after it."""
    if number < _EXACT:
        return number, number + 1
    size, part = divmod(number, _PER_DOUBLING)
    width = 1 << max(size - 4, 0)
    return (_PER_DOUBLING + part) * width, (_PER_DOUBLING + part + 1) * width


def histogram(bins: Mapping[int, int]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges in seconds, shape (bins + 1,), and counts, shape (bins,), without gaps."""
    if not bins:
        return np.empty(0), np.empty(0, dtype=np.int64)
    numbers = [n for n in range(min(bins), max(bins) + 1) if n < _EXACT or n >= 5 * _PER_DOUBLING]
    edges = [bounds(numbers[0])[0], *(bounds(n)[1] for n in numbers)]
    return np.asarray(edges, dtype=np.float64) / 1e9, np.asarray([bins.get(n, 0) for n in numbers])


def _biased(gathered: Mapping[tuple[Method, CallPath], _Gathered], bias: int) -> Iterable[str]:
    """Methods so short that the tool's own part of a duration, although taken off, makes it uncertain."""
    short = sorted(
        {
            method.name
            for (method, _), one in gathered.items()
            if one.durations and bias > BIAS * float(np.median(one.durations))
        }
    )
    if short:
        names = ", ".join("`{}`".format(name.replace("`", "'")) for name in short[:3])
        more = f" and {len(short) - 3} more" if len(short) > 3 else ""
        yield f"Durations of {names}{more} are uncertain: the tool's own {bias} ns were taken off each."
