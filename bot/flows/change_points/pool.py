"""Configurations that may tell a step's likeliest term from its rivals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.change_points.terms import Term
from bot.analysis.change_points.trials import TrialLog
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator

RIVALS = 7
"""So many of them are looked at."""
SHARES = (0.2, 0.4, 0.6, 0.8)
"""How full random configurations are."""
QUICKEST = 10
"""So many of those that were measured: all else being equal they cost least."""


def contrasting(choose: Configurator, log: TrialLog, terms: Sequence[Term]) -> list[Configuration]:
    """Those that hold the first of some terms and not another one, or another one and not the first."""
    sparse, dense = choose.sparse, choose.dense
    lead = terms[0]
    pool: dict[Configuration | None, None] = {}
    for wanted in (sparse, dense):
        pool[choose.near(lead, wanted)] = None
        for level in lead:
            other = choose.without(level)
            rest = [x for x in lead if x != level]
            if other is not None:
                pool[choose.near([*rest, other], wanted)] = None
    for rival in terms[1 : 1 + RIVALS]:
        for term, missing, wishes in ((lead, rival, (sparse, dense)), (rival, lead, (sparse,))):
            for level in missing:
                other = None if level in term else choose.without(level)
                if other is not None:
                    pool.update({choose.near([*term, other], wish): None for wish in wishes})
    for share in SHARES:
        pool[choose.random(share)] = None
    quickest = [k for k in np.argsort(log.means()).tolist() if log.means()[k] > 0.0][:QUICKEST]
    pool.update({c: None for k in quickest if choose.allows(c := log.configurations[k])})
    return [c for c in pool if c is not None]
