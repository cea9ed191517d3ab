"""Durations and percentages as people write them."""

from __future__ import annotations

import pytest

from bot.model.quantities import parse_fraction, parse_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60s", 60),
        ("5m", 300),
        ("1h", 3600),
        ("90", 90),
        (90, 90),
        (1.5, 1.5),
        ("500ms", 0.5),
        ("1h30m", 5400),
    ],
)
def test_a_duration_is_read_in_seconds(text: object, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["soon", "5 minutes", "-3s", "", True, None, "1,5s", [5]])
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_seconds(text)


@pytest.mark.parametrize(("text", "fraction"), [("1%", 0.01), ("0.5 %", 0.005), (0.02, 0.02), ("0.03", 0.03)])
def test_a_percentage_is_read_as_a_fraction(text: object, fraction: float) -> None:
    assert parse_fraction(text) == pytest.approx(fraction)


@pytest.mark.parametrize("text", ["little", "-1%", "", False, None])
def test_what_is_no_percentage_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="percentage"):
        parse_fraction(text)
