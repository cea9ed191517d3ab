"""How configurations scatter around a fitted sum of effects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.pairs import Floats

PRESENT = 0.25
"""Prior probability that one of these effects is there at all."""
LAYOUT = 0.004
"""Scale of the shift of all configurations, and of each one's own, when a rebuild moves code (0.3-0.5 %)."""
UNEVEN = (0.05, 0.2, 0.4)
"""An effect differs between configurations by such a share of itself; which, the data say."""
UNEVEN_FINELY = (0.05, 0.1, 0.2, 0.3, 0.45, 0.65)
"""The same for intervals, which are narrow or wide by it."""
FEW = 4
"""Fewer configurations cannot say how uneven an effect is: what is told of it then speaks of these alone."""
TAIL = 5.0
"""Degrees of freedom of a configuration's deviation: one odd configuration is no reason to blame a pair."""
SMALLEST, LARGEST, STEP = 0.004, 7.0, 0.1
"""Sizes of an effect: a logarithmic grid, so that no scale is preferred."""


def unevenness(configurations: int, shares: tuple[float, ...] = UNEVEN) -> tuple[float, ...]:
    """The shares that so many measured configurations can tell apart."""
    return shares if configurations >= FEW else shares[:1]


class Likelihood:
    """Log density of the locations around a fitted sum (Student's t, scale growing with the sum)."""

    def __init__(self, location: Floats, variance: Floats, *, layout: float = LAYOUT, uneven: float) -> None:
        self.location, self._error = location, variance
        self._variance = variance + layout**2
        self._uneven, self._layout = uneven, layout

    def other(self, *, layout: float, uneven: float) -> Likelihood:
        """The same locations with another scatter."""
        return Likelihood(self.location, self._error, layout=layout, uneven=uneven)

    def at(self, rows: NDArray[np.bool_]) -> Likelihood:
        """Of some configurations only."""
        return Likelihood(self.location[rows], self._error[rows], layout=self._layout, uneven=self._uneven)

    def spread(self, fitted: Floats) -> Floats:
        """Squared scale at a fitted sum, shape of `fitted`: (n_configurations, ...)."""
        return self._shaped(self._variance, fitted) + (self._uneven * fitted) ** 2

    def __call__(self, fitted: Floats) -> Floats:
        """Log density, shape of `fitted`: (n_configurations, ...)."""
        spread = self.spread(fitted)
        residual = self._shaped(self.location, fitted) - fitted
        density: Floats = -0.5 * np.log(spread) - 0.5 * (TAIL + 1.0) * np.log1p(residual**2 / (TAIL * spread))
        return density

    @staticmethod
    def _shaped(values: Floats, like: Floats) -> Floats:
        return values.reshape((-1,) + (1,) * (like.ndim - 1))
