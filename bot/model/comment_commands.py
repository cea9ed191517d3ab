"""What people may ask for in a comment on a pull request, and the comment that asks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias

from bot.model.space import Term

EVERYTHING = "everything"
"""How a comment writes the empty term."""
_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*"
_LEVEL = re.compile(rf"!{_NAME}|{_NAME}(?:(?:=|>=|<)[A-Za-z0-9_.:/@%-]+)?")

Reaction: TypeAlias = Literal["eyes", "rocket", "confused"]
"""eyes: taken, nobody else may act on it; rocket: done; confused: refused."""


@dataclass(frozen=True)
class SaidComment:
    """A new comment on a pull request, as its event tells it.

    author_id: whom GitHub means by the name, which may be given away. human: neither a bot nor a ghost.
    """

    id: int
    number: int
    author: str
    author_id: int
    human: bool
    body: str
    created: datetime
    url: str


@dataclass(frozen=True)
class Rerun:
    """Measure the pull request again, for `budget` seconds (None: the configured ones)."""

    budget: float | None = None


@dataclass(frozen=True)
class Accept:
    """Propose to accept the reported change of a term, until a day (None: the usual time)."""

    term: Term
    until: date | None = None
    reason: str = ""


@dataclass(frozen=True)
class Bisect:
    """Localise changes between two revisions."""

    good: str
    bad: str


CommentCommand: TypeAlias = Rerun | Accept | Bisect


def term_text(term: Term) -> str:
    """A term as comments write it."""
    return "+".join(term) or EVERYTHING


def read_term(text: str) -> Term | None:
    """The term of a comment's word, sorted; None: it is none."""
    if text == EVERYTHING:
        return ()
    levels = text.split("+")
    return tuple(sorted(set(levels))) if all(_LEVEL.fullmatch(level) for level in levels) else None


@dataclass(frozen=True)
class Ran:
    """A run that measured or would have, or its report: of which head, and when it began to exist."""

    head_sha: str
    created: datetime
