"""What trials tell of every candidate beside some others, from what they tell beside nearly the same ones."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.explanations.cells import Floats

ALIKE = 1e-4
"""Share of its own by which a step differs from all others at least, where rounding would hide that."""
KEPT = 4
"""Sets of candidates that are kept: draws take out one step and put in one."""
FEW = 2
"""Candidates by which a set may differ from a kept one: beyond that it is worked out anew."""
ADRIFT = 32
"""Changes after which rounding makes that necessary, too."""


@dataclass(frozen=True)
class Left:
    """What is left of all candidates beside some.

    chosen: these. inverse: of their overlaps and the bound of their sizes, (k, k). moment, information:
    (n_candidates,). changes: since it was worked out anew.
    """

    chosen: tuple[int, ...]
    inverse: Floats
    moment: Floats
    information: Floats
    changes: int = 0

    def place(self, candidate: int) -> int | None:
        """Where among the chosen a candidate is; None: it is not."""
        return self.chosen.index(candidate) if candidate in self.chosen else None


class Beside:
    """Moments and information of all candidates beside others, whose sizes are integrated out.

    Args:
        overlap: of all candidates with one, (n_candidates,).
        moment, information: of all beside none, (n_candidates,).
        bound: precision of a size beforehand.
    """

    def __init__(
        self,
        overlap: Callable[[int], NDArray[np.float32]],
        moment: Floats,
        information: Floats,
        *,
        bound: float,
    ) -> None:
        self._none = Left((), np.zeros((0, 0)), moment, information)
        self._overlap, self._bound = overlap, bound
        self._kept: list[Left] = []

    def __call__(self, others: Collection[int]) -> tuple[Floats, Floats]:
        """Moment and information of each candidate beside others, (n_candidates,) each."""
        if not others:
            return self._none.moment, self._none.information
        left = self._near(tuple(others))
        return left.moment, np.maximum(left.information, 0.0)

    def _near(self, others: tuple[int, ...]) -> Left:
        """From a kept set that is nearly the same, or anew."""
        wanted = set(others)
        left = min(self._kept, key=lambda kept: len(wanted.symmetric_difference(kept.chosen)), default=None)
        if left is None or left.changes > ADRIFT or len(wanted.symmetric_difference(left.chosen)) > FEW:
            return self._keep(self._anew(others))
        for j in (*wanted.difference(left.chosen), *set(left.chosen).difference(wanted)):
            i = left.place(j)
            own = left.information[j] if i is None else 1.0 / left.inverse[i, i]
            if own < ALIKE * self._none.information[j]:  # rounding would be all that is left of it
                return self._keep(self._anew(others))
            left = self._keep(self._with(left, j) if i is None else self._without(left, i))
        return left

    def _keep(self, left: Left) -> Left:
        self._kept = [*self._kept[-KEPT + 1 :], left]
        return left

    def _anew(self, chosen: tuple[int, ...]) -> Left:
        overlaps = self._overlaps(chosen)
        picked = list(chosen)
        gram = overlaps[:, picked].astype(np.float64) + self._bound * np.eye(len(picked))
        # A product with the small inverse is several times as quick as solving for all candidates.
        root = np.linalg.inv(_root(gram))
        explained = root.astype(np.float32) @ overlaps
        return Left(
            chosen,
            root.T @ root,
            self._none.moment - (root @ self._none.moment[picked]) @ explained,
            self._none.information - np.einsum("ij,ij->j", explained, explained),
        )

    def _without(self, left: Left, i: int) -> Left:
        """The i-th of them less: what it alone explained is left again."""
        row, pivot = left.inverse[i], left.inverse[i, i]
        gone = self._combined(row, left.chosen)
        inverse = left.inverse - np.outer(row, row) / pivot
        moment = float(row @ self._none.moment[list(left.chosen)])
        return Left(
            left.chosen[:i] + left.chosen[i + 1 :],
            np.delete(np.delete(inverse, i, axis=0), i, axis=1),
            left.moment + gone * (moment / pivot),
            left.information + gone**2 / pivot,
            left.changes + 1,
        )

    def _with(self, left: Left, j: int) -> Left:
        """One more: what it alone explains is not left any more."""
        overlap = self._overlap(j)
        shared = left.inverse @ overlap[list(left.chosen)]
        own = overlap - self._combined(shared, left.chosen)
        own_information = max(float(own[j]), 0.0) + self._bound
        k = len(left.chosen)
        inverse = np.empty((k + 1, k + 1))
        inverse[:k, :k] = left.inverse + np.outer(shared, shared) / own_information
        inverse[:k, k] = inverse[k, :k] = -shared / own_information
        inverse[k, k] = 1.0 / own_information
        return Left(
            (*left.chosen, j),
            inverse,
            left.moment - own * (float(left.moment[j]) / own_information),
            left.information - own**2 / own_information,
            left.changes + 1,
        )

    def _combined(self, weights: Floats, chosen: tuple[int, ...]) -> Floats:
        """The sum of overlaps with some candidates, each with its weight, (n_candidates,)."""
        found: Floats = (weights.astype(np.float32) @ self._overlaps(chosen)).astype(np.float64)
        return found

    def _overlaps(self, chosen: Collection[int]) -> NDArray[np.float32]:
        return np.array([self._overlap(j) for j in chosen])


def _root(gram: Floats) -> Floats:
    """The Cholesky factor; of sizes that nearly nothing bounds, with steps that look alike as one."""
    try:
        return np.asarray(np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:  # overlaps are of single precision
        return np.asarray(np.linalg.cholesky(gram + ALIKE * np.diag(np.diag(gram))))
