"""Elements of inline SVG in the page's colours, every text of them escaped, and how wide texts are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from markupsafe import Markup, escape

from bot.report.formats import shorten

LETTER = 0.59
"""Width of a letter as a share of the font's size, on average."""
_ARGUMENTS = re.compile(r"(?:<[^<>]*>)+")


def tag(name: str, *inside: Markup | str, **attributes: object) -> Markup:
    """An element; `stroke_width=2.5` is the attribute stroke-width, numbers are rounded."""
    said = Markup("").join(
        Markup(' {}="{}"').format(
            key.replace("_", "-"), f"{round(value, 1):g}" if isinstance(value, float) else value
        )
        for key, value in attributes.items()
        if value != ""
    )
    opened = Markup("<") + Markup(name) + said  # noqa: S704 - the caller's own word
    if not inside:
        return opened + Markup("/>")
    return opened + Markup(">") + Markup("").join(map(escape, inside)) + Markup(f"</{name}>")  # noqa: S704


def words(x: float, y: float, said: str, *, size: float = 13, **attributes: object) -> Markup:
    """A line of text; its baseline is at y."""
    return tag("text", said, x=x, y=y, font_size=size, **{"fill": "var(--ink)"} | attributes)


def picture(parts: Iterable[Markup], size: tuple[float, float], *, title: str, told: str) -> Markup:
    """An SVG element of this width and height in pixels, which also tells what it shows."""
    width, height = size
    return tag(
        "svg",
        tag("title", title),
        tag("desc", told),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_label=title,
        width=round(width),
        height=round(height),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
    )


def length(said: str, size: float) -> float:
    """Width of a text in pixels, about."""
    return size * sum(1.05 if unicodedata.east_asian_width(c) in "WF" else LETTER for c in said)


def lines(said: str, letters: int, most: int = 3) -> list[str]:
    """A sentence in lines of at most so many letters; what is more than `most` lines is cut in its middle."""
    import textwrap

    return textwrap.wrap(shorten(said, letters * most), letters)[:most]


def named(name: str, letters: int) -> str:
    """A method's name in so many letters: without what is in <>, then its last parts, then its ends."""
    if len(name) <= letters:
        return name
    short = name
    while (shorter := _ARGUMENTS.sub("…", short)) != short:
        short = shorter
    parts = [short, *(short[m.end() :] for m in re.finditer(r"::|[.:/#]", short)), short]
    fitting = next((part for part in parts if part.strip("…") and len(part) <= letters), None)
    return fitting or shorten(next(p for p in reversed(parts[:-1]) if p), letters)
