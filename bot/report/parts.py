"""The parts a told report is made of: headline, sections and their blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from markupsafe import Markup

from bot.report.formats import Listing, Prose, Words


@dataclass(frozen=True)
class Table:
    """Rows under a header; `align` has a letter per column: l left, n left and unbroken, r right."""

    kind: ClassVar[str] = "table"
    header: tuple[Words, ...]
    rows: tuple[tuple[Words, ...], ...]
    align: str


@dataclass(frozen=True)
class Bullets:
    """Short sentences in a list."""

    kind: ClassVar[str] = "bullets"
    items: tuple[Words, ...]


@dataclass(frozen=True)
class Figure:
    """A picture of the HTML page, for wide and for narrow screens; `caption` names its explanation there."""

    kind: ClassVar[str] = "figure"
    svgs: tuple[Markup, ...]
    caption: str


Block: TypeAlias = Prose | Table | Listing | Bullets | Figure


@dataclass(frozen=True)
class Section:
    """A titled part below the headline; `open` ones are not folded. `key` names its place for pictures.

    The title is our own plain words: GitHub reads a summary as HTML, in which Markdown escapes do not count.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]
    open: bool = False


@dataclass(frozen=True)
class Headline:
    """What a person understands in ten seconds: verdict, what, how much, how sure, what to do.

    `tone`: bad, good, neutral, unclear or broken. `lead`: sentences, the default configuration's first.
    """

    tone: str
    icon: str
    title: Prose
    lead: tuple[Prose, ...] = ()
    action: Prose | None = None
    accept: Listing | None = None
    caveats: tuple[Prose, ...] = ()


@dataclass(frozen=True)
class View:
    """The headline, the sections from most to least important, and one line about the run."""

    headline: Headline
    sections: tuple[Section, ...]
    footer: Prose
