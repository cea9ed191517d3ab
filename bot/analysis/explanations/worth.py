"""What a trial would teach: where the explanations that are still possible expect different values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.explanations.cells import Bools, Cell, Floats, Ints


@dataclass(frozen=True)
class Contrasts:
    """Comparisons of a configuration with itself at two revisions that could be made next.

    configuration: (n,). ends: the two revisions, (2, n). asked: which of them would be measured, (2, n): one,
    beside one that is known, or both. blur: variance of the comparison but for steps, in squared units, (n,).
    """

    configuration: Ints
    ends: Ints
    asked: Bools
    blur: Floats

    def __len__(self) -> int:
        return len(self.blur)

    def wished(self, number: int) -> list[Cell]:
        """The cells that one of them measures."""
        revisions = self.ends[self.asked[:, number], number].tolist()
        return [(int(self.configuration[number]), revision) for revision in revisions]


def most_telling(expected: NDArray[np.float32], contrasts: Contrasts, count: int) -> list[tuple[int, float]]:
    """The contrasts that together teach most, best first, with what each teaches, in nats per trial.

    expected: sums of steps by explanation, configuration and revision, (n_explanations, n_configurations,
    n_revisions), in units. What contrasts teach is the entropy that they take from a normal distribution
    with the explanations' covariance; each next one is worth what the ones before it leave open.
    """
    c, cost = contrasts, contrasts.asked.sum(axis=0)
    differ = expected[:, c.configuration, c.ends[1]] - expected[:, c.configuration, c.ends[0]]
    differ = (differ - differ.mean(axis=0)) / np.sqrt(len(expected))
    found: list[tuple[int, float]] = []
    for _ in range(count):
        variance = (differ**2).sum(axis=0)
        worth = 0.5 * np.log1p(variance / c.blur) / cost
        best = int(np.argmax(worth))
        found.append((best, float(worth[best])))
        spread, blur = variance[best], c.blur[best]
        if spread <= 0.0:
            break
        # The square root form of a Kalman update: the ensemble as if this contrast had been measured.
        gain = (differ[:, best] @ differ) / (spread + blur + np.sqrt(blur * (spread + blur)))
        differ = differ - np.outer(differ[:, best], gain)
    return found
