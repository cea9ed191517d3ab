"""What is asked of a bisection, and the search for change points that answers."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bot.model.change_points import ChangePointSearch
from bot.model.space import Configuration, Space
from bot.model.subject import Subject
from bot.sampling.constraints import ConstraintSolver
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.flows.change_points.search import ChangePointFinder

SIGHT = 0.05
"""Changes of such a share should be found wherever trials allow it."""


@dataclass(frozen=True)
class AskedRange:
    """What the command line (or the action) asks of a bisection.

    good, bad: the ends of the range. trials: how many may be run (None: the seconds decide alone).
    tags: whether only tagged revisions are looked at. cache: where built trees are kept. simulated: whether a
    table or a callable may be the subject. settings: of the run whose trials enter the history, None: they do
    not. history: `--history`.
    """

    good: str
    bad: str
    config: Path | None = None
    budget: float | None = None
    trials: int | None = None
    seed: int = 0
    estimator: str = "ours"
    tags: bool = False
    cache: Path | None = None
    repository: Path = Path()
    simulated: bool = True
    settings: Settings | None = None
    history: str | None = None


def search_of(
    asked: AskedRange,
    subject: Subject,
    revisions: int,
    *,
    rng: np.random.Generator,
    candidates: Collection[Configuration] | None = None,
    seconds: float = math.inf,
    anchor: int | None = None,
) -> ChangePointSearch:
    """The estimator that was asked for; in short ranges ours is another one than in long ones.

    seconds: how long all trials may take, as their values say. anchor: the revision that ratios are to.
    """
    from bot.flows.published.search import PublishedSearch
    from bot.flows.ranges.chaining import Chained
    from bot.flows.ranges.handing_over import HandingOver, fits
    from bot.flows.short_ranges.search import ShortRangeFinder

    space, solver, least = subject.space, ConstraintSolver(subject.space), float(subject.threshold)
    if asked.estimator == "published":
        return Chained(
            PublishedSearch(
                space, revisions, solver, rng=rng, candidates=candidates, most_measurements=asked.trials
            )
        )
    short = partial(
        ShortRangeFinder,
        space,
        revisions,
        solver,
        rng=rng,
        candidates=candidates,
        anchor=anchor,
        threshold=least,
        sight=max(SIGHT, least),
    )
    if ShortRangeFinder.fits(space, revisions):
        return short()
    wide, followed = _halving(
        space,
        revisions,
        solver,
        rng=rng,
        candidates=candidates,
        trials=asked.trials,
        seconds=seconds,
        threshold=least,
    )
    halving = Chained(followed)
    if fits(len(space.levels), revisions):
        return HandingOver(halving, noise=lambda: wide.noise_, explaining=short())
    return halving


def long_range(
    space: Space,
    revisions: int,
    solver: ConstraintSolver,
    *,
    rng: np.random.Generator,
    candidates: Collection[Configuration] | None = None,
    trials: int | None = None,
    seconds: float = math.inf,
    threshold: float = 0.01,
) -> ChangePointSearch:
    """Our search of a long range; closer looks follow it unless a space has too many levels for them."""
    return _halving(
        space,
        revisions,
        solver,
        rng=rng,
        candidates=candidates,
        trials=trials,
        seconds=seconds,
        threshold=threshold,
    )[1]


def _halving(
    space: Space,
    revisions: int,
    solver: ConstraintSolver,
    *,
    rng: np.random.Generator,
    candidates: Collection[Configuration] | None,
    trials: int | None,
    seconds: float,
    threshold: float,
) -> tuple[ChangePointFinder, ChangePointSearch]:
    """The search of a long range by itself, and followed by closer looks."""
    from bot.flows.change_points.closer_looks import MOST_PLACES, CloserLooks
    from bot.flows.change_points.search import ChangePointFinder
    from bot.flows.short_ranges.search import ShortRangeFinder

    followed = ShortRangeFinder.fits(space, MOST_PLACES)
    wide = ChangePointFinder(
        space,
        revisions,
        solver,
        rng=rng,
        candidates=candidates,
        trials=trials,
        seconds=seconds,
        followed=followed,
    )

    def short(count: int, least: float) -> ShortRangeFinder:
        return ShortRangeFinder(space, count, solver, rng=rng, candidates=candidates, threshold=least)

    return wide, CloserLooks(space, wide, short, revisions, threshold) if followed else wide
