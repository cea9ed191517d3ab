"""Terms of three levels, looked for after an alarm around the pairs that stand out most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import PAIR_COVER, Candidates, Group, Kind, level_covers, readiness
from bot.analysis.pairs import Floats
from bot.model.space import Configuration, Level, Space, Term

MASS = 0.05
"""Prior mass of all terms of three levels together: a judgement, as that of the other kinds."""
GROWN = 24
"""Pairs that a third level is added to."""


def with_triples(
    found: Candidates,
    space: Space,
    configurations: Sequence[Configuration],
    location: Floats,
    variance: Floats,
) -> Candidates:
    """The candidates, and terms of three levels that some of the most suspicious pairs are part of.

    Where any of three options leads through the same code, those who use none of them are spared: a term of
    three levels. There are too many to bet on each; location, variance: of log ratios, (n_configurations,)
    (infinite variance: not measured). Each has the prior it would have if all were tried.
    """
    levels, covers = level_covers(space, configurations)
    seen = np.isfinite(variance)
    ready = readiness(levels)
    known = {np.packbits(cover).tobytes() for cover in found.covers}
    unit = MASS / max(math.comb(len(space.options), 3), 1)
    grown: dict[bytes, tuple[NDArray[np.bool_], dict[Term, float]]] = {}
    for pair in _suspicious(found, location, np.where(seen, 1.0 / variance, 0.0)):
        for level, held in zip(levels, covers, strict=True):
            term, cover = _extended(found.terms[pair], level, space), found.covers[pair] & held
            key = np.packbits(cover).tobytes()
            if term and key not in known and (cover & seen).sum() >= PAIR_COVER:
                _, masses = grown.setdefault(key, (cover, {}))
                masses[term] = unit * math.prod(ready[name] for name in term)
    if not grown:
        return found
    new = [Group(*zip(*sorted(masses.items()), strict=True)) for _, masses in grown.values()]
    triple: Kind = "triple"
    return replace(
        found,
        terms=(*found.terms, *(group.terms[0] for group in new)),
        kinds=(*found.kinds, *[triple] * len(new)),
        covers=np.concatenate([found.covers, np.array([cover for cover, _ in grown.values()])]),
        prior=np.concatenate([found.prior * (1.0 - MASS), [sum(group.masses) for group in new]]),
        groups=(*(Group(g.terms, tuple(m * (1.0 - MASS) for m in g.masses)) for g in found.groups), *new),
    )


def _suspicious(found: Candidates, location: Floats, weight: Floats) -> list[int]:
    """Pairs that differ most from all others, by standard errors."""
    pairs = np.array([i for i, kind in enumerate(found.kinds) if kind == "pair"], dtype=np.intp)
    rest = weight * (location - float(weight @ location) / max(float(weight.sum()), 1e-300))
    covers = found.covers[pairs]
    score = np.abs(covers @ rest) / np.sqrt(np.maximum(covers @ weight, 1e-300))
    return [int(i) for i in pairs[np.argsort(-score, kind="stable")[:GROWN]]]


def _extended(pair: Term, level: Level, space: Space) -> Term:
    """The pair with a level of a third option; (): of one of its own."""
    if level.option in {space.level_of[name].option for name in pair}:
        return ()
    return tuple(sorted((*pair, str(level))))
