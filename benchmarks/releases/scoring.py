"""Compares a report's change points with the judge's steps: exact release, exact term, same direction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.releases.fewest import Described
from benchmarks.releases.steps import Step
from bot.model.space import Term

Judged = Mapping[tuple[str, Term], float]
"""The judge's ratio of a release and term, large or small."""

NEAR = 3
REAL = 0.02
"""A reported term that is no step is real if the judge's coefficient, in the same direction, reaches this or
half of what is reported."""


def score(
    steps: Sequence[Step], judged: Judged, releases: Sequence[str], points: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """For each step what was found for it, and what else was reported.

    A step is found by a change point of its term (or an alias of it) and direction, `off` releases away, at
    most NEAR; the nearest one counts, and each change point for one step only.
    """
    place = {release: i for i, release in enumerate(releases)}
    left = list(points)
    scored = []
    for step in sorted(steps, key=lambda s: -abs(s.ratio - 1)):
        away = {i: place[p["label"]] - place[step.release] for i, p in enumerate(left) if _fits(p, step)}
        nearest = min(away, key=lambda i: abs(away[i]), default=None)
        told = {"release": step.release, "term": step.term, "judge": step.ratio, "work": step.has_work}
        if nearest is None or abs(away[nearest]) > NEAR:
            scored.append(told | {"off": None})
        else:
            scored.append(told | {"off": away[nearest], "ratio": left.pop(nearest)["ratio"]})
    return {"steps": scored, "others": [_other(p, judged) for p in left]}


def score_described(
    descriptions: Sequence[Described], points: Sequence[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """The same where all configurations were counted: what is told of a release against its description.

    A step is found by its term (or an alias) in its direction at its release; all steps of a release are,
    when what is told of it describes it in other or finer words (`reworded`). What is told beside is real if
    a regression of the release on all that is told of it gives the term such a ratio, too.
    """
    scored: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for d in descriptions:
        told = {_named(p, d): p["ratio"] for p in points if p["label"] == d.release}
        said, fitted = bool(told) and d.says(told), d.fitted(list(told))
        found = {t for t, r in d.steps.items() if t in told and (told[t] > 1) == (r > 1)}
        for term, ratio in d.steps.items():
            step = {"release": d.release, "term": term, "judge": ratio, "work": True, "off": None}
            if said or term in found:
                step |= {"off": 0, "ratio": told.get(term, math.nan), "reworded": term not in found}
            scored.append(step)
        for term, ratio in told.items():
            if not said and term not in found:
                own = fitted.get(term, 1.0)
                judged = {"judge": own, "real": _real(ratio, own)}
                others.append({"release": d.release, "term": term, "ratio": ratio} | judged)
    return {"steps": sorted(scored, key=lambda s: -abs(s["judge"] - 1)), "others": others}


def _named(point: Mapping[str, Any], described: Described) -> Term:
    """A change point's term in the words of a description, if one of its aliases is there."""
    terms = _terms(point)
    return next((t for t in terms if t in described.ratios), terms[0])


def _terms(point: Mapping[str, Any]) -> list[Term]:
    return [tuple(t) for t in (point["term"], *point["aliases"])]


def _fits(point: Mapping[str, Any], step: Step) -> bool:
    return step.term in _terms(point) and (point["ratio"] > 1) == (step.ratio > 1)


def _other(point: Mapping[str, Any], judged: Judged) -> dict[str, Any]:
    """A change point that is no step of the judge, and what the judge's regression says of its term."""
    own = next((judged[point["label"], t] for t in _terms(point) if (point["label"], t) in judged), 1.0)
    return {
        "release": point["label"],
        "term": point["term"],
        "ratio": point["ratio"],
        "judge": own,
        "real": _real(point["ratio"], own),
    }


def _real(said: float, judged: float) -> bool:
    """Whether the judge's ratio goes in the same direction, far enough."""
    return (judged - 1) * (said - 1) > 0 and abs(judged - 1) >= min(REAL, abs(said - 1) / 2)
