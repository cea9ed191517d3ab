"""Trials that put beliefs of a short range to the test: names of options, whom a step misses, noise."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from bot.analysis.change_points.terms import Terms
from bot.analysis.explanations.cells import Cell, Floats, Table
from bot.analysis.explanations.findings import Found
from bot.analysis.explanations.scales import Scales
from bot.flows.short_ranges.pool import Pool
from bot.model.change_points import ChangePoint, Probe

TRIED = 2
"""Configurations other than the plainest one that show a term without one of its levels: in a single one a
third option may undo what the others do."""
REPEATED = 4
"""Second trials of cells from which on it is known whether an option is noisy."""


def doubts(
    found: Sequence[Found], table: Table, pool: Pool, terms: Terms, *, anchor: int | None
) -> list[Cell]:
    """Where explanations agree on several options together: these alone, and each lacking, next to the step.

    Explanations that agree need not be right: what is rare beforehand (one of the options alone moves
    something, too) is in none of them, and then no trial is expected to teach anything there. What was
    compared before in configurations that no other step of the place moves is not asked for again.
    anchor: the revision where every configuration's value is known.
    """
    known = set(zip(table.configuration.tolist(), table.revision.tolist(), strict=True))
    wished: dict[Cell, None] = {}
    for step in (s for s in found if len(s.term) > 1 and s.clear and s.sure):
        others = [s.term for s in found if s is not step and s.at == step.at and s.term]
        asked = [pool.alone(step.term), *(pool.lacking(step.term, level) for level in step.term)]
        for rest, plain in (each for each in asked if each is not None):
            clean = terms.cover(rest, pool.holds)
            for other in others:
                clean = clean & ~terms.cover(other, pool.holds)
            ends = step.at - 1, step.at
            compared = {
                c for c in (*np.flatnonzero(clean).tolist(), plain) if all((c, r) in known for r in ends)
            }
            if plain in compared or (rest != step.term and len(compared) >= TRIED):
                continue
            wished |= dict.fromkeys(_around(plain, step.at, pool, known=known, anchor=anchor))
    return list(wished)


def spared_in_doubt(
    points: Sequence[ChangePoint], table: Table, pool: Pool, terms: Terms, *, anchor: int | None
) -> list[Probe]:
    """Where a step is told to miss some: the fullest configuration of these, next to the step.

    If few that were measured did not move, what else they share may be the reason.
    """
    known = set(zip(table.configuration.tolist(), table.revision.tolist(), strict=True))
    levels = {terms.named((level,)): level for level in terms.levels}
    wished: dict[Cell, None] = {}
    for point, names in ((each, names) for each in points for names in each.spared):
        held = dict.fromkeys((*point.term, *names))
        fullest = pool.choose.near([levels[name,] for name in held], pool.choose.dense)
        if fullest is not None:
            number = pool.number(fullest)
            wished |= dict.fromkeys(_around(number, point.revision, pool, known=known, anchor=anchor))
    return [Probe(pool.configurations[c], r) for c, r in wished]


def _around(
    configuration: int, at: int, pool: Pool, *, known: Collection[Cell], anchor: int | None
) -> list[Cell]:
    """What is not known of a configuration next to a step; empty: it may have no value on one side."""
    cells = [(configuration, at - 1), (configuration, at)]
    usable = pool.usable()
    if not all(usable[cell] for cell in cells):
        return []
    return [cell for cell in cells if cell not in known and cell[1] != anchor]


def noise_in_doubt(scales: Scales, table: Table, on: Floats) -> list[Cell]:
    """Cells to be measured again where an option may be noisy: beside its farthest moves.

    A step takes a second trial to the same value, noise does not. on: 0 or 1, (n_configurations, n_options).
    """
    wished: dict[Cell, None] = {}
    same = table.configuration[1:] == table.configuration[:-1]
    far = np.where(same, np.abs(np.diff(table.value)) / table.level()[1:], -1.0)
    for i in scales.suspected if table.repeats else ():
        held = on[table.configuration, i] > 0.0
        if np.maximum(table.count - 1, 0)[held].sum() < REPEATED:
            place = int(np.argmax(np.where(held[1:], far, -1.0)))
            both = (k for k in (place, place + 1) if table.count[k])
            wished |= {(int(table.configuration[k]), int(table.revision[k])): None for k in both}
    return list(wished)
