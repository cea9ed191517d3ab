"""Which configurations of a range are shown, and what of them."""

import math
from collections.abc import Mapping

from bot.flows.ranges.series import SHOWN, series
from bot.model.change_points import Observation, Probe
from bot.model.revisions import Revision
from bot.model.space import Option, Space

SPACE = Space(tuple(Option(name, "flag", (False, True), default=False) for name in "abcd"))
REVISIONS = [Revision(f"id{i}", f"v{i}") for i in range(20)]


def seen(configuration: str, *values: float, start: int = 0, built: bool = True) -> list[Observation]:
    """Values at consecutive revisions of the configuration that has these options on."""
    made = tuple(name in configuration for name in "abcd")
    return [Observation(Probe(made, start + i), v, built) for i, v in enumerate(values)]


def on(options: Mapping[str, object]) -> str:
    return "".join(name for name, value in options.items() if value)


def test_a_point_is_the_median_of_its_trials() -> None:
    (shown,) = series(SPACE, REVISIONS, seen("a", 1.0, 5.0) + seen("a", 3.0) + seen("a", 2.0))
    first, second = shown.points
    assert (first.revision, first.place, first.value, first.trials) == ("id0", 0, 2.0, 3)
    assert (second.revision, second.value, second.trials) == ("id1", 5.0, 1)


def test_ratios_are_one_at_the_revision_that_they_are_ratios_to() -> None:
    trials = seen("a", 0.9, 0.95) + seen("b", 0.9, 0.95) + seen("b", 1.02, start=4)
    found = series(SPACE, REVISIONS, trials, unit="ratio", partner=4)
    assert {on(s.options): [(p.place, p.value, p.trials) for p in s.points][2:] for s in found} == {
        "b": [(4, 1.02, 1)],  # as measured beside itself
        "a": [(4, 1.0, 0)],
    }


def test_the_default_configuration_comes_first_and_is_marked() -> None:
    found = series(SPACE, REVISIONS, seen("a", 1.0, 1.0, 1.0) + seen("", 1.0, 1.0))
    assert [(on(s.options), s.default) for s in found] == [("", True), ("a", False)]


def test_configurations_that_hold_a_found_term_come_before_others_however_often_those_were_seen() -> None:
    often = [o for name in ("a", "b", "c", "ab", "ac", "bc", "abc", "") for o in seen(name, *[1.0] * 9)]
    plain, crowded = seen("d", *[1.0] * 4), seen("abcd", *[1.0] * 5)
    found = series(SPACE, REVISIONS, often + plain + crowded, terms=[("d",), ()])
    assert [on(s.options) for s in found[:2]] == ["", "d"]
    assert len(found) == SHOWN


def test_a_configuration_seen_once_shows_nothing() -> None:
    assert series(SPACE, REVISIONS, seen("a", 1.0)) == ()


def test_places_without_a_value_are_told_apart_from_places_that_were_not_tried() -> None:
    trials = (
        seen("a", 1.0, math.nan, 1.0)
        + seen("b", 2.0, 2.0)
        + seen("b", math.nan, start=7, built=False)
        + seen("a", math.nan)  # one failure among good trials
    )
    found = series(SPACE, REVISIONS, trials, unit="ratio")
    assert [(on(s.options), s.failed, s.unit) for s in found] == [
        ("a", (1, 7), "ratio"),
        ("b", (7,), "ratio"),
    ]
