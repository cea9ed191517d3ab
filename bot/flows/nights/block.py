"""Configurations that a night compares next: those that hold likely terms that were compared least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from bot.analysis.change_points.steps import StepModel
from bot.flows.nights.sight import suspicion
from bot.flows.nights.window import Window
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator

BLOCK, DRAWN, SHARES = 8, 32, (0.3, 0.5, 0.65, 0.8)
"""Configurations that are compared at once, of how many drawn, with which shares of their options on."""
MOST_CONFIGURATIONS = 160
"""Configurations of a night; a longer one measures these again: it teaches as much, and less is kept."""


def next_block(
    model: StepModel,
    window: Window,
    choose: Configurator,
    compared: Counter[Configuration],
    among: Sequence[Configuration] = (),
) -> list[Configuration]:
    """Configurations to compare next, which are counted in `compared`, how often each was tonight.

    A term that no night has shown counts double; tonight's configurations come again when there are no
    others, or enough of them. among: the only ones, where others failed; empty: any.
    """
    terms, log, drawn = model.terms, model.log, list(among or compared)
    if not among and len(compared) < MOST_CONFIGURATIONS:
        drawn = [choose.random(share) for share in SHARES * (DRAWN // len(SHARES))]
    pool = [c for c in dict.fromkeys(drawn) if c not in log.place] or list(dict.fromkeys(drawn))
    shown = terms.covers(np.array([log.holding(c) for c in pool]))
    rows = [log.row(c) for c in compared]  # what was left out because it would fail is new to the log
    covers = terms.covers(log.holds)
    wanted = suspicion(model, window) * (1.0 + (covers.sum(axis=1) == 0))
    seen = covers[:, rows] @ np.array(list(compared.values()), dtype=np.float64)
    found: list[Configuration] = []
    for _ in range(min(BLOCK, len(pool))):
        scores = (wanted / (1.0 + seen)) @ shown
        scores[[pool.index(c) for c in found]] = -1.0
        best = int(np.argmax(scores))
        found.append(pool[best])
        seen += shown[:, best]
    compared.update(found)
    return found
