"""Unit costs of counted events: prior figures, and a fit of them to kernels that were timed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from bot.model.resources import Count

PRIOR: Mapping[Count, float] = {
    "instructions": 0.1e-9,
    "branch_misses": 5e-9,
    # Latency of a hit in the second cache, 14 cycles near 3 GHz (Intel's optimization reference manual).
    "instruction_misses": 5e-9,
    "first_misses": 12e-9,
    "last_misses": 10e-9,
    "page_faults": 500e-9,
    "memory_calls": 1000e-9,
    "filesystem_calls": 3000e-9,
    "network_calls": 2000e-9,
    "ipc_calls": 400e-9,
    "other_calls": 150e-9,
    # 512 bytes of a device that reads 500 MB/s.
    "blocks": 1000e-9,
    # A direct switch and back (Li, Ding, Shen: Quantifying the cost of context switch, 2007).
    "waits": 2000e-9,
}
"""Seconds per event; the last miss comes on top of the first. From 32 programs with known causes."""
WORST_ERROR = 0.3
"""Relative error of a fit above which it is not believed. Arbitrary."""
TRUST = 0.05
"""Weight of the prior against one timed run: decides only what the runs do not. Arbitrary."""


@dataclass(frozen=True)
class UnitCosts:
    """Seconds per event. error: mean relative error on runs that the fit had not seen; None: the prior.

    fitted: when, if that was another time.
    """

    seconds: Mapping[Count, float]
    error: float | None = None
    fitted: datetime | None = None


def calibrated(runs: Sequence[tuple[Mapping[Count, float], float]]) -> UnitCosts:
    """Unit costs from runs (counts, seconds of CPU); the prior where they predict left-out runs badly.

    Non-negative least squares of relative errors (time adds up), drawn to the prior where runs say nothing.
    """
    timed = [(counts, seconds) for counts, seconds in runs if seconds > 0.0]
    names = [name for name in PRIOR if any(counts.get(name) for counts, _ in timed)]
    if len(timed) <= len(names):
        return UnitCosts(PRIOR)
    prior = np.array([PRIOR[name] for name in names])
    # In units of the prior's seconds over the run's: every row's truth is 1.
    parts = np.array([[counts.get(name, 0.0) for name in names] for counts, _ in timed])
    parts = parts * prior / np.array([seconds for _, seconds in timed])[:, None]
    left_out = [parts[i] @ _fit(np.delete(parts, i, axis=0)) - 1.0 for i in range(len(parts))]
    error = float(np.mean(np.abs(left_out)))
    if error > WORST_ERROR:
        return UnitCosts(PRIOR)
    factors = _fit(parts)
    fitted = dict(zip(names, (factors * prior).tolist(), strict=True))
    return UnitCosts({**PRIOR, **fitted}, error)


def _fit(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factors on the prior, shape (m,), from each run's shares of its time at prior costs, shape (n, m)."""
    from scipy.optimize import nnls  # a third of a second, not of every start

    size = parts.shape[1]
    rows = np.vstack([parts, np.sqrt(TRUST) * np.eye(size)])
    truth = np.concatenate([np.ones(len(parts)), np.full(size, np.sqrt(TRUST))])
    factors: NDArray[np.float64] = nnls(rows, truth)[0]
    return factors
