"""How large the judge's steps are in CPU time: one regression of all measured pairs on these steps alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.releases.seconds import Ratios
from benchmarks.releases.steps import Step
from bot.model.space import Configuration, Space, Term

Size = tuple[float, float]
"""Ratio after / before, and twice the standard error of its logarithm."""
Key = tuple[str, Term]


def holds(space: Space, term: Term, configuration: Configuration) -> bool:
    """Whether all levels of a term hold."""
    return all(space.holds(space.level_of[level], configuration) for level in term)


def sizes(space: Space, ratios: Ratios, steps: Sequence[Step], releases: Sequence[str]) -> dict[Key, Size]:
    """Log ratios to the newest release = a constant per configuration + each step from its release on.

    Releases between two steps are thereby repetitions of each other. Empty without pairs.
    """
    place = {release: i for i, release in enumerate(releases)}
    rows = [(r, c, ratio) for (r, c), found in ratios.items() for ratio in found if ratio]
    if not rows:
        return {}
    configurations = list(dict.fromkeys(c for _, c, _ in rows))
    own = np.array([[c == other for other in configurations] for _, c, _ in rows], dtype=np.float64)
    moved = np.array(
        [[place[r] >= place[s.release] and holds(space, s.term, c) for s in steps] for r, c, _ in rows],
        dtype=np.float64,
    )
    design = np.column_stack([own, moved])
    y = np.log([ratio for _, _, ratio in rows])
    solved = np.linalg.lstsq(design, y, rcond=None)[0]
    spread = (y - design @ solved).std() * np.sqrt(len(y) / (len(y) - design.shape[1]))
    errors = spread * np.sqrt(np.diag(np.linalg.pinv(design.T @ design)))
    return {
        (s.release, s.term): (float(np.exp(solved[i])), float(2 * errors[i]))
        for i, s in enumerate(steps, start=len(configurations))
    }
