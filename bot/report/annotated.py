"""Annotations for a check run: what is said on the lines of the methods behind a change."""

from __future__ import annotations

from bot.model.forge import Annotation
from bot.model.report import Report
from bot.model.report_methods import MethodSuspect
from bot.report import methods, words
from bot.report.formats import code, join, prose
from bot.report.links import inside
from bot.report.method_states import state

MOST_ANNOTATED = 200
"""Methods with a line, those first that the report blames first; GitHub takes 50 at once."""
_SAID = {"slower": "is slower", "faster": "is faster", "new": "is new and costs", "calls": "makes more calls"}


def line_annotations(report: Report) -> tuple[Annotation, ...]:
    """One for each line of head that holds a blamed method, or leads to one outside."""
    found: dict[tuple[str, int, str], Annotation] = {}
    controls = {id(m) for group in methods.groups(report) if group.control for m in group.methods}
    for method in report.suspects.methods:
        if method.change not in _SAID or id(method) in controls or len(found) == MOST_ANNOTATED:
            continue
        spot = method.owner or method
        if spot.file and inside(spot.file) and spot.line is not None and spot.line > 0:
            key = (spot.file, spot.line, method.method)
            found.setdefault(key, _annotation(method, spot.file, spot.line))
    return tuple(found.values())


def _annotation(method: MethodSuspect, file: str, line: int) -> Annotation:
    driven = join([words.term(term) for term in method.terms[:2]], "; ")
    where = prose("; driven by ", driven) if driven.spans else prose("")
    return Annotation(
        path=file,
        line=line,
        level="notice" if method.change == "faster" else "warning",
        title=str(prose(code(method.method), " ", _said(method))),
        message=str(prose(methods.cost(method), where, ".")),
    )


def _said(method: MethodSuspect) -> str:
    return f"is {state(method)}, and costs" if method.stands else _SAID[method.change]
