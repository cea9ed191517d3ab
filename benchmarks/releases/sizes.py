"""The steps in CPU time: one regression of all measured pairs on the judge's steps and on every release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.releases.seconds import Ratios
from benchmarks.releases.steps import THRESHOLD, Step
from bot.model.space import Configuration, Space, Term

Size = tuple[float, float]
"""Ratio after / before, and twice the standard error of its logarithm."""
Key = tuple[str, Term]


def holds(space: Space, term: Term, configuration: Configuration) -> bool:
    """Whether all levels of a term hold."""
    return all(space.holds(space.level_of[level], configuration) for level in term)


def sizes(space: Space, ratios: Ratios, steps: Sequence[Step], releases: Sequence[str]) -> dict[Key, Size]:
    """Log ratios to the newest release = a constant per configuration + each step from its release on.

    "Everything" may move in each release; other terms where the judge says so. Empty without pairs.
    """
    known = {(s.release, s.term) for s in steps}
    everywhere = [(r, ()) for r in releases[1:] if (r, ()) not in known]
    terms: list[Key] = [*((s.release, s.term) for s in steps), *everywhere]
    place = {release: i for i, release in enumerate(releases)}
    rows = [(r, c, ratio) for (r, c), found in ratios.items() for ratio in found if ratio]
    if not rows:
        return {}
    configurations = list(dict.fromkeys(c for _, c, _ in rows))
    own = np.array([[c == other for other in configurations] for _, c, _ in rows], dtype=np.float64)
    moved = np.array(
        [[place[r] >= place[start] and holds(space, term, c) for start, term in terms] for r, c, _ in rows],
        dtype=np.float64,
    )
    design = np.column_stack([own, moved])
    y = np.log([ratio for _, _, ratio in rows])
    solved = np.linalg.lstsq(design, y, rcond=None)[0]
    spread = (y - design @ solved).std() * np.sqrt(len(y) / (len(y) - design.shape[1]))
    errors = spread * np.sqrt(np.diag(np.linalg.pinv(design.T @ design)))
    return {
        key: (float(np.exp(solved[i])), float(2 * errors[i]))
        for i, key in enumerate(terms, start=len(configurations))
    }


def steps_in_seconds(cpu: Mapping[Key, Size], steps: Sequence[Step], releases: Sequence[str]) -> list[Step]:
    """The terms that moved by the threshold or more in CPU time, in order of release."""
    working = {(s.release, s.term): s.has_work for s in steps}
    large = {k: ratio for k, (ratio, _) in cpu.items() if abs(math.log(ratio)) >= math.log1p(THRESHOLD)}
    return [
        Step(release, term, ratio, math.nan, ratio if working.get((release, term), True) else 1.0)
        for (release, term), ratio in sorted(large.items(), key=lambda item: releases.index(item[0][0]))
    ]
