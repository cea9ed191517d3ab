"""Diffs: which lines of which files two revisions do not share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Hunk(NamedTuple):
    """Lines, from 1, of the old revision that stand in the new one as other lines.

    Where nothing stood or stands, an empty range tells before which line it would be.
    """

    old: range
    new: range


@dataclass(frozen=True)
class FileDiff:
    """A text file of both revisions, renamed perhaps, and where it changed; hunks in order of their lines."""

    old: str
    new: str
    hunks: tuple[Hunk, ...]
