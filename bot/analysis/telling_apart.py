"""Which terms may carry a change that is certain, and which further configurations would tell them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import PRIOR, level_covers, readiness
from bot.analysis.likelihood import LAYOUT
from bot.analysis.pairs import Floats
from bot.analysis.reading import Reading
from bot.analysis.triples import MASS
from bot.model.space import Configuration, Level, Space, Term, distance

SURE = 0.99
"""A term with this probability needs no further configuration."""
STANDS_OUT = 4.0
"""Standard errors from which on a configuration surely changed."""
CLEARLY, LEAST_PAIRS, MOST_PAIRS = 4.0, 2, 6
"""A further configuration is measured until the change shows by so many standard errors, within bounds."""
UNCHANGED = 0.25
"""Of what changed most: whoever changed less is a partner that is spared."""
LEVELS = 40
"""Levels of the changed configuration whose terms are weighed, those seen least without a change."""
UNEVEN = 0.3
"""A change is not the same share everywhere: its standard deviation, as a share of it."""
ODD = 25.0
"""Squared distance beyond which an odd configuration does not count more."""
MOST_TERMS = 400
"""Likeliest terms that are told apart."""
PRIORS = (PRIOR["everything"], PRIOR["level"], PRIOR["pair"], MASS)
"""Prior mass of all terms of no, one, two and three levels."""


@dataclass(frozen=True)
class Doubt:
    """Terms of up to three levels of a configuration that changed, and how likely each carries the change.

    changed: the configuration. spared: measured ones without the change, the nearest first. pairs: with so
    many a configuration says whether it changed.
    terms, chances: (n_terms,), the likeliest first, and sum to at most 1.
    """

    changed: Configuration
    spared: tuple[Configuration, ...]
    pairs: int
    terms: tuple[Term, ...]
    chances: Floats


def unnamed(space: Space, configurations: Sequence[Configuration], reading: Reading) -> Doubt | None:
    """Who may carry what no name of an alarmed metric explains, or what a name does; None: there is no doubt.

    A name may be doubted though it is the simplest: a longer term that holds in the same measured
    configurations fits as well.
    """
    named = reading.named()
    costs = reading.watch.costs
    for doubted in (None, *named):
        explained = sum((e.each for e in named if e is not doubted), np.zeros(len(configurations)))
        for alarmed, sign in zip(reading.alarms, (1.0, -1.0), strict=True):
            if not alarmed or (doubted is not None and sign * doubted.size < 0.0):
                continue
            found = doubt(
                space,
                configurations,
                sign * (reading.location - explained),
                reading.variance,
                base=np.ones(len(configurations)) if costs is None else costs.base,
                margin=reading.watch.margin,
                scale=float(np.median(reading.watch.scale)),
            )
            if found is not None and found.chances[0] < SURE:
                return found
    return None


def doubt(
    space: Space,
    configurations: Sequence[Configuration],
    harm: Floats,
    variance: Floats,
    *,
    base: Floats,
    margin: float,
    scale: float,
) -> Doubt | None:
    """Who may carry what is left of a change; None: nothing surely changed, or everywhere.

    harm: log ratios that no sure name explains, positive in the direction of the change, variance and base:
    their variance (infinite: not measured) and what base takes (all the same: not known), each of shape
    (n_configurations,). scale: of a pair.
    """
    seen = np.isfinite(variance)
    spread = variance[seen] + LAYOUT**2
    excess = (harm[seen] - margin) / np.sqrt(spread)
    if not seen.any() or excess.max() < STANDS_OUT:
        return None
    measured = [c for c, known in zip(configurations, seen, strict=True) if known]
    # Of those that changed most clearly the one nearest to the default has the fewest terms to tell apart.
    clear = np.flatnonzero(excess >= max(STANDS_OUT, 0.5 * float(excess.max())))
    first = min(clear.tolist(), key=lambda i: (distance(measured[i], space.default), -excess[i]))
    size = float(harm[seen][first])
    spared = [c for c, own in zip(measured, harm[seen], strict=True) if own < UNCHANGED * size]
    if not spared:
        return None
    pairs = int(np.clip(math.ceil((CLEARLY * scale / size) ** 2), LEAST_PAIRS, MOST_PAIRS))
    spared.sort(key=lambda c: distance(c, measured[first]))
    terms, holding, prior = _terms(space, measured, first, harm[seen] < UNCHANGED * size)
    evidence = prior + _evidence(holding, harm[seen], spread, base[seen])
    order = np.argsort(-evidence, kind="stable")
    chances = np.exp(evidence[order] - evidence.max())
    chances /= chances.sum()
    kept = order[:MOST_TERMS].tolist()
    return Doubt(measured[first], tuple(spared), pairs, tuple(terms[i] for i in kept), chances[: len(kept)])


def telling(
    doubt: Doubt, space: Space, pool: Sequence[Configuration], *, most: int, least: float
) -> list[int]:
    """Places in the pool of at most so many configurations that together tell most.

    Each adds what it tells beside those before it, in bits; least: less is not worth its pairs.
    """
    if not pool:
        return []
    levels, covers = level_covers(space, pool)
    row = {str(level): i for i, level in enumerate(levels)}
    holding = np.array(
        [covers[[row[level] for level in term]].all(axis=0) for term in doubt.terms], dtype=np.int64
    )
    classes, known = np.zeros(len(doubt.terms), dtype=np.int64), 0.0
    chosen: list[int] = []
    while len(chosen) < most:
        told = np.array([_entropy(classes * 2 + column, doubt.chances) for column in holding.T])
        best = int(np.argmax(told))
        if told[best] - known < least:
            break
        chosen.append(best)
        known, classes = float(told[best]), classes * 2 + holding[:, best]
    return chosen


def _terms(
    space: Space, measured: Sequence[Configuration], changed: int, spared: NDArray[np.bool_]
) -> tuple[list[Term], NDArray[np.bool_], Floats]:
    """Terms that a configuration holds: their names, where they hold, and the logarithm of their priors."""
    levels, covers = level_covers(space, measured)
    mine = np.flatnonzero(covers[:, changed])
    mine = mine[np.argsort((covers[mine] & spared).sum(axis=1), kind="stable")[:LEVELS]]
    ready = readiness(levels)
    groups = [
        group
        for count in range(4)
        for group in combinations(mine.tolist(), count)
        if len({levels[i].option for i in group}) == count
    ]
    holding = np.array([covers[list(g)].all(axis=0) for g in groups])
    prior = [_prior([levels[i] for i in g], ready, len(space.options)) for g in groups]
    return [tuple(sorted(str(levels[i]) for i in g)) for g in groups], holding, np.array(prior)


def _prior(levels: Sequence[Level], ready: dict[str, float], options: int) -> float:
    """Each number of levels has its mass; within it any options are as suspect as any others."""
    own = math.prod(ready[str(level)] for level in levels)
    return math.log(PRIORS[len(levels)] * own / math.comb(options, len(levels)))


def _evidence(holding: NDArray[np.bool_], harm: Floats, spread: Floats, base: Floats) -> Floats:
    """Log likelihood of each term beside that of no change, the same share or the same amount: the better."""
    shares, amounts = (
        _likelihood(holding, harm, spread, shape) for shape in (np.ones(len(base)), base[0] / base)
    )
    return np.maximum(shares, amounts)


def _likelihood(holding: NDArray[np.bool_], harm: Floats, spread: Floats, shape: Floats) -> Floats:
    """With sizes in proportion to a shape, fitted by least squares, uneven, and odd ones cut."""
    weight = holding * (shape**2 / (spread + (UNEVEN * np.abs(harm)) ** 2))
    size = (weight @ (harm / shape)) / np.maximum(weight.sum(axis=1), 1e-300)
    expected = np.maximum(size, 0.0)[:, None] * shape
    scatter = spread + (UNEVEN * expected) ** 2
    inside = np.minimum((harm - expected) ** 2 / scatter, ODD) + np.log(scatter / spread)
    outside = np.minimum(harm**2 / spread, ODD)
    found: Floats = -0.5 * np.where(holding, inside, outside).sum(axis=1)
    return found


def _entropy(classes: NDArray[np.int64], chances: Floats) -> float:
    """Bits that are known once it is known in which class the guilty term is."""
    share = np.bincount(classes, weights=chances)
    share = share[share > 0.0] / chances.sum()
    return float(-(share * np.log2(share)).sum())
