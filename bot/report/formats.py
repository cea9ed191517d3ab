"""Numbers in plain words, and text from strangers cleaned and cut to a length that can be read."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

NAME_LENGTH = 60
"""Longest name shown; longer ones lose their middle."""
SENTENCE_LENGTH = 600
LOG_LINES, LOG_LINE_LENGTH = 30, 200
"""A log is read from its end: the last lines, each cut in its middle."""
SAME_TIME = 1.05
"""Times as long that is not worth a number. Arbitrary."""
PROBABILITY_WORDS = (
    (0.99, "almost certain"),
    (0.90, "very likely"),
    (0.66, "likely"),
    (0.50, "more likely than not"),
    (0.20, "possible"),
    (0.0, "unlikely"),
)
"""Borders after the calibrated language of the IPCC (Mastrandrea et al. 2010, table 1), coarsened."""

_NOTHING = ("0 ms", "0 µs")

_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,2000}(?:\x07|\x1b\\|\x9c)"  # OSC: titles, links
    r"|\x1b[ -/]*[0-~]",  # two-byte sequences
)
# Format (zero-width, bidi), control, surrogate and private characters: they hide or reorder what is read.
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs"})
_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_STACKED_MARKS = re.compile(f"({_MARKS}{{2}}){_MARKS}+")  # more than two marks climb over their neighbours


@dataclass(frozen=True)
class Span:
    """A run of text in one style; `link`: where it leads, an address of our own making (`links.py`)."""

    text: str
    code: bool = False
    strong: bool = False
    link: str = ""


@dataclass(frozen=True)
class Prose:
    """A sentence of plain, strong and code text, not yet escaped for any medium."""

    kind: ClassVar[str] = "prose"
    spans: tuple[Span, ...]

    def __str__(self) -> str:
        return "".join(s.text for s in self.spans)


@dataclass(frozen=True)
class Listing:
    """Lines shown as they are: commands or a log."""

    kind: ClassVar[str] = "listing"
    text: str
    language: str = ""


Words: TypeAlias = str | Prose


def prose(*parts: Words) -> Prose:
    """One sentence of its parts; plain strings are cleaned (never interpreted)."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, Prose):
            spans += part.spans
        elif part:
            spans.append(Span(_tidy(part)))
    return Prose(tuple(spans))


def code(name: str, *, limit: int = NAME_LENGTH) -> Prose:
    """A name as code, cut in the middle."""
    return Prose((Span(shorten(clean(name).strip() or "(unnamed)", limit), code=True),))


def strong(*parts: Words) -> Prose:
    """The parts, emphasised."""
    return Prose(tuple(replace(s, strong=True) for s in prose(*parts).spans))


def linked(shown: Prose, address: str) -> Prose:
    """The same words, leading to an address (unless that is empty)."""
    return Prose(tuple(replace(s, link=address) for s in shown.spans))


def join(parts: list[Prose], separator: str = ", ", last: str | None = None) -> Prose:
    """The parts with separators between; `last` replaces the one before the last part."""
    joined: list[Words] = []
    for index, part in enumerate(parts):
        if index:
            joined.append(last if last is not None and index == len(parts) - 1 else separator)
        joined.append(part)
    return prose(*joined)


def sentence(text: str, *, limit: int = SENTENCE_LENGTH) -> Prose:
    """A stranger's sentence: cleaned, on one line, of bounded length; `backquoted` words stay code."""
    pieces = re.split(r"`([^`]+)`", shorten(_tidy(text).strip(), limit))
    return prose(*(code(p) if i % 2 else p for i, p in enumerate(pieces)))


def clean(text: str) -> str:
    """One line without escape sequences, hidden and reordering characters."""
    text = _ESCAPE_SEQUENCE.sub("", text)
    text = "".join(" " if c.isspace() else "" if unicodedata.category(c) in _HIDDEN else c for c in text)
    return _STACKED_MARKS.sub(r"\1", text)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters; the middle makes room for an ellipsis."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


_PACKAGED = re.compile(r"[a-z]\w*(?:\.[a-z]\w*)+\.[A-Z]")
"""A class in packages, as in Java: a part of them would look like others (`mozilla.javascript.Parser`)."""


def times_as_long(factor: float) -> str:
    """How much longer something takes; less than once is how busy the machine was, or chance."""
    if factor < SAME_TIME:
        return "about as long"
    return f"{factor:,.{0 if factor >= 10 else 2}f} times as long"


def brief(name: str, limit: int) -> str:
    """The last parts of a qualified name that fit (`Class.method`); its ends when it has no such parts."""
    if len(name) <= limit:
        return name
    if re.fullmatch(r"[\w.:$/]+", name):
        ends = [
            "…/" * (part[0] == "/") + name[part.end() :]  # a folder in the middle would look like the first
            for part in re.finditer(r"::|[.:/$]", name)
            if name[part.end() :]
        ]
        fitting = [end for end in ends if len(end) <= limit]
        if fitting:
            return next((end for end in fitting if _PACKAGED.match(name) and end[0].isupper()), fitting[0])
        name = ends[-1] if ends else name
    return shorten(name, limit)


