"""Which terms carry a change: a sum of single effects over candidates, each on a grid of sizes and laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates
from bot.analysis.laws import Costs, Law, laws
from bot.analysis.likelihood import LARGEST, LAYOUT, PRESENT, SMALLEST, STEP, UNEVEN, Likelihood
from bot.analysis.pairs import Floats
from bot.analysis.past_sizes import Sizes
from bot.analysis.search import best_start
from bot.analysis.single_effect import Fitted, SingleEffect

EFFECTS = 4
"""Single effects fitted at once: two were asked of us, one more may be real, one takes what is left."""
SWEEPS = 40
TAKEN = 1e-12
"""What is left to an effect of a candidate that another one surely is in."""


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
    scale alike). guess: start from the best sum (worth its time after an alarm).
    """
    seen = np.isfinite(variance)
    covers = found.covers[:, seen].astype(np.float64)
    prior = np.log(found.prior)
    known = laws(None if costs is None else costs.at(seen), int(seen.sum()))
    parts, uneven = np.zeros((EFFECTS, int(seen.sum()))), UNEVEN[1]
    if guess:
        start, uneven = _guess(covers, prior, location[seen], variance=variance[seen], known=known)
        parts[: len(start)] = start
    density = Likelihood(location[seen], variance[seen], uneven=uneven)
    sizes, log_size = _sizes(location[seen], variance[seen], known, expected)
    shown = np.concatenate([law.shown(sizes) for law in known], axis=1)
    shift = 0.0
    states: list[tuple[float, Floats]] = []
    taken: list[Floats] = [np.zeros((len(prior), len(known)))] * EFFECTS
    for _ in range(SWEEPS):
        before = parts.sum(axis=0) + shift
        states = []
        for i in range(EFFECTS):
            rest = shift + parts.sum(axis=0) - parts[i]
            free = np.repeat(_free(taken[:i] + taken[i + 1 :]), len(sizes), axis=1)
            presence, joint = _one(density, covers, prior, rest=rest, shown=shown, log_size=log_size + free)
            taken[i] = presence * joint.reshape(len(prior), len(known), -1).sum(axis=2)
            parts[i] = presence * ((covers.T @ joint) * shown).sum(axis=1)
            states.append((presence, joint))
        shift = _shift(density, parts.sum(axis=0))
        if np.abs(parts.sum(axis=0) + shift - before).max(initial=0.0) < 1e-5:
            break
    told = Fitted(density, covers, sizes, known, parts, shift, tuple(states)).told()
    told.sort(key=lambda e: -e.presence * e.posterior[e.top])
    fitted = parts.sum(axis=0) + shift
    effects = tuple(
        replace(e, each=_everywhere(e.each, seen), bounds=_everywhere(e.bounds, seen)) for e in told
    )
    return TermFit(effects, shift, _everywhere(fitted, seen))


def _everywhere(values: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Values of the measured configurations, and 0 for the others."""
    whole = np.zeros((len(seen), *values.shape[1:]))
    whole[seen] = values
    return whole


def _guess(
    covers: Floats, prior: Floats, location: Floats, *, variance: Floats, known: Sequence[Law]
) -> tuple[Floats, float]:
    """Parts of the best sum, (n_effects, n_configurations), and how uneven it is."""
    rows = np.concatenate([covers * law.shape(location, variance) for law in known])
    shared = np.concatenate([prior - np.log(len(known))] * len(known))
    owner = np.tile(np.arange(len(prior)), len(known))
    start, uneven = best_start(rows, shared, location, variance=variance, most=EFFECTS, owner=owner)
    return np.array([size * rows[k] for k, size in start]).reshape(-1, covers.shape[1]), uneven


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


def _free(taken: Sequence[Floats]) -> Floats:
    """Log probability that no other effect is in a candidate by another law, (n_terms, n_laws), from theirs.

    A share less and an amount more, of one candidate, add up to what one effect and its unevenness say
    better: either size alone would be told of configurations that nothing of the kind was seen in.
    """
    other = [mine.sum(axis=1, keepdims=True) - mine for mine in taken]
    return np.asarray(np.log(np.maximum(np.prod([1.0 - o for o in other], axis=0), TAKEN)))


_SHIFTS = np.linspace(-4.0 * LAYOUT, 4.0 * LAYOUT, 25)


def _shift(density: Likelihood, fitted: Floats) -> float:
    """Posterior mean of the shift of all configurations."""
    log_weight = density(fitted[:, None] + _SHIFTS).sum(axis=0) - 0.5 * (_SHIFTS / LAYOUT) ** 2
    weight = np.exp(log_weight - log_weight.max())
    return float(weight @ _SHIFTS / weight.sum())


def credible(posterior: NDArray[np.float64], mass: float = 0.95) -> list[int]:
    """Fewest candidates that hold `mass` of a posterior, most probable first."""
    order = np.argsort(-posterior)
    return [int(i) for i in order[: int(np.searchsorted(np.cumsum(posterior[order]), mass)) + 1]]
