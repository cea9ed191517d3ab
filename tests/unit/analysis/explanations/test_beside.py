"""What is left beside others, worked out from neighbours, against the same worked out in one go."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.analysis.explanations.beside import Beside
from bot.analysis.explanations.cells import Cells, Floats
from bot.analysis.explanations.overlaps import Overlaps

BOUND = 0.5


def directly(overlaps: Floats, moment: Floats, others: list[int]) -> tuple[Floats, Floats]:
    """Moment and information beside others by solving for all candidates."""
    gram = overlaps[np.ix_(others, others)] + BOUND * np.eye(len(others))
    explained = np.linalg.solve(gram, overlaps[others])
    left = np.diag(overlaps) - (overlaps[others] * explained).sum(axis=0)
    return moment - moment[others] @ explained, left


def drawn(rng: np.random.Generator, *, alike: float) -> tuple[Floats, Floats, Beside]:
    """Thirty candidates over forty cells; the last ten are the first ten but for so much."""
    columns = rng.standard_normal((40, 20))
    columns = np.hstack([columns, columns[:, :10] + alike * rng.standard_normal((40, 10))])
    overlaps = columns.T @ columns
    moment = columns.T @ rng.standard_normal(40)

    def overlap(candidate: int) -> NDArray[np.float32]:
        return np.asarray(overlaps[candidate], dtype=np.float32)

    return overlaps, moment, Beside(overlap, moment, np.diag(overlaps).copy(), bound=BOUND)


@pytest.mark.parametrize("alike", [1.0, 0.0])
def test_what_is_left_after_many_small_changes_is_what_solving_for_it_leaves(alike: float) -> None:
    rng = np.random.default_rng(5)
    overlaps, moment, beside = drawn(rng, alike=alike)
    chosen: list[int] = []
    for _ in range(300):
        for candidate in rng.choice(30, int(rng.integers(1, 3)), replace=False).tolist():
            if candidate in chosen:
                chosen.remove(candidate)
            elif len(chosen) < 12:
                chosen.append(candidate)
        expected = directly(overlaps, moment, chosen)
        for found, wanted in zip(beside(chosen), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-3)


def test_candidates_that_are_the_same_and_nearly_unbounded_leave_finite_figures() -> None:
    rng = np.random.default_rng(6)
    column = rng.standard_normal(40)
    overlaps = np.full((6, 6), column @ column)
    moment = np.full(6, column @ rng.standard_normal(40))
    beside = Beside(lambda j: overlaps[j].astype(np.float32), moment, np.diag(overlaps), bound=1e-18)
    for chosen in ([0], [0, 1], [0, 1, 2], [1, 2], [1, 2, 3], [3], [3, 4, 5]):
        left, information = beside(chosen)
        assert np.abs(left).max() < 1e-2 * abs(moment[0]), chosen
        assert information.max() < 1e-2 * overlaps[0, 0], chosen


def test_overlaps_are_products_of_columns_that_were_never_written_out() -> None:
    rng, cells = np.random.default_rng(7), Cells()
    for _ in range(40):
        cells.add((int(rng.integers(5)), int(rng.integers(12))), float(rng.uniform(1.0, 2.0)))
    table, cuts = cells.table(), np.unique(cells.table().revision)
    n = len(table.value)
    design = rng.standard_normal((5, 4)).astype(np.float32)
    covariance = np.cov(rng.standard_normal((n, 3 * n)))
    overlaps = Overlaps(table, design, cuts, np.asarray(np.linalg.cholesky(covariance)))
    columns = np.array(
        [design[table.configuration, kind] * (table.revision >= cut) for kind in range(4) for cut in cuts[1:]]
    ).astype(np.float64)
    precision = np.linalg.inv(covariance)
    wanted = columns @ precision @ columns.T
    np.testing.assert_allclose(overlaps.information(), np.diag(wanted), rtol=1e-9)
    np.testing.assert_allclose(overlaps.moment(table.value), columns @ precision @ table.value)
    for candidate in range(len(columns)):
        np.testing.assert_allclose(overlaps.of(candidate), wanted[candidate], rtol=1e-4, atol=1e-5)
