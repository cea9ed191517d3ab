"""Sparse non-negative least squares: the few stressors whose times add up to a program's times."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from bot.analysis.machines.hardware import Floats

MOST = 4
"""Stressors of a profile: more cannot be told apart on a dozen machines."""
EXACT = 0.01
"""Relative error that no measurement is better than; without it a perfect fit would have no price."""


def pursue(work: Floats, seconds: Floats, weights: Floats | None = None) -> Floats:
    """Non-negative coefficients, (n_stressors,), most of them 0, so that work @ coefficients is near seconds.

    work: (n, n_stressors), relative time of an operation. seconds: (n,), positive. weights: of the machines,
    (n,), sum n. Errors are relative. The best stressor, the best two and up to `MOST` are fitted; how many it
    shall be is decided by Akaike's criterion for small samples (Hurvich and Tsai 1989).
    """
    n = len(seconds)
    root = np.sqrt(np.ones(n) if weights is None else weights)
    columns, target = work / seconds[:, None] * root[:, None], root
    best, found = np.inf, np.zeros(work.shape[1])
    for chosen in _candidates(columns, target):
        coefficients, norm = nnls(columns[:, chosen], target)
        parameters = len(chosen) + 1
        if parameters >= n - 1:
            break
        price = 2 * parameters * n / (n - parameters - 1)
        criterion = n * np.log(norm**2 / n + EXACT**2) + price
        if criterion < best:
            best, found = criterion, np.zeros(work.shape[1])
            found[chosen] = coefficients
    return found


def _candidates(columns: Floats, target: Floats) -> list[list[int]]:
    """The best single column, the best pair of all, what is best added to it one by one, and less of that."""
    gram, product = columns.T @ columns, columns.T @ target
    square = np.diag(gram)
    found = [[int(np.argmax(product**2 / square))]]
    determinant = square[:, None] * square - gram**2
    apart = determinant > 1e-9 * square[:, None] * square  # else they are one column
    determinant = np.where(apart, determinant, 1.0)
    first = (product[:, None] * square - gram * product) / determinant
    gained = np.where(
        apart & (first > 0) & (first.T > 0), first * product[:, None] + first.T * product, -np.inf
    )
    if not np.isfinite(gained.max()):
        return found
    chosen = [int(i) for i in np.unravel_index(int(gained.argmax()), gained.shape)]
    found.append(chosen)
    while len(chosen) < min(MOST, columns.shape[1]):
        rest = [j for j in range(columns.shape[1]) if j not in chosen]
        norms = [nnls(columns[:, [*chosen, j]], target)[1] for j in rest]
        chosen = [*chosen, rest[int(np.argmin(norms))]]
        # What was taken first may no longer be needed.
        found += [chosen, *([j for j in chosen if j != out] for out in chosen)]
    return found
