"""Vectors of machines: steady rates of stressors, machines that are the same hardware merged, gaps masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

UNSTEADY = 0.10
"""Coefficient of variation over repetitions from which on a rate is not used."""
ALIKE = np.log(1.05)
"""Machines whose rates differ by less (median over stressors) are one type of hardware."""
GO_TOGETHER = 0.8
"""Correlation of rates over machines from which on two stressors cannot be told apart."""


@dataclass(frozen=True)
class Types:
    """Types of hardware with complete vectors.

    members: machines of each type, as rows of what was given. rates: (n_types, n_stressors). stressors: which
    columns of what was given these are. dropped: rows that lack one of these stressors.
    """

    members: Sequence[NDArray[np.int64]]
    rates: Floats
    stressors: NDArray[np.int64]
    dropped: Sequence[int]

    @property
    def work(self) -> Floats:
        """Relative time of one operation of each stressor, (n_types, n_stressors), geometric mean 1 each."""
        logarithm = -np.log(self.rates)
        return np.asarray(np.exp(logarithm - logarithm.mean(axis=0)))

    def merged(self, seconds: Floats) -> Floats:
        """A positive value of each machine, (n,), as geometric means by type, (n_types,)."""
        return np.array([np.exp(np.log(seconds[rows]).mean()) for rows in self.members])


def steady(rates: Mapping[str, Floats]) -> tuple[dict[str, float], list[str]]:
    """Median rate of each stressor over its repetitions, and those left out because they vary too much.

    A stressor that gave nothing at all is in neither.
    """
    kept, unsteady = {}, []
    for name, found in rates.items():
        known = found[np.isfinite(found)]
        if not len(known):
            continue
        if len(known) > 1 and np.std(known, ddof=1) > UNSTEADY * np.mean(known):
            unsteady.append(name)
        else:
            kept[name] = float(np.median(known))
    return kept, unsteady


def types_of(rates: Floats) -> Types:
    """Merges machines of the same hardware and masks gaps; rates: (n, n_stressors), NaN: not known.

    Labels of machines are no types: the same hardware hides behind several, and would be on both sides of a
    leave-one-out test. Types are clusters of average linkage by the median difference of logarithms.
    """
    logarithm = np.log(rates)
    groups = _groups(_differences(logarithm), float(ALIKE))
    members = [np.flatnonzero(groups == group) for group in dict.fromkeys(groups.tolist())]
    known = np.array([np.isfinite(logarithm[rows]).any(axis=0) for rows in members])
    whole, stressors = _complete(known.reshape(len(members), rates.shape[1]))
    kept = [members[i] for i in whole]
    means = [np.exp(np.nanmean(logarithm[rows][:, stressors], axis=0)) for rows in kept]
    lacking = set(range(len(rates))) - {int(row) for rows in kept for row in rows}
    return Types(kept, np.array(means).reshape(len(kept), len(stressors)), stressors, sorted(lacking))


def clusters_of(rates: Floats) -> NDArray[np.int64]:
    """A code for each stressor, (n_stressors,): equal where rates go together over types, whatever the sign.

    rates: (n_types, n_stressors), complete.
    """
    logarithm = np.log(rates)
    centred = logarithm - logarithm.mean(axis=0)
    norm = np.linalg.norm(centred, axis=0)
    unit = centred / np.where(norm > 0, norm, 1.0)
    groups = _groups(1.0 - np.abs(unit.T @ unit), 1.0 - GO_TOGETHER)
    first = {group: code for code, group in enumerate(dict.fromkeys(groups.tolist()))}
    return np.array([first[group] for group in groups.tolist()], dtype=np.int64)


def _complete(known: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns without gaps: what has the largest share of gaps is left out, one after the other."""
    rows, columns = np.arange(known.shape[0]), np.arange(known.shape[1])
    while rows.size and columns.size and not (part := known[np.ix_(rows, columns)]).all():
        gaps = (~part).mean(axis=1), (~part).mean(axis=0)
        if gaps[0].max() > gaps[1].max():
            rows = np.delete(rows, gaps[0].argmax())
        else:
            columns = np.delete(columns, gaps[1].argmax())
    return rows, columns


def _differences(logarithm: Floats) -> Floats:
    """Median difference over the stressors that both machines have, (n, n); infinite without any."""
    n = len(logarithm)
    found = np.zeros((n, n))
    for i in range(n):
        gaps = np.abs(logarithm[i] - logarithm)
        for k in range(n):
            shared = gaps[k][np.isfinite(gaps[k])]
            found[i, k] = np.median(shared) if len(shared) else 1e6
    return found


def _groups(distances: Floats, most: float) -> NDArray[np.int64]:
    """Clusters of average linkage, (n,)."""
    if len(distances) < 2:
        return np.ones(len(distances), dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    square = np.clip((distances + distances.T) / 2, 0.0, None)
    np.fill_diagonal(square, 0.0)
    joined = linkage(squareform(square, checks=False), "average")
    return np.asarray(fcluster(joined, most, "distance"), dtype=np.int64)
