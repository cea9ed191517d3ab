"""Which terms carry a change: a sum of single effects over the candidates, each on a grid of sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates
from bot.analysis.pairs import Floats
from bot.analysis.search import best_sum

EFFECTS = 4
"""Single effects fitted at once: two were asked of us, one more may be real, one takes what is left."""
PRESENT = 0.25
"""Prior probability that one of these effects is there at all."""
LAYOUT = 0.004
"""Scale of the shift of all configurations, and
of each one's own, that a rebuild causes by moving code (measured: 0.3-0.5 %)."""
UNEVEN = 0.25
"""An effect differs between configurations by about this share of itself."""
TAIL = 5.0
"""Degrees of freedom of a configuration's deviation: one odd configuration is no reason to blame a pair."""
SMALLEST, LARGEST, STEP = 0.004, 7.0, 0.1
"""Sizes of an effect: a logarithmic grid, so that no scale is preferred."""
SWEEPS = 40


@dataclass(frozen=True)
class SingleEffect:
    """One effect: whether it is there, where, and how large.

    presence: probability. posterior: over candidates given presence, shape (n_terms,). top: the most probable
    candidate. size: mean log ratio given the top candidate; interval: its central 90 %.
    """

    presence: float
    posterior: Floats
    top: int
    size: float
    interval: tuple[float, float]


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


class _Likelihood:
    """Log density of the locations around a fitted sum (Student's t, scale growing with the sum)."""

    def __init__(self, location: Floats, variance: Floats) -> None:
        self._location = location
        self._variance = variance + LAYOUT**2

    def __call__(self, fitted: Floats) -> Floats:
        """Shape of `fitted`: (n_configurations, ...)."""
        shape = (-1,) + (1,) * (fitted.ndim - 1)
        spread = self._variance.reshape(shape) + (UNEVEN * fitted) ** 2
        residual = self._location.reshape(shape) - fitted
        density: Floats = -0.5 * np.log(spread) - 0.5 * (TAIL + 1.0) * np.log1p(residual**2 / (TAIL * spread))
        return density


def single_effects(found: Candidates, location: Floats, variance: Floats, *, guess: bool = True) -> TermFit:
    """Fits a shift and `EFFECTS` single effects to log ratios with variances, both (n_configurations,).

    As in SuSiE (Wang, Sarkar, Carbonetto and Stephens 2020, section 3): each effect in turn is fitted to what
    the others leave, over every candidate and, here, every size of a grid, so that the spread between
    configurations may grow with the effect; and each may be absent. Infinite variance: left out.
    guess: start from the best sum (worth its time after an alarm).
    """
    seen = np.isfinite(variance)
    covers = found.covers[:, seen].astype(np.float64)
    prior = np.log(found.prior)
    density = _Likelihood(location[seen], variance[seen])
    sizes, log_size = _sizes(location[seen], variance[seen])
    parts = np.zeros((EFFECTS, int(seen.sum())))
    start = _guess(covers, prior, location[seen], variance[seen]) if guess else []
    for i, (k, size) in enumerate(start):
        parts[i] = size * covers[k]
    shift = 0.0
    states: list[tuple[float, Floats]] = []
    for _ in range(SWEEPS):
        before = parts.sum(axis=0) + shift
        states = []
        for i in range(EFFECTS):
            rest = shift + parts.sum(axis=0) - parts[i]
            presence, joint = _one(density, covers, prior, rest=rest, sizes=sizes, log_size=log_size)
            parts[i] = presence * (covers.T @ (joint @ sizes))
            states.append((presence, joint))
        shift = _shift(density, parts.sum(axis=0))
        if np.abs(parts.sum(axis=0) + shift - before).max(initial=0.0) < 1e-5:
            break
    effects = []
    for part, (presence, joint) in zip(parts, states, strict=True):
        posterior = joint.sum(axis=1)
        top = int(np.argmax(posterior))
        size, interval = _size(
            density, parts.sum(axis=0) - part, covers[top], guess=joint[top] @ sizes / posterior[top]
        )
        effects.append(SingleEffect(presence, posterior, top, size, interval))
    effects.sort(key=lambda e: -e.presence * e.posterior[e.top])
    fitted = np.zeros(len(location))
    fitted[seen] = parts.sum(axis=0) + shift
    return TermFit(tuple(effects), shift, fitted)


