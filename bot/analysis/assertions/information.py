"""How much two labellings of the same calls say about each other, beyond chance."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from bot.model.assertions import Floats

REACH = 12.0
"""Standard deviations of a hypergeometric count that are summed; beyond, all weighs less than rounding."""


def adjusted_mutual_information(table: Floats) -> float:
    """Of a contingency table of whole counts, (n_labels, n_other_labels): 0 by chance, 1 when the same.

    Vinh, Epps and Bailey (JMLR 2010) with the mean of both entropies; a labelling of one label says nothing:
    0.
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return 0.0
    total, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    seen = table > 0
    both = np.outer(rows, columns)[seen] / total
    told = float((table[seen] * np.log(table[seen] / both)).sum() / total)
    chance = sum(_expected(float(a), float(b), float(total)) for a in rows for b in columns)
    most = (_entropy(rows / total) + _entropy(columns / total)) / 2
    return (told - chance) / max(most - chance, 1e-12)


def _entropy(shares: Floats) -> float:
    return -float((shares * np.log(shares)).sum())


def _expected(row: float, column: float, total: float) -> float:
    """One cell's expected share of the mutual information, were its row and column independent."""
    mean = row * column / total
    spread = np.sqrt(mean * (total - row) / total * (total - column) / max(total - 1, 1))
    low = max(1.0, row + column - total, np.floor(mean - REACH * spread - REACH))
    high = min(row, column, np.ceil(mean + REACH * spread + REACH))
    count = np.arange(low, high + 1)
    log = (
        gammaln([row + 1, column + 1, total - row + 1, total - column + 1]).sum()
        - gammaln(total + 1)
        - gammaln(count + 1)
        - gammaln(row - count + 1)
        - gammaln(column - count + 1)
        - gammaln(total - row - column + count + 1)
    )
    return float((np.exp(log) * count / total * np.log(count / mean)).sum())
