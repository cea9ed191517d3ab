"""Writes down what was timed: functions, paths, durations or histograms, summaries of arguments."""

# ruff: noqa: UP031  (runs from 3.8 on)

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Codes = dict[int, tuple[int, Any]]
    """id of a code object -> its number, and itself."""


def body(session: Any, recorder: Any) -> str:
    """One line of JSON."""
    quote, listed = session.quote, session.listed
    timing = session.load("timing")
    codes: Codes = {}
    texts: dict[str, int] = {}
    series = []
    for row in list(recorder.rows.values()):
        made = [_one(row, one, codes=codes, texts=texts, timing=timing) for one in list(row.series.values())]
        series += [text for text in made if text]
    skipped = _skipped(recorder, codes)
    met = [code for _, code in codes.values()]
    notes: set[str] = set(session.notes)
    names = session.load("names")["qualified"](met, notes)
    places = [
        "[%s,%d,%s]" % (quote(code.co_filename), code.co_firstlineno, quote(name))
        for code, name in zip(met, names)  # noqa: B905  (3.8)
    ]
    parts = (
        '"cost":%d,"bias":%d,"own":%d' % (_mean_cost(recorder), recorder.bias, max(0, recorder.own())),
        '"skipped":' + listed(skipped),
        '"codes":' + listed(places),
        '"texts":' + listed(map(quote, texts)),
        '"series":' + listed(series),
        '"notes":' + listed(map(quote, sorted(notes))),
    )
    return "{" + ",".join(parts) + "}"


def _mean_cost(recorder: Any) -> int:
    """Ns of a timed call, over the paths that were met."""
    met = [series for row in list(recorder.rows.values()) for series in list(row.series.values())]
    calls = sum(series.calls for series in met)
    return sum(series.calls * series.cost for series in met) // calls if calls else 0


def _skipped(recorder: Any, codes: Codes) -> list[str]:
    """[code, calls that were counted but not timed]."""
    return ["[%d,%d]" % (_number(codes, r.code), r.skipped) for r in recorder.rows.values() if r.skipped]


def _number(codes: Codes, code: Any) -> int:
    return codes.setdefault(id(code), (len(codes), code))[0]


def _one(row: Any, series: Any, *, codes: Codes, texts: dict[str, int], timing: Any) -> str:
    """[code, path, calls, ns, durations, bins, arguments]; empty when no call has ended."""
    if not series.calls:
        return ""
    bins = dict(series.bins)
    durations = series.durations
    if bins:
        for duration in durations:
            place = timing["bin_of"](duration)
            bins[place] = bins.get(place, 0) + 1
        durations = []
    arguments = []
    if durations and len(series.arguments) == len(durations):
        names = row.code.co_varnames
        for summary in series.arguments:
            told = (timing["told_text"](name, one) for name, one in zip(names, summary))  # noqa: B905  (3.8)
            arguments.append([texts.setdefault(text, len(texts)) for text in told])
    return "[%d,%s,%d,%d,%s,%s,%s]" % (
        _number(codes, row.code),
        [_number(codes, code) for code in series.codes],
        series.calls,
        series.total,
        durations,
        [list(pair) for pair in sorted(bins.items())],
        arguments,
    )
