"""What became of the terms that earlier changes made worse: they still are, or somebody undid it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.analysis.past_changes import PastChange
from bot.model.space import Term


@dataclass(frozen=True)
class PastHarm:
    """A term in which the program became worse.

    size: how much, as a log ratio above 0: what is left of it, or what there was when it was undone.
    raised: the last change that made it worse. undone: the change that took it back; None: nobody did.
    """

    term: Term
    size: float
    raised: PastChange
    undone: PastChange | None = None


def past_harms(changes: Sequence[PastChange], *, sign: float, margin: float) -> tuple[PastHarm, ...]:
    """What changes (in order of place) did to each of their terms, the largest first.

    sign: 1 where more is worse, else -1. margin: a log ratio; a term is worse while it is further than that
    from where it once was.
    """
    found = [harm for term in {c.term: None for c in changes} if (harm := _harm(term, changes, sign, margin))]
    return tuple(sorted(found, key=lambda harm: -harm.size))


def _harm(term: Term, changes: Sequence[PastChange], sign: float, margin: float) -> PastHarm | None:
    level = 0.0
    harm: PastHarm | None = None
    for change in (c for c in changes if c.term == term):
        moved = sign * change.size
        level += moved
        if moved > 0:
            harm = PastHarm(term, level, change) if level > margin else None
        elif harm is not None and harm.undone is None:
            whole = level <= margin
            harm = PastHarm(term, harm.size if whole else level, harm.raised, change if whole else None)
    return harm
