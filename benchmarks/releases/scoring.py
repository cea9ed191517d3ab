"""Compares a report's change points with the judge's steps: exact release, exact term, same direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.releases.judge import Counts
from benchmarks.releases.steps import Step, fit, releases_of
from bot.model.space import Space, Term

REAL = 0.02
"""A reported term that is no step is real if the judge's coefficient, in the same direction, reaches this or
half of what is reported."""


def score(
    space: Space, counts: Counts, steps: Sequence[Step], points: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """For each step what was found for it, and what else was reported, as JSON.

    A step is found by a change point of its term (or an alias of it) and direction, `off` releases away; the
    nearest one counts, and each change point for one step only.
    """
    place = {release: i for i, release in enumerate(releases_of(counts))}
    left = [dict(p) for p in points if p.get("shape") != "failing"]
    scored = []
    for step in sorted(steps, key=lambda s: -abs(s.ratio - 1)):
        fitting = [p for p in left if _fits(p, step)]
        nearest = min(fitting, key=lambda p: abs(place[p["label"]] - place[step.release]), default=None)
        told = {
            "release": step.release,
            "term": list(step.term),
            "judge": round(step.ratio, 4),
            "work": step.has_work,
        }
        if nearest is None:
            scored.append(told | {"off": None})
        else:
            left.remove(nearest)
            off = place[nearest["label"]] - place[step.release]
            scored.append(
                told | {"off": off, "ratio": nearest["ratio"], "probability": nearest["probability"]}
            )
    judged = {f.release: f.ratios for f in fit(space, counts)}
    return {"steps": scored, "others": [_other(p, judged.get(p["label"], {})) for p in left]}


def _terms(point: Mapping[str, Any]) -> list[Term]:
    return [tuple(t) for t in (point["term"], *point["aliases"])]


def _fits(point: Mapping[str, Any], step: Step) -> bool:
    return step.term in _terms(point) and (point["ratio"] > 1) == (step.ratio > 1)


def _other(point: Mapping[str, Any], judged: Mapping[Term, float]) -> dict[str, Any]:
    """A change point that is no step of the judge, and what the judge's regression says of its term."""
    own = next((judged[t] for t in _terms(point) if t in judged), 1.0)
    said = point["ratio"] - 1
    real = (own - 1) * said > 0 and abs(own - 1) >= min(REAL, abs(said) / 2)
    return {
        "release": point["label"],
        "term": point["term"],
        "ratio": point["ratio"],
        "probability": point["probability"],
        "shape": point.get("shape", "step"),
        "judge": round(own, 4),
        "real": real,
    }
