"""The next trials of a short range: what explanations disagree about, and cells that nothing accounts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.explanations.cells import TRUSTED, Bools, Cell, Cells, Floats, Ints
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.worth import Contrasts, most_telling
from bot.flows.short_ranges.pool import Pool
from bot.model.change_points import Probe

BATCH, MANY = 3, 90
"""Contrasts wished at once: at least, and cells from which on as the square of these, as a look costs."""
LARGE, PART = 64, 0.2
"""A batch so large of which only this part would teach enough is not worth its look, which takes seconds."""
DRAWS = 96
"""Explanations that are compared."""
ENOUGH, IN_DOUBT = 0.05, 0.005
"""Nats a trial has to teach; and while a clear step has no sure name."""
CALM = 0.02
"""Relative noise up to which that holds. A trial with twice the noise teaches a quarter of the same step, and
four of them may be worth making: a search that stops there has learnt nothing and has trials left."""
INTERESTING, MOST_INTERESTING, NOTICED = 0.1, 7, 0.02
"""Share of draws with a step (of such a size, in units) at a revision from which on new configurations are
compared there; and at how many revisions."""
GLANCED = 2
"""Cells for each revision of the range from which on revisions without any are looked at, one at a time."""
REPEATS = 6
"""Trials of a cell at most."""


@dataclass(frozen=True)
class Outlook:
    """All that a choice looks at.

    levels: of each configuration, in units, (n_configurations,). moves: see `Kinds.design`. moved: how far
    known steps move each configuration, in units, (n_configurations, n_revisions). anchor: the revision where
    every configuration's value is known beforehand. doubts: trials that come first.
    """

    evidence: Evidence
    ensemble: Ensemble
    cells: Cells
    pool: Pool
    levels: Floats
    moves: NDArray[np.float32]
    moved: Floats
    anchor: int | None
    doubts: Sequence[Cell]


def next_probes(outlook: Outlook, revisions: int, *, in_doubt: bool, certain: bool) -> list[Probe]:
    """Odd cells once more, doubts, and the trials that teach most; empty: too few teach enough.

    in_doubt: some step has no sure name. certain: some step is told; while none is, what explanations hold
    by chance would be asked about for long.
    """
    pool, usable = outlook.pool, outlook.pool.usable()
    batch = max(BATCH, round((len(outlook.cells) / MANY) ** 2))
    wished: list[Cell] = [
        cell
        for cell in sorted(outlook.cells.odd)
        if outlook.cells.repeats and cell[1] != outlook.anchor and outlook.cells.count(cell) < TRUSTED
    ][:batch]
    wished += outlook.doubts
    if len(outlook.cells) >= GLANCED * revisions:
        wished += glance(usable, outlook.evidence.cuts, pool.sparse, pool.dense)
    draws = outlook.ensemble.draws(outlook.evidence, DRAWS, tidy=not certain)
    expected = np.zeros((len(draws), len(pool.configurations), revisions), dtype=np.float32)
    steps: dict[int, int] = {}
    for row, draw in zip(expected, draws, strict=True):
        for (kind, revision), size in draw:
            row[:, revision:] += (size * outlook.moves[:, kind])[:, None]
            if abs(size) > NOTICED:
                steps[revision] = steps.get(revision, 0) + 1
    often = sorted((r for r, n in steps.items() if n >= INTERESTING * len(draws)), key=lambda r: -steps[r])
    places = {0, revisions - 1} | {p for r in often[:MOST_INTERESTING] for p in (r - 1, r)}
    contrasts = _contrasts(outlook, usable, sorted(places))
    enough = IN_DOUBT if in_doubt else ENOUGH
    if outlook.cells.repeats:
        enough *= min(CALM / outlook.evidence.scales.noise, 1.0) ** 2
    if len(contrasts):
        for number, worth in most_telling(expected, contrasts, max(batch - len(outlook.doubts) // 2, 0)):
            if worth >= enough:
                wished += contrasts.wished(number)
    found = [Probe(pool.configurations[c], r) for c, r in dict.fromkeys(wished)]
    return [] if len(found) < PART * batch and batch >= LARGE else found


def glance(usable: Bools, seen: Ints, *configurations: int) -> list[Cell]:
    """The middle of the longest stretch of revisions without a trial, in the first configuration that can.

    What came with one release and went with the next is in no explanation, so none asks for a trial there.
    seen: revisions with trials. Empty: all have one, or can have none.
    """
    known = [-1, *seen.tolist(), usable.shape[1]]
    for configuration in configurations:
        unseen = np.setdiff1d(np.flatnonzero(usable[configuration]), known)
        if len(unseen):
            room = np.abs(np.subtract.outer(unseen, known)).min(axis=1)
            return [(configuration, int(unseen[np.argmax(room)]))]
    return []


def _noises(outlook: Outlook, on: Floats) -> Floats:
    """Relative standard deviation of a trial of each configuration, (n,). on: as in `Scales.noises`.

    How noisy a level is that was never looked at nobody knows: one trial would teach little, for ever.
    """
    scales, holds = outlook.evidence.scales, outlook.pool.holds
    measured, cells = np.unique(outlook.evidence.table.configuration, return_counts=True)
    untried = ~holds[measured[cells > 1]].any(axis=0)
    return np.where(holds[:, untried].any(axis=1), scales.noise, scales.noises(on))


def _contrasts(outlook: Outlook, usable: Bools, places: Sequence[int]) -> Contrasts:
    """Each usable cell against its configuration's nearest measured ones; new pairs at interesting places."""
    table = outlook.evidence.table
    times = np.zeros(usable.shape)
    times[table.configuration, table.revision] = table.count
    known = times > 0
    once_more = usable & (times < REPEATS) & (outlook.cells.repeats | (times == 0))
    if outlook.anchor is not None:
        known[:, outlook.anchor], once_more[:, outlook.anchor] = True, False
    beside = np.stack(_nearest(known), axis=-1)
    c, r, way = np.nonzero(once_more[:, :, None] & (beside >= 0))
    single = np.stack([c, *np.sort([r, beside[c, r, way]], axis=0), way == 1, way == 0])
    fresh, pairs = usable & ~known, np.array([*combinations(places, 2)], dtype=np.intp).reshape(-1, 2)
    c, which = np.nonzero(fresh[:, pairs[:, 0]] & fresh[:, pairs[:, 1]])
    both = np.stack([c, *pairs[which].T, np.ones_like(c), np.ones_like(c)])
    columns = np.concatenate([single, both], axis=1)
    columns = columns[:, np.argsort(columns[0], kind="stable")]  # of what teaches as much the first is taken
    c, ends, asked = columns[0], columns[1:3], columns[3:] > 0
    return Contrasts(c, ends, asked, _blur(outlook, times, c, ends, asked))