def _guess(covers: Floats, prior: Floats, location: Floats, variance: Floats) -> list[tuple[int, float]]:
    """Where the sweeps start: they only find the nearest of several optima."""
    spread = variance + LAYOUT**2 + UNEVEN**2 * np.maximum(location**2 - variance, 0.0)
    there = prior + np.log(PRESENT / (1.0 - PRESENT))
    return best_sum(covers, there, location, variance=spread, shift=LAYOUT, most=EFFECTS)


def _sizes(location: Floats, variance: Floats) -> tuple[Floats, float]:
    """The grid of sizes that could matter for these data, and the log prior of each point."""
    count = int(np.log(LARGEST / SMALLEST) / STEP) + 1
    reach = float(np.max(np.abs(location) + 2.0 * np.sqrt(variance), initial=2 * SMALLEST))
    used = min(count, int(np.log(max(1.5 * reach, 2 * SMALLEST) / SMALLEST) / STEP) + 1)
    grid = SMALLEST * np.exp(STEP * np.arange(used))
    return np.concatenate([-grid[::-1], grid]), -float(np.log(2 * count))


def _one(
    density: _Likelihood, covers: Floats, prior: Floats, *, rest: Floats, sizes: Floats, log_size: float
) -> tuple[float, Floats]:
    """Presence of an effect beyond `rest`, and its posterior given presence, shape (n_terms, n_sizes)."""
    gain = density(rest[:, None] + sizes) - density(rest)[:, None]
    log_joint = covers @ gain + prior[:, None] + log_size
    peak = log_joint.max()
    joint = np.exp(log_joint - peak)
    total = joint.sum()
    odds = np.log(PRESENT / (1.0 - PRESENT)) + peak + np.log(total)
    return float(1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))), joint / total


_SHIFTS = np.linspace(-4.0 * LAYOUT, 4.0 * LAYOUT, 25)


def _shift(density: _Likelihood, fitted: Floats) -> float:
    """Posterior mean of the shift of all configurations."""
    log_weight = density(fitted[:, None] + _SHIFTS).sum(axis=0) - 0.5 * (_SHIFTS / LAYOUT) ** 2
    weight = np.exp(log_weight - log_weight.max())
    return float(weight @ _SHIFTS / weight.sum())


def _size(
    density: _Likelihood, rest: Floats, cover: Floats, *, guess: float
) -> tuple[float, tuple[float, float]]:
    """Mean and central 90 % of one effect's size given its term, with the shift integrated out."""
    reach = max(0.06, 1.5 * abs(guess))
    grid = guess + np.linspace(-reach, reach, 241)
    inside = cover > 0
    shifted = rest[:, None] + _SHIFTS
    outside = density(shifted)[~inside].sum(axis=0) - 0.5 * (_SHIFTS / LAYOUT) ** 2
    spread = (shifted[:, None, :] + grid[None, :, None]).reshape(len(rest), -1)
    covered = density(spread)[inside].sum(axis=0).reshape(len(grid), -1)
    log_weight = covered + outside
    weight = np.exp(log_weight - log_weight.max()).sum(axis=1)
    cumulative = np.cumsum(weight) / weight.sum()
    low, high = np.interp([0.05, 0.95], cumulative, grid)
    return float(weight @ grid / weight.sum()), (float(low), float(high))


def credible(posterior: NDArray[np.float64], mass: float = 0.95) -> list[int]:
    """Fewest candidates that hold `mass` of a posterior, most probable first."""
    order = np.argsort(-posterior)
    return [int(i) for i in order[: int(np.searchsorted(np.cumsum(posterior[order]), mass)) + 1]]