def log_tail(text: str) -> Listing:
    """The last lines of a log, cleaned."""
    lines = [shorten(clean(line).rstrip(), LOG_LINE_LENGTH) for line in _lines(text)]
    while lines and not lines[-1]:
        lines.pop()
    return Listing("\n".join(lines[-LOG_LINES:]), "text")


def shell(commands: tuple[str, ...]) -> Listing:
    """Commands to paste, whole: a shortened command would be a wrong one."""
    return Listing("\n".join(clean(line) for c in commands for line in _lines(c)), "sh")


def percent(ratio: float, *, decimals: int | None = None) -> str:
    """A ratio as a change: 1.052 -> "+5.2 %"."""
    if not math.isfinite(ratio):
        return "unknown"
    change = 100 * (ratio - 1)
    if decimals is None:
        decimals = 0 if abs(change) >= 10 else 1
    return f"{_signed(change, decimals)} %"


def change(ratio: float, interval: tuple[float, float] | None) -> str:
    """A ratio and its interval: "+5.2 % (4.6 to 5.9)"; signs where the interval spans zero."""
    if interval is None or not math.isfinite(ratio):
        return percent(ratio)
    decimals = _decimals(ratio, interval)
    return f"{percent(ratio, decimals=decimals)} ({between(ratio, interval)})"


def between(ratio: float, interval: tuple[float, float]) -> str:
    """An interval of ratios as changes in percent: "4.6 to 5.9", "-0.2 to +0.8"."""
    if not all(math.isfinite(x) for x in interval):
        return "unknown"
    low, high = (100 * (x - 1) for x in interval)
    decimals = _decimals(ratio, interval)
    one_sign = low > 0 and ratio > 1
    return " to ".join(f"{x:,.{decimals}f}" if one_sign else _signed(x, decimals) for x in (low, high))


def fraction(share: float) -> str:
    """A fraction: 0.018 -> "1.8 %", 0.01 -> "1 %"."""
    if not math.isfinite(share):
        return "unknown"
    text = f"{100 * share:,.0f}" if abs(share) >= 0.1 else f"{100 * share:.1f}"
    return f"{text.removesuffix('.0')} %"


def span_of_share(interval: tuple[float, float] | None, share: str = "") -> str:
    """The interval of a share, in percent: " (72 to 90)"; with its unit where the share is told as a word."""
    unit = " %" * (share == "all")
    return f" ({100 * interval[0]:z,.0f} to {100 * interval[1]:z,.0f}{unit})" if interval else ""


def probability(value: float) -> str:
    """Plain words with the number; never a flat 100 % or 0 %."""
    words = next((w for border, w in PROBABILITY_WORDS if value >= border), "unknown")
    return f"{words} ({probability_number(value)})"


def probability_number(value: float) -> str:
    """A probability in percent; never a flat 100 % or 0 %."""
    if not math.isfinite(value):
        return "unknown"
    return "over 99 %" if value > 0.99 else "under 1 %" if value < 0.01 else f"{100 * value:.0f} %"


def engineering(number: int) -> str:
    """A large number with four digits that count: 3104882113 -> "3.105 G"."""
    if number >= 10**15:
        return f"{number // 10**12:,} T"
    for border, letter in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= border:
            return f"{number / border:.4g} {letter}"
    return f"{number:,}"


def seconds(value: float) -> str:
    """A duration at the grain a person cares for."""
    if not math.isfinite(value):
        return "unknown"
    if value < 1:
        return _milliseconds(1000 * value)
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h" + (f" {minutes} min" if minutes else "")


def times(before: float, after: float) -> tuple[str, str]:
    """Two durations that are read side by side: what rounds to nothing does so in the other one's unit."""
    one, other = ("0 ms" if (text := seconds(value)) in _NOTHING else text for value in (before, after))
    unit_one, unit_other = (text.rpartition(" ")[2] for text in (one, other))
    return (
        f"0 {unit_other}" if one in _NOTHING else one,
        f"0 {unit_one}" if other in _NOTHING else other,
    )


def _milliseconds(value: float) -> str:
    if 0 < value < 1:
        return f"{1000 * value:.0f} µs"
    return f"{value:.{1 if 0 < value < 9.95 else 0}f} ms"


def count(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: "1 pair", "1,234 pairs"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _signed(value: float, decimals: int) -> str:
    text = f"{value:+,.{decimals}f}"
    return text[1:] if float(text.replace(",", "")) == 0 else text


def _decimals(ratio: float, interval: tuple[float, float]) -> int:
    """Digits that the interval's width supports."""
    width = 100 * (interval[1] - interval[0])
    if width >= 2 and abs(ratio - 1) >= 0.1:
        return 0
    return 1 if width >= 0.2 or width == 0 else 2


def _tidy(text: str) -> str:
    return re.sub(r" {2,}", " ", clean(text))


def _lines(text: str) -> list[str]:
    # Only real line ends (a log rewritten by carriage returns shows its last state).
    return [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.replace("\t", "    ").split("\n")]
