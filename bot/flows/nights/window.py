"""The revisions of one night: from an old anchor to the tip, and what the tip is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """Revisions of one night by their place: 0 is the anchor, the last one is the tip.

    revisions: how many. reference: what the tip is compared with. previous: the newest tip that an earlier
    night has measured (0: none); what lies after it is new.
    """

    revisions: int
    reference: int = 0
    previous: int = 0

    @property
    def tip(self) -> int:
        """The newest revision."""
        return self.revisions - 1


def inwards(ends: Sequence[int], count: int) -> list[int]:
    """So many revisions next to each end, between the two."""
    first, last = min(ends), max(ends)
    near = {r for d in range(1, count + 1) for r in (first + d, last - d)}
    return sorted(r for r in near if first < r < last)


def onwards(first: int, end: int) -> Iterator[int]:
    """A revision, those after it at doubled distances, and the last one, before an end."""
    distance = 1
    while first < end:
        yield first
        first, distance = first + min(distance, max(end - 1 - first, 1)), 2 * distance
