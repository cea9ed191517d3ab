"""How noisy a configuration is, as others that share its values let expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bot.analysis.pairs import Floats
from bot.model.space import Configuration

SINGLE = 1.23
"""Variance of the logarithm of a normal variable's absolute value; of n of them, about so much / n."""
LOW = 0.24
"""How far 1.4826 times one absolute value lies below the standard deviation, in the mean of logarithms."""
SPREAD = 0.3
"""Standard deviation of what an option's value does to the logarithm of noise, beforehand (a judgement)."""
OWN = 0.3
"""... and of what is a configuration's own."""
WILDEST = 4.0
"""A configuration's noise is at most so many times the others', or so much less: more is an accident."""


def expected_noise(
    known: Mapping[Configuration, tuple[float, int]], configurations: Sequence[Configuration]
) -> Floats:
    """Logarithm of each configuration's noise beside the middle one's, (n,): 0 where nothing is known of it.

    Least squares over values of options with a normal prior (ridge): with few differences little is expected.

    known: standard deviation, and how many differences it is known from; at least one.
    """
    names = list(known)
    noise, count = np.array([known[c] for c in names]).T
    measured = np.log(noise) + np.where(count == 1, LOW, 0.0)
    middle = float(np.median(measured))
    measured = np.clip(measured - middle, -np.log(WILDEST), np.log(WILDEST))
    columns = [
        (i, value)
        for i in range(len(names[0]))
        for value in sorted({c[i] for c in names}, key=str)[1:]  # the first one is in the mean
    ]
    weight = 1.0 / (SINGLE / count + OWN**2)
    x = _design(names, columns)
    mean = np.average(x, axis=0, weights=weight)
    gram = (x - mean).T @ ((x - mean) * weight[:, None]) + np.eye(len(columns)) / SPREAD**2
    away = measured - float(np.average(measured, weights=weight))
    effects = np.linalg.solve(gram, (x - mean).T @ (weight * away))
    found: Floats = (_design(configurations, columns) - mean) @ effects
    return found


def _design(configurations: Sequence[Configuration], columns: Sequence[tuple[int, object]]) -> Floats:
    """Which configurations have which value of which option: 0 or 1."""
    rows = [[float(c[i] == value) for i, value in columns] for c in configurations]
    return np.array(rows).reshape(len(configurations), len(columns))
