"""The terms that drive a method: those that make a good part of what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analysis.influences.explaining import TermInfluence, clear
from bot.model.report import Influence
from bot.model.space import Term

DRIVES = 0.1
"""Smallest influence, as a share of a method's mean cost, with which a term is said to drive it; a choice."""
MOST = 3
"""Terms that are named, the strongest first."""


def driving_terms(entries: Sequence[TermInfluence | Influence], method: str) -> tuple[Term, ...]:
    """Terms whose influence on a method surely differs from zero and is large, the strongest first.

    Largest by size, whether they make the method dearer or cheaper. A pair of levels is left out where one of
    them is stronger than their interaction: whoever knows the level knows where to look.
    """
    own = [i for i in entries if i.method == method]
    mean = next((abs(i.influence) for i in own if not i.term), 0.0)
    size = {
        i.term: abs(i.influence)
        for i in own
        if i.term and clear(i.influence, i.interval) and abs(i.influence) >= DRIVES * mean > 0.0
    }
    kept = [t for t in size if len(t) == 1 or all(size.get((level,), 0.0) < size[t] for level in t)]
    return tuple(sorted(kept, key=lambda t: (-size[t], t))[:MOST])
