"""How one effect of a fitted sum is told: where it is, how large, and what is seen where it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bot.analysis.laws import Law, laws
from bot.analysis.likelihood import LAYOUT, UNEVEN_FINELY, Likelihood, unevenness
from bot.analysis.pairs import Floats

WEAK = 0.1
"""An effect that is less probably there is not worth an interval."""
THERE = 0.5
"""Effects of one candidate that are there with this probability are told as one ..."""
SURELY = 0.9
"""... and with this one an effect is what another one takes a part of back from."""
QUIET_LAYOUT = (0.001, LAYOUT)
"""Scales of each configuration's own shift that an interval allows for."""


@dataclass(frozen=True)
class SingleEffect:
    """One effect: whether it is there, where, and how large.

    presence: probability. posterior: over candidates given presence, shape (n_terms,). top: the most probable
    candidate. size: median log ratio given the top candidate; interval: its central 90 %; both are medians of
    the measured configurations that hold it. each: log ratio in each configuration, (n_configurations,).
    bounds: those of the interval there, (n_configurations, 2); 0 where it does not hold.
    fixed: whether it is the same amount, rather than the same share, in all that hold it. around: top
    candidates of the effects of the other direction that hold wherever it holds, and in more. own: the size
    without these; `size` and `interval` are what is seen there, the sum of all.
    """

    presence: float
    posterior: Floats
    top: int
    size: float
    interval: tuple[float, float]
    each: Floats
    fixed: bool
    own: float
    bounds: Floats
    around: tuple[int, ...] = ()

    @property
    def takes_back(self) -> bool:
        """Whether it only makes an effect of the other direction smaller."""
        return self.own * self.size <= 0.0

    def among(
        self, rows: NDArray[np.bool_], *, middle: Callable[..., Floats] = np.median
    ) -> tuple[float, tuple[float, float]]:
        """Size and interval in some of the configurations that hold it; rows: which, (n_configurations,).

        The same amount is quite another share where trials are short.
        """
        low, high = map(float, middle(self.bounds[rows], axis=0))
        return float(middle(self.each[rows])), (low, high)


@dataclass(frozen=True)
class Fitted:
    """A fitted sum: the density, what can be told apart, and the state of each effect.

    covers: (n_terms, n_configurations). sizes: the grid. parts: expected log ratios, (n_effects,
    n_configurations). shift: of all. states: presence, and posterior given it, (n_terms, n_laws * n_sizes).
    """

    density: Likelihood
    covers: Floats
    sizes: Floats
    laws: Sequence[Law]
    parts: Floats
    shift: float
    states: Sequence[tuple[float, Floats]]

    def told(self) -> list[SingleEffect]:
        """The effects; several of one candidate are one."""
        tops = [int(np.argmax(joint.sum(axis=1))) for _, joint in self.states]
        found: list[SingleEffect] = []
        for i in sorted(range(len(tops)), key=lambda i: -self.states[i][0]):
            twins = [j for j, top in enumerate(tops) if top == tops[i] and self.states[j][0] > THERE]
            if i in twins and any(effect.top == tops[i] for effect in found):
                continue
            same = twins if i in twins else [i]
            others = self.parts.sum(axis=0) - self.parts[same].sum(axis=0)
            effect = self._alone(i, same, others)
            around = [j for j, top in enumerate(tops) if self._around(effect, j, top)]
            if around:
                effect = replace(self._seen(effect, others, around), around=tuple(tops[j] for j in around))
            found.append(effect)
        return found

    def _alone(self, i: int, same: Sequence[int], others: Floats) -> SingleEffect:
        """An effect, with those of the `same` candidate, under its likelier law."""
        presence, joint = self.states[i]
        posterior = joint.sum(axis=1)
        top = int(np.argmax(posterior))
        by_law = [s[1][top].reshape(len(self.laws), len(self.sizes)) for s in self.states]
        law = int(np.argmax(by_law[i].sum(axis=1)))
        inside = self.covers[top] > 0
        middle = low = high = sum(
            float(by_law[j][law] @ self.sizes / max(by_law[j][law].sum(), 1e-300)) for j in same
        )
        if not inside.any():  # a term of unmeasured configurations only may have any size
            low, high = float(self.sizes[0]), float(self.sizes[-1])
        elif presence > WEAK:
            for _ in same:  # amounts do not add up in logs: once more around what was found
                middle, (low, high) = self._size(others, inside, self.laws[law], middle)
        where = inside if inside.any() else slice(None)
        shown = self.laws[law].shown(np.array([middle, low, high]))
        size, least, most = map(float, np.median(shown[where], axis=0))
        each = np.where(inside[:, None], shown, 0.0)
        return SingleEffect(
            presence,
            posterior,
            top,
            size,
            (least, most),
            each[:, 0],
            fixed=self.laws[law].fixed,
            own=size,
            bounds=each[:, 1:],
        )

    def _around(self, effect: SingleEffect, other: int, top: int) -> bool:
        """Whether another effect of the other direction is there wherever this one is, and elsewhere, too."""
        inside, cover = self.covers[effect.top] > 0, self.covers[top] > 0
        if not inside.any() or self.states[other][0] <= SURELY:
            return False
        wider = bool(np.all(cover[inside])) and cover.sum() > inside.sum()
        return wider and float(np.median(self.parts[other][inside])) * effect.own < 0.0

    def _seen(self, effect: SingleEffect, others: Floats, around: Sequence[int]) -> SingleEffect:
        """The effect with what is seen where it holds, that of the effects around it included."""
        inside, more = self.covers[effect.top] > 0, self.parts[around].sum(axis=0)
        start = float(np.median((effect.each + more)[inside]))
        share = laws(None, len(inside))[0]
        size, interval = self._size(others - more, inside, share, start)
        return replace(effect, size=size, interval=interval)

    def _size(
        self, others: Floats, inside: NDArray[np.bool_], law: Law, size: float
    ) -> tuple[float, tuple[float, float]]:
        """Median and central 90 % of a size near `size`; shift and scatter are integrated out."""
        density, shift = self.density, self.shift
        shares = unevenness(len(density.location), UNEVEN_FINELY)
        weight = 1.0 / density.other(layout=LAYOUT, uneven=shares[-1]).spread(
            others + shift + law.shown(np.array([size]))[:, 0] * inside
        )
        shift_error = 1.0 / np.sqrt(weight[~inside].sum() + LAYOUT**-2)
        slope = (law.shown(np.array([size - 1e-4, size + 1e-4]))[inside] @ [-1.0, 1.0]) / 2e-4
        error = np.hypot(
            1.0 / np.sqrt(max((weight[inside] * slope**2).sum(), 1e-3)), shift_error / max(slope.max(), 1e-3)
        )
        grid = size + error * np.linspace(-6.0, 6.0, 121)
        shifts = shift + shift_error * np.linspace(-3.0, 3.0, 9)
        shifted = others[:, None] + shifts
        both = shifted[inside][:, None, :] + law.shown(grid)[inside][:, :, None]
        joint = []
        for layout, uneven in product(QUIET_LAYOUT, shares):
            scatter = density.other(layout=layout, uneven=uneven)
            outside = scatter.at(~inside)(shifted[~inside]).sum(axis=0) - 0.5 * (shifts / LAYOUT) ** 2
            joint.append(scatter.at(inside)(both).sum(axis=0) + outside)
        log_weight = np.array(joint)
        chance = np.exp(log_weight - log_weight.max()).sum(axis=(0, 2))
        cumulative = np.cumsum(chance) / chance.sum()
        low, middle, high = np.interp([0.05, 0.5, 0.95], cumulative, grid)
        return float(middle), (float(low), float(high))
