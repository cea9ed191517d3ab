"""Doubts of a search in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import pytest

from bot.flows.ranges.telling import told_doubts
from bot.model.change_points import ChangePoint, Doubt, Observation, Probe
from bot.model.revisions import Revision

REVISIONS = [Revision(f"id{i}", f"v{i}") for i in range(5)]


class Unsure:
    """A search that found nothing it is sure of."""

    change_points_: Sequence[ChangePoint] = ()

    def __init__(self, *doubts: Doubt) -> None:
        self.doubts_ = doubts

    def wishes(self) -> Sequence[Probe]:
        return ()

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        return self


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "`v3` made some configurations up to 12 % slower; which options it takes is not sure: `a`, or"
         " `b` with `c`."),
        ({"beside": True, "terms": (("a",),)}, "`v3` made some configurations up to 12 % slower beside what"
         " is told of it; which options it takes is not sure: `a`, most likely."),
        ({"interval": (2, 3), "ratio": 0.9, "terms": ()}, "One of `v2` to `v3` made some configurations up to"
         " 10 % faster; which options it takes is not clear."),
    ],
)  # fmt: skip
def test_a_doubt_says_where_something_moved_how_far_and_which_terms_are_likely(
    changes: dict[str, Any], told: str
) -> None:
    known: dict[str, Any] = {
        "interval": (3, 3),
        "terms": (("a",), ("b", "c")),
        "ratio": 1.12,
        "beside": False,
    }
    (listed,) = told_doubts(Unsure(Doubt(3, **(known | changes))), REVISIONS, higher_is_better=False)
    assert (listed.kind, listed.items) == ("unclear", (told,))


def test_where_more_is_better_a_higher_ratio_is_faster() -> None:
    (listed,) = told_doubts(
        Unsure(Doubt(3, (3, 3), (("a",),), 1.12, beside=False)), REVISIONS, higher_is_better=True
    )
    assert "12 % faster" in listed.items[0]


def test_a_search_without_doubts_lists_none() -> None:
    assert told_doubts(Unsure(), REVISIONS, higher_is_better=False) == ()
