"""How one effect shows in each configuration: as the same share of what it takes, or as the same amount."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bot.analysis.pairs import Floats

ALIKE = 1.1
"""Configurations whose costs differ by less than this factor tell no law from another."""


@dataclass(frozen=True)
class Law:
    """Log ratios of an effect by configuration and size.

    An amount `d` that head takes more is log(1 + d / base) of a configuration, and one that it takes less is
    -log(1 + d / head). base, head: cost of the cheapest configuration, divided by the cost of each; size:
    what the effect would be in the cheapest. Where all are 1 the effect is the same share everywhere.
    """

    base: Floats
    head: Floats

    @property
    def proportional(self) -> bool:
        """Whether it is the same share everywhere."""
        return bool((self.base == 1.0).all())

    def shown(self, sizes: Floats) -> Floats:
        """Log ratios of effects of these sizes, (n_configurations, n_sizes)."""
        lever = np.where(sizes > 0, self.base[:, None], self.head[:, None])
        found: Floats = np.sign(sizes) * np.log1p(np.expm1(np.abs(sizes)) * lever)
        return found

    def slope(self, size: float) -> Floats:
        """How much they grow with the size, (n_configurations,)."""
        lever = self.base if size > 0 else self.head
        found: Floats = np.exp(abs(size)) * lever / (1.0 + np.expm1(abs(size)) * lever)
        return found

    def shape(self, location: Floats) -> Floats:
        """Log ratios beside that of the cheapest, for an effect as large as the largest of these."""
        largest = int(np.argmax(np.abs(location)))
        lever = self.base if location[largest] > 0 else self.head
        amount = max(float(np.expm1(np.abs(location[largest]))) / lever[largest], 1e-6)
        found: Floats = np.log1p(amount * lever) / np.log1p(amount)
        return found


def laws(location: Floats, costs: Floats | None) -> tuple[Law, ...]:
    """The laws that these configurations can tell apart; location, costs (of base): (n_configurations,).

    Work that an option adds takes as long beside much other work as beside little: its share differs, and
    without the second law that looks like a share that depends on the other options.
    """
    same = np.ones(len(location))
    proportional = Law(same, same)
    if costs is None or not len(costs) or not np.all(costs > 0) or costs.max() < ALIKE * costs.min():
        return (proportional,)
    head = costs * np.exp(location)
    return proportional, Law(costs.min() / costs, head.min() / head)
