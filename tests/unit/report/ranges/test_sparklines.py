"""Measured values in a line of text."""

import pytest

from bot.model.report import ChangePoint, OptionValue, Point, Series
from bot.report.ranges.sparklines import drawing, label, length, sparkline
from tests.unit.report.ranges.builders import bisection, move, series, several


def line(
    values: dict[int, float],
    revisions: int,
    *,
    width: int = 36,
    failed: tuple[int, ...] = (),
    points: tuple[ChangePoint, ...] = (),
) -> str:
    found = tuple(Point(revision=str(p), place=p, value=v, trials=1) for p, v in values.items())
    shown = Series(options={"fast": True}, points=found, failed=failed)
    return sparkline(shown, revisions, points=points, width=width)


def test_a_doubling_fills_the_height_and_noise_does_not() -> None:
    assert line({0: 1.0, 1: 1.0, 2: 2.0, 3: 2.0}, 4) == "▁▁██"
    assert line({0: 1.0, 1: 1.01, 2: 1.0, 3: 1.03}, 4) == "▁▁▁▂"


def test_revisions_that_were_not_tried_repeat_the_last_value_but_not_beyond_all_that_were() -> None:
    assert line({2: 1.0, 5: 3.0}, 8) == "··▁▁▁█··"


def test_between_two_tried_revisions_the_value_changes_where_a_change_point_hits_the_configuration() -> None:
    change, elsewhere = move(3, "fast", ratio=3.0), move(2, "!fast", ratio=3.0)
    assert line({0: 1.0, 6: 3.0}, 8, points=(change, elsewhere)) == "▁▁▁████·"
    assert line({0: 1.0, 6: 3.0}, 8, points=(elsewhere,)) == "▁▁▁▁▁▁█·"


def test_between_two_change_points_with_no_trial_nothing_is_drawn() -> None:
    assert line({0: 1.0, 6: 3.0}, 7, points=(move(2, ratio=5.0), move(5, ratio=0.6))) == "▁▁···██"


def test_a_failed_revision_is_a_gap_unless_a_neighbour_in_its_column_was_measured() -> None:
    assert line({0: 1.0, 3: 3.0}, 4, failed=(1, 2)) == "▁  █"
    assert line({0: 1.0, 3: 3.0}, 4, width=2, failed=(1, 2)) == "▁█"


def test_a_long_range_is_squeezed_by_medians() -> None:
    values = {i: 1.0 if i < 500 else 2.0 for i in range(1000)} | {100: 50.0}
    assert line(values, 1000, width=10) == "▁▁▁▁▁█████"


@pytest.mark.parametrize("values", [{}, {0: 0.0}, {0: float("inf"), 1: 1.0}])
def test_odd_values_are_no_accident(values: dict[int, float]) -> None:
    assert len(line(values, 4)) == 4


def test_numbers_stand_below_their_change_points_and_never_on_each_other() -> None:
    found = tuple(move(place, ratio=1.1) for place in (0, 20, 21, 22, 39))
    lines = drawing(bisection(series=(series(),), change_points=found)).text.splitlines()
    start = len("default  ")
    first = f"{'1':18}{'2,3':17}5"  # 20 and 21 share a column of the 36 for 40 revisions
    assert lines[1:] == [" " * start + first, " " * (start + 19) + "4"]


def test_small_changes_beside_a_large_one_stay_small() -> None:
    large, small = move(12, ratio=4.0), move(12, "extreme", ratio=1.05)
    shown = bisection(series=(series(large), series(small, extreme=True)), change_points=(large, small))
    first, second = drawing(shown).text.splitlines()[:2]
    assert "█" in first and "▂" not in second


def test_a_configuration_is_called_by_what_differs_from_the_default_one() -> None:
    default: dict[str, OptionValue] = {"a": False, "b": True, "level": 6, "mode": "x"}
    assert label(default, default, limit=20) == "default"
    assert label(default | {"a": True, "b": False}, default, limit=20) == "a !b"
    assert label(default | {"level": 9, "mode": "fast", "a": True}, default, limit=16) == "a level=9 +1"
    assert len(label({"o" * 100: True}, {}, limit=20)) == 20


def test_without_the_default_configuration_none_is_called_so() -> None:
    assert "default" not in drawing(bisection(series=(series(extreme=True),))).text


def test_the_length_of_a_range_is_known_without_being_told() -> None:
    assert length(several().model_copy(update={"revisions": 0})) == 40
    assert length(bisection(series=(), revisions=0)) == 0


def test_instructions_are_told_in_millions() -> None:
    report = bisection()
    (first, *_) = report.series
    points = tuple(p.model_copy(update={"value": 1e6 * (p.place + 10)}) for p in first.points)
    counted = first.model_copy(update={"unit": "instructions", "points": points})
    text = drawing(report.model_copy(update={"series": (counted,)})).text
    assert f"10.0 to {points[-1].place + 10}.0 million instructions" in text


def test_configurations_are_told_apart_first_by_what_moved_and_never_by_what_all_have_alike() -> None:
    point = move(12, "extreme", ratio=1.2)
    shown = [
        series(point, extreme=extreme).model_copy(
            update={"default": False, "options": {"alike": True, "deep": deep, "extreme": extreme}}
        )
        for extreme, deep in ((True, False), (False, True))
    ]
    lines = drawing(bisection(series=tuple(shown), change_points=(point,))).text.splitlines()
    assert [line.partition("  ")[0] for line in lines[:2]] == ["extreme !deep", "!extreme deep"]


def test_many_options_that_seldom_differ_do_not_give_two_configurations_one_label() -> None:
    names = [f"option{number}" for number in range(9)]
    shown = [
        series().model_copy(update={"default": False, "options": {name: name not in off for name in names}})
        for off in (names[:5], names[:6], names[:5] + names[8:], names[:6] + names[8:])
    ]
    lines = drawing(bisection(series=tuple(shown))).text.splitlines()
    labels = [line.partition("  ")[0] for line in lines]
    assert labels == ["option5 option8", "!option5 option8", "option5 !option8", "!option5 !option8"]


def test_what_tells_most_configurations_apart_comes_first() -> None:
    names = ["ant", "bee", "cat", "dog", "elk", "fox"]
    ons = ("ant bee cat dog elk fox", "ant bee cat dog elk", "ant bee cat dog fox", "ant bee cat", "elk fox")
    shown = [
        series().model_copy(
            update={"default": False, "options": {name: name in on.split() for name in names}}
        )
        for on in ons
    ]
    lines = drawing(bisection(series=tuple(shown))).text.splitlines()
    labels = [line.partition("  ")[0] for line in lines]
    assert len(set(labels)) == len(shown), labels


def test_what_moved_does_not_push_out_what_tells_configurations_apart() -> None:
    moved = [f"moved{number}" for number in range(8)]
    points = tuple(move(12, name, ratio=1.2) for name in moved)
    shown = [
        series(*points).model_copy(
            update={"default": False, "options": dict.fromkeys(moved, all_on) | {"other": other}}
        )
        for all_on, other in ((True, True), (False, True), (False, False))
    ]
    lines = drawing(bisection(series=tuple(shown), change_points=points)).text.splitlines()
    labels = [line.partition("  ")[0] for line in lines[:3]]
    assert labels == ["moved0 other +7", "!moved0 other +7", "!moved0 !other +7"]
