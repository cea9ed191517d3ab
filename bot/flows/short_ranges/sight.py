"""Trials after nothing is in doubt any more: those that make the least visible change more visible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bot.analysis.explanations.cells import Bools, Cell, Cells, Floats
from bot.analysis.explanations.evidence import COARSE, Evidence
from bot.analysis.explanations.findings import Look
from bot.analysis.explanations.visible import least_visible
from bot.flows.short_ranges.pool import Pool
from bot.flows.short_ranges.wishes import REPEATS
from bot.model.change_points import Probe

FUTILE = 0.01
"""Share of what is known of a change that one more trial has to add to it."""
MOST_TRIED, MOST_CELLS = 200, 200
"""Cells that are compared; and from which on looks cost more than such trials are worth."""
BATCH = 10
"""A batch is a tenth of all cells: where nothing is in doubt, looks teach little."""


def sharper(look: Look, cells: Cells, pool: Pool, *, anchor: int | None, sight: float | None) -> list[Probe]:
    """For each level of which changes of such a size (a share) might be missed, what shows most of the worst.

    Empty: there is none, or one more trial would show hardly more. sight: the size; None: all is well.
    """
    if sight is None or len(cells) >= MOST_CELLS:
        return []
    cuts, ratio = look.evidence.cuts, look.evidence.table.ratio
    hidden = [each for each in least_visible(look) if ratio(each[2]) - 1.0 > sight]
    on, enough = pool.on(), FUTILE * look.evidence.information(look.best)
    wished: dict[Cell, None] = {}
    for term, candidate, _ in hidden:
        offered = _offered(look, cells, look.terms.cover(term, look.holds), anchor)
        if offered:
            gains = _gains(look.evidence, look.best, candidate, offered, on)
            best = np.argsort(-gains)[: max(1, len(cells) // (BATCH * len(hidden)))].tolist()
            wished |= {offered[k]: None for k in best if gains[k] > enough[candidate]}
        elif plain := pool.alone(term):  # nothing was measured with it
            ends = ((plain[1], int(r)) for r in (cuts[0], cuts[-1]) if r != anchor)
            usable = pool.usable()
            wished |= {cell: None for cell in ends if usable[cell] and not cells.count(cell)}
    return [Probe(pool.configurations[c], r) for c, r in wished]


def _offered(look: Look, cells: Cells, held: Bools, anchor: int | None) -> list[Cell]:
    """Cells of measured configurations that may be measured once more."""
    measured = [c for c in np.unique(look.evidence.table.configuration).tolist() if held[c]]
    most = REPEATS if cells.repeats else 1
    found = [
        (c, r)
        for c in measured
        for r in np.flatnonzero(look.usable[c]).tolist()
        if r != anchor and cells.count((c, r)) < most
    ]
    return found[:: 1 + len(found) // MOST_TRIED]


def _gains(
    evidence: Evidence, others: Sequence[int], candidate: int, offered: Sequence[Cell], on: Floats
) -> Floats:
    """Information that one more trial of each cell adds on a candidate's size beside other steps."""
    table, scales = evidence.table, evidence.scales
    n, where = len(table.value), np.array(offered, dtype=np.intp)
    levels = table.levels()
    more = replace(
        table,
        configuration=np.concatenate([table.configuration, where[:, 0]]),
        revision=np.concatenate([table.revision, where[:, 1]]),
        value=np.concatenate([table.value, [levels[c] for c, _ in offered]]),
        count=np.concatenate([table.count, np.ones(len(offered), dtype=np.intp)]),
        doubt=np.concatenate([table.doubt, np.ones(len(offered))]),
        within=np.concatenate([table.within, np.zeros(len(offered))]),
        spread=np.concatenate([table.spread, np.zeros(len(offered))]),
    )
    steps = evidence.columns(np.array([*others, candidate], dtype=np.intp), more).astype(np.float64)
    covariance = scales.covariance(more, on) / COARSE + scales.slab**2 * steps[:, :-1] @ steps[:, :-1].T
    same = (table.configuration == where[:, :1]) & (table.revision == where[:, 1:])
    covariance[n:, :n] += same * scales.misfit**2 / COARSE
    inner, across = covariance[:n, :n], covariance[n:, :n]
    explained = np.linalg.solve(inner, across.T).T
    left = np.diag(covariance)[n:] - (explained * across).sum(axis=1)
    news = steps[n:, -1] - explained @ steps[:n, -1]
    return np.asarray(news**2 / np.maximum(left, 1e-12))
