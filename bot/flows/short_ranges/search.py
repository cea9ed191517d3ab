"""Our search in short ranges, where steps are dense: explanations, and what would tell them apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.terms import Terms
from bot.analysis.explanations.afresh import of_steps, wide, worth
from bot.analysis.explanations.cells import Cells, Floats, Table
from bot.analysis.explanations.conjunctions import conjunctions, none_of, who_moved
from bot.analysis.explanations.doubtful import doubtful
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence, Kinds
from bot.analysis.explanations.findings import Found, Look, agreed, covers_of, steps_of
from bot.analysis.explanations.learning import ODD, learn
from bot.analysis.explanations.moves import Moves
from bot.analysis.explanations.one_sided import one_sided
from bot.analysis.explanations.scales import Scales
from bot.analysis.explanations.spared import spared
from bot.analysis.explanations.telling import told
from bot.analysis.explanations.visible import visible_changes
from bot.flows.short_ranges.doubts import doubts, noise_in_doubt
from bot.flows.short_ranges.pool import Pool
from bot.flows.short_ranges.sight import sharper
from bot.flows.short_ranges.wishes import Outlook, first_probes, next_probes
from bot.model.change_points import ChangePoint, Doubt, Observation, Probe
from bot.model.report import Visible
from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator

MOST_REVISIONS, MOST_CANDIDATES = 120, 200_000
"""Ranges that are short: so many revisions, and revisions x pairs of levels (counted twice)."""
STEPS_PER_REVISION, FEW_STEPS, CELLS_PER_STEP = 0.3, 12.0, 8
"""Expected beforehand; beyond a few no more than cells can show: with thirty steps expected of forty noisy
cells each cell has a step of its own."""
FEW_CELLS, MORE_CELLS = 20, 1.5
"""Noise is learned from so many cells on though nothing moved, and doubted; again with so many times more."""
BLURRY = 2.0
"""So much blur (`Scales.lively`, 1 beforehand) may hide steps although some are clear."""


class ShortRangeFinder:
    """Change points of a short range by active measurement; satisfies `ChangePointSearch`.

    Model: a trial's seconds are its configuration's level plus the sizes of all steps before its revision
    whose term it holds (in seconds, or as a share of the level), blurred by noise, by small changes in
    every revision and by what no sum describes; the scales of all three are learned. Explanations (sets of
    steps) are drawn from the posterior; the next trials are those about which they disagree most.

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
        self._kinds = Kinds.of(self.terms_)
        choose = Configurator(space, solver, rng=rng, candidates=candidates)
        self._pool = Pool(space, self.terms_, choose, candidates=candidates, anchor=anchor)
        self._cells, self._ensemble = Cells(anchor), Ensemble(rng)
        self._scales, self._threshold = Scales.for_changes(threshold), threshold
        self._look: Look | None = None
        self._found: Sequence[Found] = ()
        self._in_shared_words: Sequence[Found] | None = None
        self._wished: list[Probe] | None = None
        self._begun, self._sight, self.settled_ = False, sight, False
        self._doubted = float(FEW_CELLS)
        self._measured: Mapping[int, float] = {}

    @staticmethod
    def fits(space: Space, revisions: int) -> bool:
        """Whether a range is short enough for the levels of a space, of which all pairs are looked at."""
        return 2 < revisions <= MOST_REVISIONS and len(space.levels) ** 2 * revisions <= MOST_CANDIDATES

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the trials so far show, in order of revision."""
        if self._look is None:
            return ()
        steps, look = self._agreed(), self._look
        return told(steps, look, self.revisions, spared=partial(spared, found=steps, look=look))

    @property
    def doubts_(self) -> Sequence[Doubt]:
        """Where something surely moved that has no sure name, in order of revision."""
        return () if self._look is None else doubtful(self._look, self._agreed())

    @property
    def visible_(self) -> Visible:
        """How small a lasting change of each option would have been found."""
        return Visible() if self._look is None else visible_changes(self._look, self.space)

    def _agreed(self) -> Sequence[Found]:
        """The steps as they are told; the search itself goes on with those of the best explanation."""
        if self._in_shared_words is None:
            self._in_shared_words = () if self._look is None else one_sided(agreed(self._look), self._look)
        return self._in_shared_words

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
        self._explain()
        return self

    def _explain(self) -> None:
        """Draws explanations of what is known now."""
        table = self._cells.table()
        if len(np.unique(table.revision)) < 2:
            return
        on = self._pool.on()
        self._scales = replace(self._scales, unit=table.unit(self._pool.sparse))
        # Where in the range a configuration was measured says nothing of its level.
        self._measured = self._measured or table.levels()
        beyond = self._known().beyond_average(table, self.revisions)
        self._measured = table.levels(self._scales.unit * beyond)
        moved = None
        if self._found or len(self._cells) >= FEW_CELLS:
            known = self._known()
            moved = known.by_revision(self.revisions)
            scales = learn(self._scales, table, on, steps=known.design(table), sizes=known.sizes, moved=moved)
            if not self._found and scales.noise > Scales.noise:
                # What moves and was not found yet may be taken for more noise than is usual.
                scales = replace(self._scales, noise=max(self._scales.noise, Scales.noise))
            self._scales = scales
        self._look_at(table, on, moved)

    def _look_at(self, table: Table, on: Floats, moved: Floats | None = None) -> None:
        places = who_moved(table, self._scales.noises(on))
        larger = conjunctions(places, self._pool.holds, self.terms_)
        self._kinds = self._kinds.grow([*larger, *none_of(self._found, self.terms_)])
        self._pool.refine(places)
        evidence = self._evidence_of(table, on, self._scales, moved)
        self._ensemble.look(evidence)
        self._look = Look.of(
            self._ensemble,
            evidence,
            self.terms_,
            holds=self._pool.holds,
            usable=self._pool.usable(self.revisions),
            least=self._threshold,
        )
        self._found, self._in_shared_words = steps_of(self._look), None
        surprise = np.abs(evidence.surprise(self._ensemble.best_))
        cells = zip(table.configuration.tolist(), table.revision.tolist(), strict=True)
        self._cells.odd = {cell for cell, far in zip(cells, surprise, strict=True) if far > ODD}

    def _explain_otherwise(self, known: Evidence) -> bool:
        """Whether other units, or steps instead of blur, explain all better; else it leaves no trace."""
        if wide(known.table) and self._explain_afresh(known, in_other_units=True):
            return True
        clear = any(step.clear for step in self._found)
        return not (clear and self._scales.lively < BLURRY) and self._explain_afresh(known)

    def _explain_afresh(self, known: Evidence, *, in_other_units: bool = False) -> bool:
        on, kept = self._pool.on(), (self._scales, self._ensemble, self._measured)
        moved, best = self._known().by_revision(self.revisions), self._ensemble.best_
        so_far = worth(known, best, on, scales=self._scales, moved=moved, in_seconds=in_other_units)
        self._cells.relative ^= in_other_units
        table = self._cells.table() if in_other_units else known.table
        self._measured = table.levels() if in_other_units else self._measured
        beforehand = replace(Scales.for_changes(self._threshold), unit=table.unit(self._pool.sparse))
        self._scales = beforehand.wide_enough(table)
        self._ensemble = Ensemble(*self._rng.spawn(1))
        under = partial(self._evidence_of, table, on)
        scales = of_steps(
            under, self._ensemble, on, beforehand=self._scales, known=so_far, in_other_units=in_other_units
        )
        if scales is None:
            self._cells.relative ^= in_other_units
            self._scales, self._ensemble, self._measured = kept
            return False
        self._scales = scales
        self._look_at(table, on)
        return True

    def _evidence_of(self, table: Table, on: Floats, scales: Scales, moved: Floats | None = None) -> Evidence:
        return Evidence(
            table,
            self._kinds,
            scales,
            on=on,
            design=self._moves()[1],
            expected=self._expected(table),
            revisions=self.revisions,
            moved=moved,
        )

    def _expected(self, table: Table) -> float:
        """Number of steps beforehand."""
        shown = max(FEW_STEPS, len(table.value) / CELLS_PER_STEP)
        return min(STEPS_PER_REVISION * self.revisions, shown)

    def _levels(self) -> Floats:
        """Of all configurations, in units."""
        return self._pool.levels(self._measured) / self._scales.unit

    def _moves(self) -> tuple[Floats, NDArray[np.float32]]:
        """Level of each configuration, in units, and how far each kind of step moves it."""
        levels = self._levels()
        covers, holds = self.terms_.remembered(self._pool.holds), self._pool.holds
        grown = self.terms_.covers_of(self._kinds.grown, holds)
        return levels, self._kinds.design(np.hstack([covers, grown], dtype=np.float32).T, levels)

    def _known(self) -> Moves:
        """What the steps of the best explanation move."""
        return Moves(self._found, covers_of(self._found, self.terms_, self._pool.holds), self._levels())

    def _next(self) -> list[Probe]:
        if self.revisions < 2:
            return []
        if not self._begun:
            self._begun = True
            return first_probes(self._pool, self.revisions, anchor=self._anchor)
        if self._look is None:
            return self._pool.anything(self.revisions, self._rng)
        if alone := self._pool.untried(self.revisions):
            # Where something worked does not fail whatever is asked there.
            newest = max(r for _, r in self._pool.failures.worked if r != self._anchor)
            return [Probe(self._pool.configurations[c], newest) for c in alone]
        if len(self._cells) >= self._doubted:
            self._doubted = MORE_CELLS * len(self._cells)
            self._explain_otherwise(self._look.evidence)
        wished = self._most_telling(self._look.evidence)
        if not wished and self._explain_otherwise(self._look.evidence):
            wished = self._most_telling(self._look.evidence)
        self.settled_ = not wished
        return wished or sharper(self._look, self._cells, self._pool, anchor=self._anchor, sight=self._sight)

    def _most_telling(self, evidence: Evidence) -> list[Probe]:
        """What explanations disagree about most; empty: nothing teaches enough."""
        self._pool.grow(self._ensemble, evidence)
        table = evidence.table
        doubted = doubts(
            self._found, table, self._pool, self.terms_, revisions=self.revisions, anchor=self._anchor
        )
        doubted += noise_in_doubt(self._scales, table, self._pool.on())
        levels, moves = self._moves()
        return next_probes(
            Outlook(
                evidence,
                self._ensemble,
                self._cells,
                self._pool,
                levels=levels,
                moves=moves,
                moved=self._known().by_revision(self.revisions),
                anchor=self._anchor,
                doubts=doubted,
            ),
            self.revisions,
            in_doubt=any(step.clear and not step.sure for step in self._found),
        )
