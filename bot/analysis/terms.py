"""Which terms carry a change: a sum of single effects over candidates, each on a grid of sizes and laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates
from bot.analysis.laws import Costs, Law, laws
from bot.analysis.likelihood import (
    LARGEST,
    LAYOUT,
    PRESENT,
    SMALLEST,
    STEP,
    UNEVEN,
    UNEVEN_FINELY,
    Likelihood,
    unevenness,
)
from bot.analysis.pairs import Floats
from bot.analysis.past_sizes import Sizes
from bot.analysis.search import best_start

EFFECTS = 4
"""Single effects fitted at once: two were asked of us, one more may be real, one takes what is left."""
SWEEPS = 40
WEAK = 0.1
"""An effect that is less probably there is not worth an interval."""
QUIET_LAYOUT = (0.001, LAYOUT)
"""Scales of each configuration's own shift that an interval allows for."""


@dataclass(frozen=True)
class SingleEffect:
    """One effect: whether it is there, where, and how large.

    presence: probability. posterior: over candidates given presence, shape (n_terms,). top: the most probable
    candidate. size: median log ratio given the top candidate; interval: its central 90 %; both are medians of
    the measured configurations that hold it. each: log ratio in each configuration, (n_configurations,).
    fixed: whether it is the same amount, rather than the same share, in all that hold it.
    """

    presence: float
    posterior: Floats
    top: int
    size: float
    interval: tuple[float, float]
    each: Floats
    fixed: bool = False


@dataclass(frozen=True)
class TermFit:
    """Effects, most probable first; `shift` of all; `fitted`: their sum, (n_configurations,)."""

    effects: tuple[SingleEffect, ...]
    shift: float
    fitted: Floats

    def inclusion(self) -> Floats:
        """Probability that each candidate carries an effect, shape (n_terms,)."""
        absent = np.ones(len(self.effects[0].posterior)) if self.effects else np.ones(0)
        for effect in self.effects:
            absent = absent * (1.0 - effect.presence * effect.posterior)
        return 1.0 - absent


def single_effects(
    found: Candidates,
    location: Floats,
    variance: Floats,
    *,
    costs: Costs | None = None,
    expected: Sizes | None = None,
    guess: bool = True,
) -> TermFit:
    """Fits a shift and `EFFECTS` single effects to log ratios with variances, both (n_configurations,).

    As in SuSiE (Wang, Sarkar, Carbonetto and Stephens 2020, section 3): each effect in turn is fitted to what
    the others leave, over every candidate and, here, every size of a grid, so that the spread between
    configurations may grow with the effect, and every law; and each may be absent. Infinite variance: left
    out. costs: of base and head (None: not known). expected: how large effects are likely to be (None: every
    scale alike). guess: start from the best sum (worth its
    time after an alarm).
    """
    seen = np.isfinite(variance)
    covers = found.covers[:, seen].astype(np.float64)
    prior = np.log(found.prior)
    known = laws(None if costs is None else costs.at(seen), int(seen.sum()))
    parts, uneven = np.zeros((EFFECTS, int(seen.sum()))), UNEVEN[1]
    if guess:
        rows = np.concatenate([covers * law.shape(location[seen], variance[seen]) for law in known])
        shared = np.concatenate([prior - np.log(len(known))] * len(known))
        start, uneven = best_start(rows, shared, location[seen], variance=variance[seen], most=EFFECTS)
        for i, (k, size) in enumerate(start):
            parts[i] = size * rows[k]
    density = Likelihood(location[seen], variance[seen], uneven=uneven)
    sizes, log_size = _sizes(location[seen], variance[seen], known, expected)
    shown = np.concatenate([law.shown(sizes) for law in known], axis=1)
    shift = 0.0
    states: list[tuple[float, Floats]] = []
    for _ in range(SWEEPS):
        before = parts.sum(axis=0) + shift
        states = []
        for i in range(EFFECTS):
            rest = shift + parts.sum(axis=0) - parts[i]
            presence, joint = _one(density, covers, prior, rest=rest, shown=shown, log_size=log_size)
            parts[i] = presence * ((covers.T @ joint) * shown).sum(axis=1)
            states.append((presence, joint))
        shift = _shift(density, parts.sum(axis=0))
        if np.abs(parts.sum(axis=0) + shift - before).max(initial=0.0) < 1e-5:
            break
    effects = []
    for part, (presence, joint) in zip(parts, states, strict=True):
        others = parts.sum(axis=0) - part
        effect = _told(density, covers, sizes, known, others=others, shift=shift, state=(presence, joint))
        each = np.zeros(len(location))
        each[seen] = effect.each
        effects.append(replace(effect, each=each))
    effects.sort(key=lambda e: -e.presence * e.posterior[e.top])
    fitted = np.zeros(len(location))
    fitted[seen] = parts.sum(axis=0) + shift
    return TermFit(tuple(effects), shift, fitted)


