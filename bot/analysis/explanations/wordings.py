"""Whether other explanations say in other words what the best one says of a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.evidence import Evidence

NEAR = 2
"""Measured revisions between a step and its counterpart in another explanation."""
LEAST = 0.5
"""Share of a step's size that it has at least in an explanation that means the same."""


def agreement(
    best: Sequence[int],
    others: Sequence[Sequence[int]],
    evidence: Evidence,
    *,
    usable: NDArray[np.bool_],
    least: float,
) -> Floats:
    """By step of an explanation, the share of other ones that mean the same in whatever terms, (n_steps,).

    They do where the steps of its place, resized, describe what another one moves there in all
    configurations, but for `least` (a share of the level) and what moves are uneven by. usable: cells that
    may have a value, (n_configurations, n_revisions).
    Source: Hahn and Carvalho, "Decoupling Shrinkage and Selection in Bayesian Linear Models", 2015 (posterior
    draws are projected on the few terms that are told).
    """
    kinds, places = np.divmod(np.array(best), evidence.places)
    sizes, level = evidence.sizes(best)[0], evidence.levels()
    each = {other: _moved(best, other, evidence) for other in set(map(tuple, others))}
    moved = np.array([each[tuple(other)] for other in others])
    found = np.zeros(len(best))
    for i, place in enumerate(np.unique(places)):
        rows = usable[:, evidence.cuts[place]] & usable[:, evidence.cuts[place + 1]]
        if not rows.any():
            continue
        own = places == place
        design = evidence.design[rows][:, kinds[own]].astype(np.float64)
        known = np.sqrt(((design * sizes[own]) ** 2).sum(axis=1))
        there = moved[:, i, rows].T
        resized = np.linalg.pinv(design) @ there
        tolerance = least * level[rows] + evidence.scales.uneven * known
        same = (np.abs(there - design @ resized) <= tolerance[:, None]).all(axis=0)
        kept = resized * np.sign(sizes[own])[:, None] >= LEAST * np.abs(sizes[own])[:, None]
        found[own] = (same & kept).mean(axis=1)
    return found


def kinship(best: Sequence[int], others: Sequence[Sequence[int]], evidence: Evidence) -> Floats:
    """By step, the share of other explanations with a step of its levels, and maybe more, there, (n_steps,).

    In its direction, at its place or next to it. Everything has no kin but itself.
    """
    kinds, places = np.divmod(np.array(best), evidence.places)
    own = [set(evidence.kinds.name(kind)) for kind in kinds]
    down = evidence.sizes(best)[0] < 0.0
    found = np.zeros(len(best))
    for other, times in Counter(map(tuple, others)).items():
        heard = np.zeros(len(best), dtype=bool)
        for candidate, size in zip(other, evidence.sizes(other)[0] if other else (), strict=True):
            kind, at = divmod(candidate, evidence.places)
            levels = set(evidence.kinds.name(kind))
            alike = np.array([mine == levels if not mine else mine <= levels for mine in own])
            heard |= alike & (down == (size < 0.0)) & (np.abs(places - at) <= NEAR)
        found[heard] += times
    return found / len(others)


def shared_terms(mass: Floats, evidence: Evidence, share: float) -> dict[int, list[int]]:
    """By place, the numbers of the terms that so many explanations have there, in seconds or as a share."""
    each = np.zeros((int(evidence.kinds.term.max()) + 1, evidence.places))
    np.add.at(each, evidence.kinds.term, mass.reshape(len(evidence.kinds), evidence.places))
    found: dict[int, list[int]] = {}
    for term, place in np.argwhere(each >= share).tolist():
        found.setdefault(place, []).append(term)
    return found


def in_shared_words(
    chosen: Sequence[int], place: int, shared: Sequence[int], mass: Floats, evidence: Evidence, share: float
) -> list[int]:
    """An explanation that has the terms which others share at a place, and there no other ones that few have.

    mass: see `Ensemble.mass_`. share: of explanations with a term, below which it goes.
    """
    by_kind, kinds = mass.reshape(len(evidence.kinds), evidence.places)[:, place], evidence.kinds.term
    there = {int(kinds[j // evidence.places]) for j in chosen if j % evidence.places == place}
    missing = [term for term in shared if term not in there]
    if not missing:
        return list(chosen)
    few = {term for term in there if by_kind[kinds == term].sum() < share}
    kept = [j for j in chosen if j % evidence.places != place or int(kinds[j // evidence.places]) not in few]
    likeliest = [int(np.argmax(np.where(kinds == term, by_kind, -1.0))) for term in missing]
    return kept + [kind * evidence.places + place for kind in likeliest]


def _moved(best: Sequence[int], other: Sequence[int], evidence: Evidence) -> Floats:
    """How far another explanation moves all configurations at the best one's places.

    (n_places of the best one, n_configurations). A step counts for the nearest one of its term and
    direction, if there is one, else for the nearest place.
    """
    steps: dict[int, set[tuple[int, bool]]] = {}
    for candidate, size in zip(best, evidence.sizes(best)[0], strict=True):
        kind, place = divmod(candidate, evidence.places)
        steps.setdefault(place, set()).add((int(evidence.kinds.term[kind]), bool(size > 0.0)))
    placed = sorted(steps)
    moved = np.zeros((len(placed), len(evidence.design)))
    for candidate, size in zip(other, evidence.sizes(other)[0] if other else (), strict=True):
        kind, at = divmod(candidate, evidence.places)
        near = [p for p in placed if abs(p - at) <= NEAR]
        if near:
            step = int(evidence.kinds.term[kind]), bool(size > 0.0)
            counterpart = min(near, key=lambda p: (step not in steps[p], abs(p - at)))
            moved[placed.index(counterpart)] += size * evidence.design[:, kind]
    return moved
