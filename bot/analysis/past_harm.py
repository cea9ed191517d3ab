"""What became of the terms that earlier changes made worse: they still are, or somebody undid it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from bot.analysis.past_changes import NamedChanges, PastChange
from bot.model.space import Term

SURE = 0.5
"""A change's likeliest term is its term where it carries the change with more than this probability."""
HALF = 0.5
"""A fall of so much of a rise, in a term that overlaps its own, may have taken it back in other words."""
SHARED = 0.25
"""A fall takes back a rise when the same terms carry both with at least this probability. Arbitrary."""


@dataclass(frozen=True)
class PastHarm:
    """What became worse in the past, and in which term.

    terms: the one that is; where history does not single one out, the likeliest, and it may be another.
    size: how much, as a log ratio above 0: what is left of it, or what there was when it was undone.
    raised: the last change that made it worse. undone: the change that took it back; None: nobody did.
    """

    terms: tuple[Term, ...]
    size: float
    raised: PastChange
    undone: PastChange | None = None

    @property
    def term(self) -> Term | None:
        """The term; None: history does not single one out."""
        return self.terms[0] if len(self.terms) == 1 else None


@dataclass
class _Course:
    """What changes did to one term (or to those that history does not tell apart) so far."""

    first: PastChange
    level: float = 0.0
    size: float = 0.0
    raised: PastChange | None = None
    undone: PastChange | None = None
    doubtful: bool = False

    def take(self, change: PastChange, moved: float, margin: float) -> None:
        self.level += moved
        if moved > 0:
            self.raised, self.undone, self.size, self.doubtful = change, None, self.level, False
        elif self.raised is not None and self.undone is None:
            self.undone = change if self.level <= margin else None
            self.size = self.size if self.undone else self.level


def past_harms(
    changes: Sequence[PastChange], *, sign: float, margin: float, named: NamedChanges | None = None
) -> tuple[PastHarm, ...]:
    """What changes (in order of place) did to their terms, the largest first.

    sign: 1 where more is worse, else -1. margin: a log ratio; a term is worse while it is further than that
    from where it once was. named: what nights know better than the changes; of one place they tell several
    changes apart. A rise that a later fall may have taken back in other words is left out: what
    three options do together looks like one pair on its way up, and like another one on its way down.
    """
    courses: list[_Course] = []
    known = _told_apart(changes)
    for change in named.among(known) if named else known:
        moved = sign * change.size
        course = next((c for c in reversed(courses) if _same(c, change, moved, margin)), None)
        if course is None:
            for other in courses:
                other.doubtful |= _overlaps(other, change, moved)
            course = _Course(change)
            courses.append(course)
        course.take(change, moved, margin)
    found = [
        PastHarm(_terms(c.raised), c.size, c.raised, c.undone)
        for c in courses
        if c.raised is not None and c.size > margin and not c.doubtful
    ]
    return tuple(sorted(found, key=lambda harm: -harm.size))


def _told_apart(changes: Sequence[PastChange]) -> list[PastChange]:
    """One change for each place: the largest, in any of the terms where several steps explain it.

    A revision that changes several terms is rare beside one that changes a term unevenly, whose few
    configurations a sum of steps explains: simulated, 36 of 38 such steps had a wrong term.
    """
    places: dict[int, list[PastChange]] = defaultdict(list)
    for change in changes:
        places[change.place].append(change)
    found = []
    for steps in places.values():
        shares: dict[Term, float] = defaultdict(float)
        for step in steps:
            for term, share in step.shares.items():
                shares[term] += share / len(steps)
        found.append(replace(max(steps, key=lambda step: abs(step.size)), shares=dict(shares)))
    return found


def _same(course: _Course, change: PastChange, moved: float, margin: float) -> bool:
    """Whether a change goes on with a course: of the same term, or back in what may be the same."""
    if course.first.term == change.term and min(_share(course.first), _share(change)) > SURE:
        return True
    before = course.raised or course.first
    both = sum(min(share, before.shares.get(term, 0.0)) for term, share in change.shares.items())
    return moved < 0 and course.level > margin and both >= SHARED


def _overlaps(course: _Course, change: PastChange, moved: float) -> bool:
    """Whether a change may take back what a course raised, in configurations that hold terms of both."""
    if course.raised is None or course.undone is not None or -moved < HALF * course.level:
        return False
    pairs = product(_terms(course.raised), _terms(change))
    return any(not one or not other or set(one) & set(other) for one, other in pairs)


def _terms(change: PastChange) -> tuple[Term, ...]:
    likely = sorted(change.shares, key=lambda term: (-change.shares[term], term))
    return tuple(likely[:1] if _share(change) > SURE else likely)


def _share(change: PastChange) -> float:
    return change.shares.get(change.term, 0.0)
