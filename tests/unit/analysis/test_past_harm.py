"""What became of the terms that earlier changes made worse."""

from bot.analysis.past_changes import PastChange
from bot.analysis.past_harm import PastHarm, past_harms
from bot.model.space import Term


def step(place: int, size: float, term: str = "a") -> PastChange:
    return PastChange(place, place - 1, size, {(term,): 1.0})


def harms(*changes: PastChange, sign: float = 1.0) -> list[tuple[str, float, int, int | None]]:
    found: tuple[PastHarm, ...] = past_harms(changes, sign=sign, margin=0.01)
    return [
        (h.terms[0][0], round(h.size, 3), h.raised.place, h.undone.place if h.undone else None) for h in found
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


def test_a_term_is_told_only_where_it_carries_the_change_more_likely_than_not() -> None:
    unsure = PastChange(2, 1, 0.05, {("b",): 0.3, ("a",): 0.4, ("c",): 0.3})
    (harm,) = past_harms([unsure], sign=1.0, margin=0.01)
    assert harm.term is None and harm.terms == (("a",), ("b",), ("c",))
    assert past_harms([step(1, 0.05)], sign=1.0, margin=0.01)[0].term == ("a",)


def test_a_fall_that_may_be_of_the_same_term_takes_back_a_rise() -> None:
    fall = PastChange(4, 3, -0.05, {("a", "b"): 0.6, ("a",): 0.4})
    assert harms(step(2, 0.05), fall) == [("a", 0.05, 2, 4)]
    other = PastChange(4, 3, -0.05, {("b",): 0.9, ("a",): 0.1})
    assert harms(step(2, 0.05), other) == [("a", 0.05, 2, None)]


def test_a_rise_that_a_fall_of_an_overlapping_term_may_have_taken_back_is_not_told() -> None:
    up, down = PastChange(2, 1, 0.09, {("!a", "w"): 1.0}), PastChange(4, 3, -0.08, {("b", "w"): 1.0})
    assert past_harms([up, down], sign=1.0, margin=0.01) == ()
    everything = PastChange(4, 3, -0.08, {(): 1.0})
    assert past_harms([up, everything], sign=1.0, margin=0.01) == ()
    undone = PastChange(3, 2, -0.09, {("!a", "w"): 1.0})
    assert [h.undone for h in past_harms([up, undone, down], sign=1.0, margin=0.01)] == [undone]
    small = PastChange(4, 3, -0.04, {("b", "w"): 1.0})
    assert [h.term for h in past_harms([up, small], sign=1.0, margin=0.01)] == [("!a", "w")]
    again = PastChange(6, 5, 0.05, {("!a", "w"): 1.0})
    assert [h.raised for h in past_harms([up, down, again], sign=1.0, margin=0.01)] == [again]


def test_two_rises_of_terms_that_are_not_known_are_two_harms() -> None:
    shares: dict[Term, float] = {("a",): 0.4, ("b",): 0.3, ("c",): 0.3}
    found = past_harms(
        [PastChange(2, 1, 0.05, shares), PastChange(4, 3, 0.04, shares)], sign=1.0, margin=0.01
    )
    assert [round(h.size, 3) for h in found] == [0.05, 0.04]


def test_where_several_steps_explain_one_place_no_term_is_singled_out() -> None:
    (harm,) = past_harms([step(3, 0.05), step(3, 0.09, "b")], sign=1.0, margin=0.01)
    assert harm.term is None and set(harm.terms) == {("a",), ("b",)} and harm.size == 0.09
