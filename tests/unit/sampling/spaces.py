"""Spaces for tests of sampling, and the slow but obvious way to list their valid configurations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from hypothesis import strategies as st

from bot.model.space import Configuration, Option, Space, Value


def flag(name: str, *, default: bool = False) -> Option:
    return Option(name, "flag", (False, True), default)


def choice(name: str, *values: str) -> Option:
    return Option(name, "choice", values, values[0])


def number(name: str, *values: int) -> Option:
    return Option(name, "number", values, values[0])


def flags(count: int) -> Space:
    return Space(tuple(flag(f"o{i}") for i in range(count)))


MIXED = Space(
    (
        *(flag(f"o{i}") for i in range(6)),
        choice("check", "none", "crc32", "crc64"),
        number("level", 0, 3, 6, 9),
        number("mem", 1, 2, 3),
    ),
    ("o0 implies level >= 3", "not (o1 and o2)", "o3 or o4 or check=crc32", "mem = 2 iff o5"),
)


def listed(space: Space, holds: Callable[[dict[str, Value]], bool]) -> set[Configuration]:
    """All configurations for which a Python function is true: an oracle that knows no solver."""
    product = itertools.product(*(o.values for o in space.options))
    return {c for c in product if holds(space.as_dict(c))}


def mixed_holds(v: dict[str, Value]) -> bool:
    """The constraints of MIXED in Python."""
    level = v["level"]
    assert isinstance(level, int)
    return bool(
        (not v["o0"] or level >= 3)
        and not (v["o1"] and v["o2"])
        and (v["o3"] or v["o4"] or v["check"] == "crc32")
        and ((v["mem"] == 2) == v["o5"])
    )


def evaluate(sentence: str, values: dict[str, Value]) -> bool:
    """A sentence over flags, read by Python's own parser."""
    names = re.sub(r"\bo(\d)\b", r"(values['o\1'])", sentence).replace("implies", "<=").replace("iff", "==")
    return bool(eval(names.replace("xor", "!="), {"values": values}))


@st.composite
def sentences(draw: st.DrawFn, depth: int = 3) -> str:
    """Sentences over flags o0 to o4, in parentheses wherever Python's precedence is another one."""
    if depth == 0 or draw(st.booleans()):
        return f"o{draw(st.integers(0, 4))}"
    left, right = draw(sentences(depth=depth - 1)), draw(sentences(depth=depth - 1))
    word = draw(st.sampled_from(["and", "or", "implies", "iff", "xor", "not"]))
    return f"(not {left})" if word == "not" else f"(({left}) {word} ({right}))"


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """Small mixed spaces whose constraints leave something valid: every sentence allows the first values."""
    options = [flag(f"f{i}") for i in range(draw(st.integers(1, 5)))]
    options += [choice(f"c{i}", "a", "b", "c") for i in range(draw(st.integers(0, 2)))]
    options += [number(f"n{i}", 1, 2, 4, 8) for i in range(draw(st.integers(0, 2)))]
    levels = st.sampled_from([str(level) for o in options for level in o.levels])
    first = Space(tuple(options)).default
    allowed = []
    for _ in range(draw(st.integers(0, 4))):
        one, two = draw(levels), draw(levels)
        space = Space(tuple(options))
        if not all(space.holds(space.level_of[level], first) for level in (one, two)):
            allowed.append(f"not ({one} and {two})")
    return Space(tuple(options), tuple(allowed))
