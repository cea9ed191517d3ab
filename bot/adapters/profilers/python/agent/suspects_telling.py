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
    told_text = session.load("arguments")["told_text"]
    codes: Codes = {}
    texts: dict[str, int] = {}
    series = []
    for row in list(recorder.rows.values()):
        made = [
            _one(row, one, codes=codes, texts=texts, bias=recorder.bias, told_text=told_text)
            for one in list(row.series.values())
        ]
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
        '"cost":%d,"bias":%d,"own":%d' % (_mean_cost(recorder), recorder.bias, recorder.own[0]),
        '"skipped":' + listed(skipped),
        '"codes":' + listed(places),
        '"texts":' + listed(map(quote, texts)),
        '"series":' + listed(series),
        '"notes":' + listed(map(quote, sorted(notes))),
    )
    return "{" + ",".join(parts) + "}"


def _mean_cost(recorder: Any) -> int:
    """Ns of a timed call, its tool's part; those that are still open took it too."""
    rows = list(recorder.rows.values())
    timed = sum(series.calls() for row in rows for series in list(row.series.values()))
    skipped = sum(row.skipped() for row in rows)
    return max(0, recorder.own[0] - skipped * recorder.skip) // timed if timed else 0


def _skipped(recorder: Any, codes: Codes) -> list[str]:
    """[code, calls that were counted but not timed]."""
    counted = [(row.code, row.skipped()) for row in list(recorder.rows.values())]
    return ["[%d,%d]" % (_number(codes, code), calls) for code, calls in counted if calls]


def _number(codes: Codes, code: Any) -> int:
    return codes.setdefault(id(code), (len(codes), code))[0]


def _one(row: Any, series: Any, *, codes: Codes, texts: dict[str, int], bias: int, told_text: Any) -> str:
    """[code, path, calls, ns, durations, bins, arguments]; empty when no call has ended."""
    if series.bins:
        series.fold(bias)
    durations = [duration - bias if duration > bias else 0 for duration in series.durations]
    calls = series.calls()
    if not calls:
        return ""
    arguments = []
    if durations and len(series.arguments) == len(durations):
        names = row.code.co_varnames
        for summary in series.arguments:
            told = (told_text(name, one) for name, one in zip(names, summary))  # noqa: B905  (3.8)
            arguments.append([texts.setdefault(text, len(texts)) for text in told])
    return "[%d,%s,%d,%d,%s,%s,%s]" % (
        _number(codes, row.code),
        [_number(codes, code) for code in series.codes],
        calls,
        series.total + sum(durations),
        durations,
        [list(pair) for pair in sorted(series.bins.items())],
        arguments,
    )
