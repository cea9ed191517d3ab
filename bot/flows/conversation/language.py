"""Reads the command in a comment: strictly, its first line only, in time linear in its length."""

from __future__ import annotations

import re
from datetime import date

from bot.model.comment_commands import Accept, Bisect, CommentCommand, Rerun, read_term
from bot.model.errors import UsageError
from bot.model.quantities import parse_seconds

CALL = "/suspects"
USAGE = (
    "`/suspects rerun [budget]`, `/suspects accept TERM [until DATE] [reason]`, `/suspects bisect GOOD..BAD`"
)
LONGEST, LONGEST_REASON = 500, 200
SHORTEST_BUDGET, LONGEST_BUDGET = 30.0, 6 * 3600.0
"""Seconds; no job of a hosted runner lasts longer."""
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_REVISION = re.compile(r"(?!.*(?:\.\.|@\{|//))[A-Za-z0-9_][A-Za-z0-9_./@+-]{0,199}")


def read_command(body: str, *, today: date) -> CommentCommand | None:
    """The command of a comment; None: it is not addressed to us. Quoted and indented lines never are.

    today: when it was said, which an expiry must follow.

    Raises:
        UsageError: addressed to us, but not understood; one sentence that says what is.
    """
    lines = [line.rstrip("\r") for line in body.split("\n")]
    first = lines[0].rstrip(" ")
    if not _addressed(first):
        return None
    if len(first) > LONGEST:
        raise UsageError(f"a command has at most {LONGEST} characters")
    if not first.isprintable():
        raise UsageError("a command has no hidden characters, tabs or unusual spaces: type it anew")
    if any(_addressed(line) for line in lines[1:]):
        raise UsageError("one command a comment: comment each by itself")
    match first.split(" ")[1:]:
        case ["rerun", *words]:
            return _rerun(words)
        case ["accept", term, *words]:
            return _accept(term, words, today)
        case ["bisect", range]:
            return _bisect(range)
    raise UsageError(f"not understood; there are {USAGE}")


def _addressed(line: str) -> bool:
    return line == CALL or line.startswith(f"{CALL} ")


def _rerun(words: list[str]) -> Rerun:
    if not words:
        return Rerun()
    text = " ".join(words)
    try:
        budget = parse_seconds(text if text.isascii() and " " not in text else None)
    except ValueError:
        raise UsageError("`rerun` takes one duration, such as `/suspects rerun 10m`") from None
    if not SHORTEST_BUDGET <= budget <= LONGEST_BUDGET:
        raise UsageError("a budget lies between 30s and 6h, such as `/suspects rerun 10m`")
    return Rerun(budget)


def _accept(text: str, words: list[str], today: date) -> Accept:
    term = read_term(text)
    if term is None:
        raise UsageError(
            "TERM is levels joined by `+`, such as `compress+level=9`, or `everything`: "
            "copy the line from the report"
        )
    until = None
    if words[:1] == ["until"]:
        until = _day("".join(words[1:2]), today)
        words = words[2:]
    reason = " ".join(words)
    if len(reason) > LONGEST_REASON:
        raise UsageError(f"a reason has at most {LONGEST_REASON} characters")
    return Accept(term, until, reason)


def _day(text: str, today: date) -> date:
    try:
        day = date.fromisoformat(text if _DAY.fullmatch(text) else "")
    except ValueError:
        raise UsageError("`until` takes a day, such as `until 2027-03-31`") from None
    if day <= today:
        raise UsageError(f"{day} is not in the future")
    return day


def _bisect(text: str) -> Bisect:
    good, dots, bad = text.partition("..")
    if not (dots and _REVISION.fullmatch(good) and _REVISION.fullmatch(bad)):
        raise UsageError("`bisect` takes two revisions, such as `/suspects bisect v1.0..v1.1`")
    return Bisect(good, bad)
