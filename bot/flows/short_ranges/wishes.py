"""The next trials of a short range: what explanations disagree about, and cells that nothing accounts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.explanations.cells import TRUSTED, Cell, Cells, Floats
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.worth import Contrasts, most_telling
from bot.flows.short_ranges.pool import Pool
from bot.model.change_points import Probe

BATCH, MANY = 3, 90
"""Contrasts wished at once: at least, and cells from which on as the square of these, as a look costs."""
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
REPEATS = 6
"""Trials of a cell at most."""
REPEATED, GLANCES = 2, 5
"""First trials of the emptiest configuration at both ends, and revisions between them."""


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


def first_probes(pool: Pool, revisions: int, *, anchor: int | None) -> list[Probe]:
    """Both ends in the emptiest configuration, repeated, and in the fullest; a few glances between."""
    last = revisions - 1
    ends = [r for r in (0, last) if r != anchor]
    between = sorted({round(x) for x in np.linspace(0, last, GLANCES + 2)} - {0, last})
    sparse, dense = (pool.configurations[i] for i in (pool.sparse, pool.dense))
    probes = [Probe(sparse, r) for r in ends for _ in range(REPEATED)]
    probes += [Probe(dense, r) for r in ends]
    return probes + [Probe(sparse, r) for r in between if r != anchor]


def next_probes(outlook: Outlook, revisions: int, *, in_doubt: bool, certain: bool) -> list[Probe]:
    """Odd cells once more, doubts, and the trials that teach most; empty: nothing teaches enough.

    in_doubt: some step has no sure name. certain: some step is told; while none is, what explanations hold
    by chance would be asked about for long.
    """
    pool, usable = outlook.pool, outlook.pool.usable(revisions)
    batch = max(BATCH, round((len(outlook.cells) / MANY) ** 2))
    wished: list[Cell] = [
        cell
        for cell in sorted(outlook.cells.odd)
        if outlook.cells.repeats and cell[1] != outlook.anchor and outlook.cells.count(cell) < TRUSTED
    ][:batch]
    wished += outlook.doubts
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
    if len(contrasts.configuration):
        for number, worth in most_telling(expected, contrasts, max(batch - len(outlook.doubts) // 2, 0)):
            if worth >= enough:
                wished += contrasts.wished[number]
    return [Probe(pool.configurations[c], r) for c, r in dict.fromkeys(wished)]


def _noises(outlook: Outlook, on: Floats) -> Floats:
    """Relative standard deviation of a trial of each configuration, (n,). on: as in `Scales.noises`.

    How noisy a level is that was never looked at nobody knows: one trial would teach little, for ever.
    """
    scales, holds = outlook.evidence.scales, outlook.pool.holds
    measured, cells = np.unique(outlook.evidence.table.configuration, return_counts=True)
    untried = ~holds[measured[cells > 1]].any(axis=0)
    return np.where(holds[:, untried].any(axis=1), scales.noise, scales.noises(on))


def _contrasts(outlook: Outlook, usable: NDArray[np.bool_], places: list[int]) -> Contrasts:
    """Each usable cell against its configuration's nearest measured ones; new pairs at interesting places."""
    scales, table = outlook.evidence.scales, outlook.evidence.table
    on = outlook.pool.on()
    own = (_noises(outlook, on) * outlook.levels) ** 2
    wander = scales.wander(on.sum(axis=1))
    uneven = np.cumsum((scales.uneven * outlook.moved) ** 2, axis=1)
    counts = {
        (int(c), int(r)): int(n)
        for c, r, n in zip(table.configuration, table.revision, table.count, strict=True)
    }
    rows: list[tuple[int, int, int, float, float]] = []
    wished: list[tuple[Cell, ...]] = []

    def offer(c: int, one: int, other: int, blur: float, *cells: Cell) -> None:
        first, last = min(one, other), max(one, other)
        blur += (last - first) * wander[c] + float(uneven[c, last] - uneven[c, first])
        rows.append((c, first, last, float(len(cells)), blur + 1e-12))
        wished.append(cells)

    for c in range(len(outlook.pool.configurations)):
        measured = table.revision[table.configuration == c]
        known = np.unique(measured if outlook.anchor is None else np.append(measured, outlook.anchor))
        for r in np.flatnonzero(usable[c]).tolist() if len(known) else ():
            times = counts.get((c, r), 0)
            if (times and not outlook.cells.repeats) or times >= REPEATS or r == outlook.anchor:
                continue
            at = int(np.searchsorted(known, r))
            beside = [int(known[at - 1])] if at > 0 else []
            after = at + (at < len(known) and int(known[at]) == r)
            beside += [int(known[after])] if after < len(known) else []
            for other in beside:
                partner = own[c] / counts[c, other] if counts.get((c, other)) else 0.0
                offer(c, r, other, own[c] + partner + 2.0 * scales.misfit**2 * (1 + times), (c, r))
        fresh = [r for r in places if usable[c, r] and r not in known]
        for one, other in combinations(fresh, 2):
            offer(c, one, other, 2.0 * own[c] + 2.0 * scales.misfit**2, (c, one), (c, other))
    columns: list[Floats] = [np.array(column) for column in zip(*rows, strict=True)] or [np.zeros(0)] * 5
    configuration, before, after_ = (column.astype(np.intp) for column in columns[:3])
    return Contrasts(configuration, before, after_, columns[3], columns[4], wished)
