"""Compares a report's change points with the judge's steps: exact release, exact term, same direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    left = [dict(p) for p in points if p.get("shape") != "failing"]
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


def _terms(point: Mapping[str, Any]) -> list[Term]:
    return [tuple(t) for t in (point["term"], *point["aliases"])]


def _fits(point: Mapping[str, Any], step: Step) -> bool:
    return step.term in _terms(point) and (point["ratio"] > 1) == (step.ratio > 1)


def _other(point: Mapping[str, Any], judged: Judged) -> dict[str, Any]:
    """A change point that is no step of the judge, and what the judge's regression says of its term."""
    own = next((judged[point["label"], t] for t in _terms(point) if (point["label"], t) in judged), 1.0)
    said = point["ratio"] - 1
    real = (own - 1) * said > 0 and abs(own - 1) >= min(REAL, abs(said) / 2)
    return {
        "release": point["label"],
        "term": point["term"],
        "ratio": point["ratio"],
        "judge": own,
        "real": real,
    }
