"""Compares what a search found with the true steps: one to one, the same term, within 5 commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.change_points.published_scoring import TOLERANCE
from benchmarks.change_points.truth import ExactTerms, System, TrueFailure, TrueStep
from benchmarks.change_points.wording import away, reworded
from bot.flows.ranges.failing_runs import FailingRun
from bot.model.change_points import ChangePoint

LARGE = 0.10  # steps that must not be missed, relative in the smallest valid configuration


@dataclass(frozen=True)
class Pairing:
    """Which true step each found one is (their numbers), commits it is off, and if in other words."""

    true: int
    found: int
    off: int
    reworded: bool = False


def pairings(steps: Sequence[TrueStep], found: Sequence[ChangePoint], terms: ExactTerms) -> list[Pairing]:
    """As many as possible, the nearest ones among these; then those that say the same in other words."""
    off = np.full((len(steps), len(found)), TOLERANCE + 1)
    for i, step in enumerate(steps):
        for j, point in enumerate(found):
            if step.term == terms.canonical(point.term):
                off[i, j] = min(away(step, point), TOLERANCE + 1)
    rows, columns = linear_sum_assignment(np.where(off > TOLERANCE, 0.0, off - 100.0))
    pairs = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if off[i, j] <= TOLERANCE]
    others = list(reworded(steps, found, pairs, terms))
    return [
        *(Pairing(i, j, int(off[i, j])) for i, j in pairs),
        *(Pairing(i, j, away(steps[i], found[j]), reworded=True) for i, j in others),
    ]


def tally(
    system: System, found: Sequence[ChangePoint], terms: ExactTerms, failing: Sequence[FailingRun] = ()
) -> dict[str, Any]:
    """Everything the tables need of one run, as JSON.

    failing: runs of failures in the trials. Reports name those of two trials or more by their term: right
    where such a run is, else false.
    """
    paired = {p.found: p for p in pairings(system.steps, found, terms)}
    hit = {p.true: p for p in paired.values()}
    claims = [run for run in failing if run.trials > 1 and run.term is not None]
    named = [any(_names(run, f, terms) for run in claims) for f in system.failures]
    right = [any(_names(run, f, terms) for f in system.failures) for run in claims]
    return {
        "steps": [asdict(s) | {"off": hit[i].off if i in hit else None} for i, s in enumerate(system.steps)],
        "found": [_told(p) | {"true": paired[j].true if j in paired else None} for j, p in enumerate(found)],
        "failures": len(system.failures),
        "failures_named": sum(named),
        "failures_false": len(right) - sum(right),
        "reworded": sum(p.reworded for p in paired.values()),
        "uncanonical": sum(p.term != terms.canonical(p.term) for p in found),
    }


def _names(run: FailingRun, failure: TrueFailure, terms: ExactTerms) -> bool:
    same = run.term is not None and terms.canonical(run.term) == terms.canonical(failure.term)
    return same and run.first < failure.end and failure.first <= run.last


def _told(point: ChangePoint) -> dict[str, Any]:
    return {
        "revision": point.revision,
        "interval": point.interval,
        "term": point.term,
        "ratio": round(point.ratio, 5),
        "probability": round(point.probability, 5),
        "shape": point.shape,
    }


@dataclass(frozen=True)
class Count:
    """Hits, false alarms and misses."""

    hits: int
    false: int
    missed: int

    def __add__(self, other: Count) -> Count:
        return Count(self.hits + other.hits, self.false + other.false, self.missed + other.missed)

    @property
    def f1(self) -> float:
        """1 where there is nothing to find and nothing found."""
        whole = 2 * self.hits + self.false + self.missed
        return 2 * self.hits / whole if whole else 1.0

    @property
    def precision(self) -> float:
        """Share of the found ones that are true."""
        return self.hits / (self.hits + self.false) if self.hits + self.false else 1.0

    @property
    def recall(self) -> float:
        """Share of the true ones that were found."""
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0


def count(run: dict[str, Any], *, least: float = 0.0, passing: bool = True) -> Count:
    """Of one run, over the steps of a least size (and perhaps without episodes that passed).

    A found one that is a smaller true step is neither hit nor false; one that is no true step is false.
    """
    asked = {
        i for i, s in enumerate(run["steps"]) if abs(s["size"]) >= least and (passing or not s["passing"])
    }
    hits = sum(p["true"] in asked for p in run["found"])
    false = sum(p["true"] is None for p in run["found"])
    return Count(hits, false, len(asked) - hits)
