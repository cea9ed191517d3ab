"""Durations and percentages as people write them."""

from __future__ import annotations

import math
import re
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
DURATION_PATTERN = r"^\s*(\d+(\.\d+)?|(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+)\s*$"
PERCENT_PATTERN = r"^\s*\d+(\.\d+)?\s*%?\s*$"


def parse_seconds(value: object) -> float:
    """Seconds of a duration: "90", 90, "60s", "500ms", "5m", "1h30m", "1d".

    Raises:
        ValueError: the value is no duration.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and re.match(DURATION_PATTERN, value):
        text = value.strip()
        if _NUMBER.fullmatch(text):
            return float(text)
        return sum(float(amount) * _UNITS[unit] for amount, unit in _PART.findall(text))
    raise ValueError("a duration such as 90, 60s, 5m or 1h30m is needed")


def parse_fraction(value: object) -> float:
    """The fraction of a percentage: "1%" and 0.01 are the same.

    Raises:
        ValueError: the value is neither a percentage nor a number.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and re.match(PERCENT_PATTERN, value):
        text = value.strip()
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    raise ValueError("a percentage such as 1% (or 0.01) is needed")


def parse_text(value: object) -> object:
    """Whole numbers stand for their digits; other types are left to be refused (1.10 would lose its zero)."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def parse_number(value: object) -> object:
    """A finite number; text and booleans are no numbers here.

    Raises:
        ValueError: the value is something else.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise ValueError("a number is needed")


_DurationText: TypeAlias = Annotated[str, Field(pattern=DURATION_PATTERN)]
_PercentText: TypeAlias = Annotated[str, Field(pattern=PERCENT_PATTERN)]
Seconds: TypeAlias = Annotated[
    float,
    Field(gt=0, allow_inf_nan=False),
    BeforeValidator(parse_seconds, json_schema_input_type=Annotated[float, Field(gt=0)] | _DurationText),
]
"""Seconds, written as a duration."""
Fraction: TypeAlias = Annotated[
    float,
    Field(gt=0, lt=1),
    BeforeValidator(
        parse_fraction, json_schema_input_type=Annotated[float, Field(gt=0, lt=1)] | _PercentText
    ),
]
"""A fraction between 0 and 1, written as a percentage."""
Number: TypeAlias = Annotated[int | float, BeforeValidator(parse_number, json_schema_input_type=int | float)]
"""A number of the file, kept as written: 6 or 0.5."""
Text: TypeAlias = Annotated[str, BeforeValidator(parse_text, json_schema_input_type=str | int)]
"""Text that is often digits only (a variable's value, the name of a choice)."""
