"""Since when configurations work: options that old revisions do not know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from bot.model.change_points import Probe
from bot.model.space import Configuration

HALVINGS = 4
"""Times that the stretch is halved in which a configuration begins to work."""


def births(
    configurations: Collection[Configuration], last: int, works: Callable[[Configuration, int], bool]
) -> Iterator[list[Probe]]:
    """Trials of each at both ends of a range, and about where it begins to work, or ceases to.

    works: whether its trial at a revision did.
    """
    ends = {c: [0, last] for c in configurations}
    yield [Probe(c, r) for c, both in ends.items() for r in both]
    for _ in range(HALVINGS):
        parted = [c for c, (first, end) in ends.items() if works(c, first) != works(c, end)]
        # Nearer to where it works, so that it is not expected to fail.
        middles = {c: sum(ends[c]) // 2 + (not works(c, ends[c][0])) for c in parted}
        yield [Probe(c, r) for c, r in middles.items()]
        for c, middle in middles.items():
            first, end = ends[c]
            ends[c] = [middle, end] if works(c, middle) == works(c, first) else [first, middle]
