"""Our search in short ranges, where steps are dense: the trials that tell explanations apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Self

import numpy as np

from bot.analysis.change_points.terms import Terms
from bot.analysis.explanations.cells import Cells
from bot.analysis.explanations.doubtful import doubtful
from bot.analysis.explanations.findings import Look
from bot.analysis.explanations.spared import spared
from bot.analysis.explanations.telling import told
from bot.analysis.explanations.visible import visible_changes
from bot.flows.short_ranges.beginning import begin, late
from bot.flows.short_ranges.doubts import doubts, noise_in_doubt, spared_in_doubt
from bot.flows.short_ranges.explaining import FEW_CELLS, Explainer
from bot.flows.short_ranges.pool import Pool
from bot.flows.short_ranges.sight import sharper
from bot.flows.short_ranges.wishes import Outlook, next_probes
from bot.model.change_points import ChangePoint, Doubt, Observation, Probe
from bot.model.report import Visible
from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator

MOST_REVISIONS, MOST_CANDIDATES = 120, 200_000
"""Ranges that are short: so many revisions, and revisions x pairs of levels (counted twice)."""
DOUBTED = 1.5
"""Noise and units are doubted as soon as noise is learned; again with so many times more cells."""


class ShortRangeFinder:
    """Change points of a short range by active measurement; satisfies `ChangePointSearch`.

    Explanations (sets of steps) are drawn from the posterior; the next trials are those about which they
    disagree most.

    Args:
        space: options and constraints.
        revisions: length of the range.
        solver: of the space.
        rng: source of randomness.
        candidates: the only configurations that can be measured (a table's); None: all valid ones.
        anchor: values are ratios to this revision; None: seconds.
        threshold: changes that are surely smaller, as a share, are neither looked for nor told.
        sight: once nothing is in doubt trials go on until changes of such a share would be found; None: they
            do not.

    settled_: nothing is in doubt any more.
    """

    def __init__(
        self,
        space: Space,
        revisions: int,
        solver: ConstraintSolver,
        *,
        rng: np.random.Generator,
        candidates: Collection[Configuration] | None = None,
        anchor: int | None = None,
        threshold: float = 0.01,
        sight: float | None = None,
    ) -> None:
        self.space, self.revisions, self._anchor, self._rng = space, revisions, anchor, rng
        self.terms_ = Terms(space, possible=solver.possible, equivalent=solver.equivalent)
        choose = Configurator(space, solver, rng=rng, candidates=candidates)
        self._pool = Pool(space, self.terms_, choose, revisions, candidates=candidates, anchor=anchor)
        self._cells = Cells(anchor)
        self._explainer = Explainer(
            self.terms_, self._pool, revisions, cells=self._cells, rng=rng, threshold=threshold
        )
        self._wished: list[Probe] | None = None
        self._beginning = begin(self._pool, revisions, anchor=anchor, rng=rng)
        self._sight, self.settled_ = sight, False
        self._doubted = float(FEW_CELLS)

    @staticmethod
    def fits(space: Space, revisions: int) -> bool:
        """Whether a range is short enough for the levels of a space, of which all pairs are looked at."""
        return 2 < revisions <= MOST_REVISIONS and len(space.levels) ** 2 * revisions <= MOST_CANDIDATES

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the trials so far show, in order of revision."""
        look = self._explainer.look_
        if look is None:
            return ()
        steps = self._explainer.agreed()
        return told(steps, look, self.revisions, spared=partial(spared, found=steps, look=look))

    @property
    def doubts_(self) -> Sequence[Doubt]:
        """Where something surely moved that has no sure name, in order of revision."""
        look = self._explainer.look_
        return () if look is None else doubtful(look, self._explainer.agreed(), self.change_points_)

    @property
    def visible_(self) -> Visible:
        """How small a lasting change of each option would have been found."""
        look = self._explainer.look_
        return Visible() if look is None else visible_changes(look, self.space)

    def wishes(self) -> Sequence[Probe]:
        """The next trials; empty: nothing is left to learn."""
        if self._wished is None:
            self._wished = self._next()
        return tuple(self._wished)

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in any trials."""
        for o in observations:
            number = self._pool.number(o.probe.configuration)
            cell, worked = (number, o.probe.revision), bool(np.isfinite(o.value))
            if worked:
                self._cells.add(cell, o.value, o.anchor)
            if self._anchor is not None and o.built:
                works = o.anchor > 0.0
                self._pool.failures.answered((number, self._anchor), built=True, worked=works)
                if not works:  # of this revision nothing is known
                    continue
            self._pool.failures.answered(cell, built=o.built, worked=worked)
        if self._wished is not None:
            for probe in self._wished:  # answered by something else (a table's nearest): not asked again
                self._pool.failures.silent((self._pool.number(probe.configuration), probe.revision))
        self._wished = None
        self._explainer.look()
        return self

    def _next(self) -> list[Probe]:
        if self.revisions < 2:
            return []
        for first in self._beginning:
            if first:
                return first
        if self._explainer.look_ is None:
            return []
        if edges := self._pool.failures.edges():
            return [Probe(self._pool.configurations[c], r) for c, r in edges]
        if untried := self._pool.untried():
            self._beginning = late(self._pool, untried, self.revisions)
            return self._next()
        if len(self._cells) >= self._doubted:
            self._doubted = DOUBTED * len(self._cells)
            self._explainer.look_otherwise()
        wished = self._most_telling(self._explainer.look_)
        if not wished and self._explainer.look_otherwise():
            wished = self._most_telling(self._explainer.look_)
        look = self._explainer.look_
        wished = wished or spared_in_doubt(
            self.change_points_, look.evidence.table, self._pool, self.terms_, anchor=self._anchor
        )
        self.settled_ = not wished
        return wished or sharper(look, self._cells, self._pool, anchor=self._anchor, sight=self._sight)

    def _most_telling(self, look: Look) -> list[Probe]:
        """What explanations disagree about most; empty: nothing teaches enough."""
        explainer, evidence = self._explainer, look.evidence
        self._pool.grow(explainer.ensemble_, evidence)
        found = explainer.found_
        doubted = doubts(found, evidence.table, self._pool, self.terms_, anchor=self._anchor)
        doubted += noise_in_doubt(explainer.scales_, evidence.table, self._pool.on())
        levels, moves = explainer.moves()
        return next_probes(
            Outlook(
                evidence,
                explainer.ensemble_,
                self._cells,
                self._pool,
                levels=levels,
                moves=moves,
                moved=explainer.known().by_revision(self.revisions),
                anchor=self._anchor,
                doubts=doubted,
            ),
            self.revisions,
            in_doubt=any(step.clear and not step.sure for step in found),
            certain=any(step.certain for step in found),
        )
