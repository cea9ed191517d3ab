"""How one effect shows in each configuration: as the same share of what it takes, or as the same amount."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.pairs import Floats

ALIKE = 1.1
"""Configurations whose costs differ by less than this factor tell no law from another."""


@dataclass(frozen=True)
class Costs:
    """The least that base and head took in each configuration, (n_configurations,) each.

    What disturbs a trial makes it longer: of a few, the least is nearest to what the others would be.
    """

    base: Floats
    head: Floats

    def at(self, rows: NDArray[np.bool_]) -> Costs:
        """Of some configurations only; rows: which, (n_configurations,)."""
        return Costs(self.base[rows], self.head[rows])


@dataclass(frozen=True)
class Law:
    """Log ratios of an effect by configuration and size.

    An amount `d` that head takes more is log(1 + d / base) of a configuration, and one that it saves is
    -log(1 + d / head). base, head: cost of the cheapest configuration, divided by the cost of each,
    (n_configurations,); size: what the effect would be in the cheapest. Where all are 1, it is a share.
    """

    base: Floats
    head: Floats

    @property
    def fixed(self) -> bool:
        """Whether it is an amount."""
        return bool((self.base != 1.0).any())

    def shown(self, sizes: Floats) -> Floats:
        """Log ratios of effects of these sizes, (n_configurations, n_sizes)."""
        lever = np.where(sizes > 0, self.base[:, None], self.head[:, None])
        found: Floats = np.sign(sizes) * np.log1p(np.expm1(np.abs(sizes)) * lever)
        return found

    def shape(self, location: Floats, variance: Floats) -> Floats:
        """Log ratios beside that of the cheapest, for an effect as large as the clearest of these."""
        if not len(location):
            return self.base
        clearest = int(np.argmax(np.abs(location) / np.sqrt(variance + np.median(variance))))
        lever = self.base if location[clearest] > 0 else self.head
        amount = max(float(np.expm1(np.abs(location[clearest])) / lever[clearest]), 1e-6)
        found: Floats = np.log1p(amount * lever) / np.log1p(amount)
        return found


def laws(costs: Costs | None, configurations: int) -> tuple[Law, ...]:
    """The laws that so many configurations can tell apart.

    Work that an option adds takes as long beside much other work as beside little: its share differs, and
    without the second law that looks like a share that depends on the other options.
    """
    share = Law(np.ones(configurations), np.ones(configurations))
    if costs is None or not configurations or min(costs.base.min(), costs.head.min()) <= 0.0:
        return (share,)
    if costs.base.max() < ALIKE * costs.base.min():
        return (share,)
    return share, Law(costs.base.min() / costs.base, costs.head.min() / costs.head)
