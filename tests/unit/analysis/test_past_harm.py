"""What became of the terms that earlier changes made worse."""

from bot.analysis.past_changes import PastChange
from bot.analysis.past_harm import PastHarm, past_harms


def step(place: int, size: float, term: str = "a") -> PastChange:
    return PastChange(place, place - 1, size, {(term,): 1.0})


def harms(*changes: PastChange, sign: float = 1.0) -> list[tuple[str, float, int, int | None]]:
    found: tuple[PastHarm, ...] = past_harms(changes, sign=sign, margin=0.01)
    return [
        (h.term[0], round(h.size, 3), h.raised.place, h.undone.place if h.undone else None) for h in found
    ]


def test_what_got_worse_stands_since_its_last_rise_and_the_largest_comes_first() -> None:
    assert harms(step(1, 0.03, "b"), step(2, 0.05), step(4, 0.04)) == [
        ("a", 0.09, 4, None),
        ("b", 0.03, 1, None),
    ]


def test_what_was_taken_back_is_undone_and_a_part_leaves_the_rest() -> None:
    assert harms(step(2, 0.05), step(3, -0.05)) == [("a", 0.05, 2, 3)]
    assert harms(step(2, 0.05), step(3, -0.02)) == [("a", 0.03, 2, None)]


def test_what_came_again_stands_again() -> None:
    assert harms(step(2, 0.05), step(3, -0.05), step(5, 0.06)) == [("a", 0.06, 5, None)]


def test_a_rise_that_gives_back_an_earlier_gain_is_no_harm() -> None:
    assert harms(step(2, -0.06), step(3, 0.06)) == []


def test_where_more_is_better_a_fall_is_the_harm() -> None:
    assert harms(step(2, -0.05), sign=-1.0) == [("a", 0.05, 2, None)]
    assert harms(step(2, 0.05), sign=-1.0) == []
