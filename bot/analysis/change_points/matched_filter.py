"""A matched filter over time: what all trials say of a step at many places, in every term at once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.noise import Floats, Ints
from bot.analysis.change_points.weighing import Walk

Singles: TypeAlias = NDArray[np.float32]
Line: TypeAlias = tuple[Singles, Singles]
"""Factor and offset that make a log Bayes factor of a squared moment, (n_places, n_terms) each."""


class MatchedFilter:
    """Sums of trials on both sides of each place; what does not depend on their values is kept.

    With moment N and information V of the configurations that hold a term, N^2 / V / 2 is the log likelihood
    ratio of a step there, each configuration's own level taken out.

    Args:
        c, r, w: configuration, revision and weight of each trial, (n_trials,).
        places: revisions at which a step may be, (n_places,).
        configurations: how many.
        walk: of trials that walk: only those on both sides of a place tell of a step there.

    Attributes:
        weight: of the trials from each place on, (n_configurations, n_places).
        information: of a step at each place, (n_configurations, n_places).
    """

    def __init__(
        self, c: Ints, r: Ints, w: Floats, *, places: Ints, configurations: int, walk: Walk | None = None
    ) -> None:
        self.places, self._w, self._walk = places, w, walk
        self._shape = (configurations, len(places) + 1)
        self._bins = c * self._shape[1] + np.searchsorted(places, r, side="right")
        after = self._since(w)
        whole = np.maximum(after[:, :1], 1e-300)
        self.weight: Floats = after[:, 1:]
        self.information: Floats = (
            after * (whole - after) / whole if walk is None else self._since(walk.known())
        )[:, 1:]
        self._lines: tuple[Line, Line] | None = None

    def moment(self, residual: Floats) -> Floats:
        """Weighted sums of values without their configuration's mean, (n_trials,), from each place on.

        Shape: (n_configurations, n_places).
        """
        weighed = self._w * residual if self._walk is None else self._walk.precise(residual)
        return self._since(weighed)[:, 1:]

    def _since(self, values: Floats) -> Floats:
        binned = np.bincount(self._bins, values, self._shape[0] * self._shape[1]).reshape(self._shape)
        return np.asarray(binned[:, ::-1].cumsum(axis=1)[:, ::-1])

    def score(
        self,
        residual: Floats,
        rows: Singles,
        log_prior: Floats,
        *,
        slabs: tuple[float, float],
        numbers: Ints | None = None,
    ) -> Singles:
        """Log posterior (not normalised) of a step at each place in each term, (n_places, n_terms).

        rows: which configurations hold which term, (n_configurations, n_terms). slabs: precisions of a step's
        size beforehand, of which the better one counts. numbers: of the only terms asked for. All but the
        residual and the numbers must be the same in every call.
        """
        if self._lines is None:
            known = self.information.T.astype(np.float32) @ rows
            offset = (log_prior - np.log(2.0)).astype(np.float32)
            self._lines = _line(known, slabs[0], offset), _line(known, slabs[1], offset)
        chosen = slice(None) if numbers is None else numbers
        (factor, offset), (other_factor, other_offset) = (
            (f[:, chosen], o[:, chosen]) for f, o in self._lines
        )
        found: Singles = self.moment(residual).T.astype(np.float32) @ rows[:, chosen]
        for k, score in enumerate(found):  # one place after the other: it stays in the processor's cache
            square = score * score
            np.maximum(square * factor[k] + offset[k], square * other_factor[k] + other_offset[k], out=score)
        return found


def _line(information: Singles, slab: float, offset: Singles) -> Line:
    factor, bayes = np.empty_like(information), np.empty_like(information)
    for k, known in enumerate(information):
        factor[k] = 0.5 / (known + slab)
        bayes[k] = offset - 0.5 * np.log1p(known / slab)
    return factor, bayes
