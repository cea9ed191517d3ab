"""Precision, recall and F1 of change points: one to one, within 5 commits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from bot.model.space import Term

TOLERANCE = 5  # commits, section 4.1.4


@dataclass(frozen=True)
class Score:
    """Shares of found ones that are true, and of true ones that are found."""

    f1: float
    precision: float
    recall: float


def score(truth: Sequence[tuple[int, Hashable]], found: Sequence[tuple[int, Hashable]]) -> Score:
    """Matches equal things within the tolerance, as many as possible, each at most once."""
    fits = np.array([[b == d and abs(a - c) <= TOLERANCE for c, d in found] for a, b in truth], dtype=float)
    hits = 0.0
    if fits.size:
        rows, columns = linear_sum_assignment(fits, maximize=True)
        hits = float(fits[rows, columns].sum())
    precision = hits / len(found) if found else 0.0
    recall = hits / len(truth) if truth else 0.0
    f1 = 2 * hits / (len(found) + len(truth)) if found or truth else 1.0
    return Score(f1, precision, recall)


def association_score(truth: Sequence[tuple[int, Term]], found: Sequence[tuple[int, Term]]) -> Score:
    """The paper's: an interaction is a pair for each of its options."""
    return score(_pairs(truth), _pairs(found))


def exact_score(truth: Sequence[tuple[int, Term]], found: Sequence[tuple[int, Term]]) -> Score:
    """The whole term must be right."""
    return score(list(truth), list(found))


def _pairs(points: Sequence[tuple[int, Term]]) -> list[tuple[int, str]]:
    return sorted({(commit, option) for commit, term in points for option in term or ("",)})
