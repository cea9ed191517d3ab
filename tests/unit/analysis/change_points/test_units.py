"""In which unit steps are the same in all configurations, where trials have no noise."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.change_points.units import Unit, unit_of

LEVELS = np.array([1.0, 2.0, 3.0, 5.0, 9.0, 12.0])


@pytest.mark.parametrize(
    ("after", "unit"),
    [
        (LEVELS + 0.3, "seconds"),
        (LEVELS * 1.1, "shares"),
        (LEVELS + np.array([0.1, 0.3, 0.2, 0.7, 0.5, 0.4]), "neither"),
        (LEVELS + 0.1 * (LEVELS == 1.0), None),
        (LEVELS, None),
    ],
    ids=str,
)
def test_moves_that_several_configurations_share_tell_the_unit(after: np.ndarray, unit: Unit | None) -> None:
    c, r = np.repeat(np.arange(6), 2), np.tile([4, 5], 6)
    assert unit_of(c, r, np.column_stack([LEVELS, after]).ravel()) == unit


def test_what_lies_between_distant_revisions_tells_nothing() -> None:
    c, r = np.repeat(np.arange(6), 2), np.tile([4, 9], 6)
    assert unit_of(c, r, np.column_stack([LEVELS, LEVELS + 0.3]).ravel()) is None
