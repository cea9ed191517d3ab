"""What the trials of a short range say so far: explanations under scales that are learned from them, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.terms import Terms
from bot.analysis.explanations.afresh import of_steps, wide, worth
from bot.analysis.explanations.cells import Cells, Floats, Table
from bot.analysis.explanations.conjunctions import conjunctions, none_of, who_moved
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence, Kinds
from bot.analysis.explanations.findings import Found, Look, agreed, covers_of, steps_of
from bot.analysis.explanations.learning import ODD, learn
from bot.analysis.explanations.moves import Moves
from bot.analysis.explanations.one_sided import one_sided
from bot.analysis.explanations.pruning import pruned
from bot.analysis.explanations.scales import Scales
from bot.flows.short_ranges.pool import Pool

STEPS_PER_REVISION, FEW_STEPS, CELLS_PER_STEP = 0.3, 12.0, 8
"""Expected beforehand; beyond a few no more than cells can show: with thirty steps expected of forty noisy
cells each cell has a step of its own."""
FEW_CELLS = 20
"""Noise is learned from so many cells on though nothing moved."""
BLURRY = 2.0
"""So much blur (`Scales.lively`, 1 beforehand) may hide steps although some are clear."""


class Explainer:
    """Explains the cells of a short range, again and again.

    Model: a trial's seconds are its configuration's level plus the sizes of all steps before its revision
    whose term it holds (in seconds, or as a share of the level), blurred by noise, by small changes in
    every revision and by what no sum describes; the scales of all three are learned.

    Args:
        terms: what steps may be called.
        pool: the configurations of the cells.
        revisions: length of the range.
        cells: the trials; whoever measures adds to them.
        rng: source of randomness.
        threshold: changes that are surely smaller, as a share, are not looked for.

    look_: the last look at them; None: there are too few. found_: the steps of its best explanation.
    ensemble_, scales_: what was drawn, and under which scales.
    """

    def __init__(
        self,
        terms: Terms,
        pool: Pool,
        revisions: int,
        *,
        cells: Cells,
        rng: np.random.Generator,
        threshold: float,
    ) -> None:
        self._terms, self._pool, self._revisions = terms, pool, revisions
        self._cells, self._rng, self._threshold = cells, rng, threshold
        self._kinds = Kinds.of(terms)
        self.ensemble_, self.scales_ = Ensemble(rng), Scales.for_changes(threshold)
        self.look_: Look | None = None
        self.found_: Sequence[Found] = ()
        self._in_shared_words: Sequence[Found] | None = None
        self._measured: Mapping[int, float] = {}

    def look(self) -> None:
        """Draws explanations of what is known now."""
        table = self._cells.table()
        if len(np.unique(table.revision)) < 2:
            return
        self.scales_ = replace(self.scales_, unit=table.unit(self._pool.sparse))
        # Where in the range a configuration was measured says nothing of its level.
        self._measured = self._measured or table.levels()
        beyond = self.known().beyond_average(table, self._revisions)
        self._measured = table.levels(self.scales_.unit * beyond)
        moved = None
        if self.found_ or len(self._cells) >= FEW_CELLS:
            known = self.known()
            moved = known.by_revision(self._revisions)
            self._learn(table, known, moved)
        self._look_at(table, moved)

    def _learn(self, table: Table, known: Moves, moved: Floats) -> None:
        design, on = known.design(table), self._pool.on()
        scales = learn(self.scales_, table, on, steps=design, sizes=known.sizes, moved=moved)
        if not self.found_ and scales.noise > Scales.noise:
            # What moves and was not found yet may be taken for more noise than is usual.
            scales = replace(self.scales_, noise=max(self.scales_.noise, Scales.noise))
        self.scales_ = scales

    def _look_at(self, table: Table, moved: Floats | None = None) -> None:
        on = self._pool.on()
        places = who_moved(table, self.scales_.noises(on))
        larger = conjunctions(places, self._pool.holds, self._terms)
        self._kinds = self._kinds.grow([*larger, *none_of(self.found_, self._terms)])
        self._pool.refine(places)
        evidence = self._evidence_of(table, on, self.scales_, moved)
        self.ensemble_.look(evidence)
        self.look_ = Look.of(
            self.ensemble_,
            evidence,
            self._terms,
            holds=self._pool.holds,
            usable=self._pool.usable(),
            least=self._threshold,
        )
        self.found_, self._in_shared_words = steps_of(self.look_), None
        surprise = np.abs(evidence.surprise(self.ensemble_.best_))
        cells = zip(table.configuration.tolist(), table.revision.tolist(), strict=True)
        self._cells.odd = {cell for cell, far in zip(cells, surprise, strict=True) if far > ODD}

    def agreed(self) -> Sequence[Found]:
        """The steps of the last look as they are told; the search goes on with those of the best one."""
        if self._in_shared_words is None:
            look = self.look_
            self._in_shared_words = () if look is None else one_sided(agreed(look), look)
        return self._in_shared_words

    def look_otherwise(self) -> bool:
        """Whether other units, or steps instead of blur, explain all better; else it leaves no trace."""
        if self.look_ is None:
            return False
        known = self.look_.evidence
        if wide(known.table) and self._look_afresh(known, in_other_units=True):
            return True
        clear = any(step.clear for step in self.found_)
        return not (clear and self.scales_.lively < BLURRY) and self._look_afresh(known)

    def _look_afresh(self, known: Evidence, *, in_other_units: bool = False) -> bool:
        on, kept = self._pool.on(), (self.scales_, self.ensemble_, self._measured)
        moved, best = self.known().by_revision(self._revisions), pruned(known, self.ensemble_.best_)
        so_far = worth(known, best, on, scales=self.scales_, moved=moved, in_seconds=in_other_units)
        self._cells.relative ^= in_other_units
        table = self._cells.table() if in_other_units else known.table
        self._measured = table.levels() if in_other_units else self._measured
        beforehand = replace(Scales.for_changes(self._threshold), unit=table.unit(self._pool.sparse))
        self.scales_ = beforehand.wide_enough(table)
        self.ensemble_ = Ensemble(*self._rng.spawn(1))
        under = partial(self._evidence_of, table, on)
        scales = of_steps(
            under, self.ensemble_, on, beforehand=self.scales_, known=so_far, in_other_units=in_other_units
        )
        if scales is None:
            self._cells.relative ^= in_other_units
            self.scales_, self.ensemble_, self._measured = kept
            return False
        self.scales_ = scales
        self._look_at(table)
        return True

    def _evidence_of(self, table: Table, on: Floats, scales: Scales, moved: Floats | None = None) -> Evidence:
        return Evidence(
            table,
            self._kinds,
            scales,
            on=on,
            design=self.moves()[1],
            expected=self._expected(table),
            revisions=self._revisions,
            moved=moved,
        )

    def _expected(self, table: Table) -> float:
        """Number of steps beforehand."""
        shown = max(FEW_STEPS, len(table.value) / CELLS_PER_STEP)
        return min(STEPS_PER_REVISION * self._revisions, shown)

    def _levels(self) -> Floats:
        """Of all configurations, in units."""
        return self._pool.levels(self._measured) / self.scales_.unit

    def moves(self) -> tuple[Floats, NDArray[np.float32]]:
        """Level of each configuration, in units, and how far each kind of step moves it."""
        levels = self._levels()
        covers, holds = self._terms.remembered(self._pool.holds), self._pool.holds
        grown = self._terms.covers_of(self._kinds.grown, holds)
        return levels, self._kinds.design(np.hstack([covers, grown], dtype=np.float32).T, levels)

    def known(self) -> Moves:
        """What the steps of the best explanation move."""
        return Moves(self.found_, covers_of(self.found_, self._terms, self._pool.holds), self._levels())