def _told(
    density: Likelihood,
    covers: Floats,
    sizes: Floats,
    known: Sequence[Law],
    *,
    others: Floats,
    shift: float,
    state: tuple[float, Floats],
) -> SingleEffect:
    """An effect under its likelier law. state: presence, and posterior given it, (n_terms, n_points)."""
    presence, joint = state
    posterior = joint.sum(axis=1)
    top = int(np.argmax(posterior))
    by_law = joint[top].reshape(len(known), len(sizes))
    i = int(np.argmax(by_law.sum(axis=1)))
    law, inside = known[i], covers[top] > 0
    middle = low = high = float(by_law[i] @ sizes / by_law[i].sum())
    if not inside.any():  # a term of unmeasured configurations only may have any size
        low, high = float(sizes[0]), float(sizes[-1])
    elif presence > WEAK:
        middle, (low, high) = _size(density, others, inside, law, size=middle, shift=shift)
    where = inside if inside.any() else slice(None)
    shown = law.shown(np.array([middle, low, high]))
    size, *interval = np.median(shown[where], axis=0)
    each = np.where(inside, shown[:, 0], 0.0)
    bounds = (float(interval[0]), float(interval[1]))
    return SingleEffect(presence, posterior, top, float(size), bounds, each, law.fixed)


def _sizes(
    location: Floats, variance: Floats, known: Sequence[Law], expected: Sizes | None
) -> tuple[Floats, Floats]:
    """The grid of sizes that could matter for these data, and the log prior of each point of each law.

    The latter is of shape (n_terms, n_points), or (1, 1) where every scale is alike.
    """
    count = int(np.log(LARGEST / SMALLEST) / STEP) + 1
    reach = float(np.max(np.abs(location) + 2.0 * np.sqrt(variance), initial=2 * SMALLEST))
    dearest = min(float(min(law.base.min(), law.head.min())) for law in known)
    reach = float(np.log1p(np.expm1(min(reach, LARGEST)) / dearest))
    used = min(count, int(np.log(max(1.5 * reach, 2 * SMALLEST) / SMALLEST) / STEP) + 1)
    grid = SMALLEST * np.exp(STEP * np.arange(count))
    signed = np.concatenate([-grid[:used][::-1], grid[:used]])
    each = np.log(2 * len(known))
    if expected is None:
        return signed, np.full((1, 1), -np.log(count) - each)
    chance = np.log(expected.at(grid, np.full(count, 1.0 / count)))[:, :used] - each
    both = np.concatenate([chance[:, ::-1], chance], axis=1)
    return signed, np.tile(both, len(known))


def _one(
    density: Likelihood, covers: Floats, prior: Floats, *, rest: Floats, shown: Floats, log_size: Floats
) -> tuple[float, Floats]:
    """Presence of an effect beyond `rest`, and its posterior given presence, shape (n_terms, n_points).

    shown: log ratio in each configuration at each size of each law, (n_configurations, n_points).
    """
    gain = density(rest[:, None] + shown) - density(rest)[:, None]
    log_joint = covers @ gain + prior[:, None] + log_size
    peak = log_joint.max()
    joint = np.exp(log_joint - peak)
    total = joint.sum()
    odds = np.log(PRESENT / (1.0 - PRESENT)) + peak + np.log(total)
    return float(1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))), joint / total


_SHIFTS = np.linspace(-4.0 * LAYOUT, 4.0 * LAYOUT, 25)


def _shift(density: Likelihood, fitted: Floats) -> float:
    """Posterior mean of the shift of all configurations."""
    log_weight = density(fitted[:, None] + _SHIFTS).sum(axis=0) - 0.5 * (_SHIFTS / LAYOUT) ** 2
    weight = np.exp(log_weight - log_weight.max())
    return float(weight @ _SHIFTS / weight.sum())


def _size(
    density: Likelihood, others: Floats, inside: NDArray[np.bool_], law: Law, *, size: float, shift: float
) -> tuple[float, tuple[float, float]]:
    """Median and central 90 % of an effect's size given term and law; shift and scatter integrated out."""
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


def credible(posterior: NDArray[np.float64], mass: float = 0.95) -> list[int]:
    """Fewest candidates that hold `mass` of a posterior, most probable first."""
    order = np.argsort(-posterior)
    return [int(i) for i in order[: int(np.searchsorted(np.cumsum(posterior[order]), mass)) + 1]]