def _nearest(known: Bools) -> tuple[Ints, Ints]:
    """The last known revision before each cell and the first one after it; -1: there is none."""
    places = np.arange(known.shape[1])
    upto = np.maximum.accumulate(np.where(known, places, -1), axis=1)
    since = np.minimum.accumulate(np.where(known, places, len(places))[:, ::-1], axis=1)[:, ::-1]
    none = np.full((len(known), 1), -1)
    after = np.concatenate([since[:, 1:], none], axis=1)
    return np.concatenate([none, upto[:, :-1]], axis=1), np.where(after < len(places), after, -1)


def _blur(outlook: Outlook, times: Floats, c: Ints, ends: Ints, asked: Bools) -> Floats:
    """Variance of each comparison but for steps, in squared units.

    times: that each cell was measured, (n_configurations, n_revisions). c: configuration, (n,). ends: two
    revisions of each; asked: whether it would be measured, (2, n).
    """
    scales, on = outlook.evidence.scales, outlook.pool.on()
    own = ((_noises(outlook, on) * outlook.levels) ** 2)[c]
    known = times[c, ends]
    trial = np.where(asked, own, np.where(known > 0, own / np.maximum(known, 1), 0.0)).sum(axis=0)
    misfit = 2.0 * scales.misfit**2 * (1 + np.where(asked, known, 0).max(axis=0))
    uneven = np.cumsum((scales.uneven * outlook.moved) ** 2, axis=1)
    between = (ends[1] - ends[0]) * scales.wander(on.sum(axis=1))[c] + np.diff(uneven[c, ends], axis=0)[0]
    return np.asarray(trial + misfit + between + 1e-12)
