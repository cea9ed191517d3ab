"""Finds where the body of a method begins, in languages with braces."""

from __future__ import annotations

import re

MOST_CHARACTERS = 4000
"""Of a method's parameters."""
# What brackets in it do not count: comments, strings, characters.
_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.DOTALL
)
_OPENING = re.compile(r"\s*(?:=>|throws[\s\w.,]+)?\s*\{")


def body(text: str, start: int) -> int:
    """Behind the brace that opens the body of the method whose parameters begin at `start`.

    Raises:
        ValueError: what begins there is no method with parameters in brackets and a body in braces.
    """
    plain = _OPAQUE.sub(lambda match: " " * len(match[0]), text[start : start + MOST_CHARACTERS])
    depth = 0
    for match in re.finditer(r"[()]", plain):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            opening = _OPENING.match(plain, match.end())
            if opening is None:
                break
            return start + opening.end()
    raise ValueError("no body in braces")
