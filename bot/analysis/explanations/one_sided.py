"""Names that must not turn a change around: of two moves that cancel out, only one would be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.analysis.change_points.findings import complementary
from bot.analysis.change_points.terms import Term, Terms, in_order
from bot.analysis.explanations.findings import Found, Look

KEPT = 0.25
"""Share of its size up to which a move counts as taken back."""


def one_sided(found: Sequence[Found], look: Look) -> list[Found]:
    """The same steps; where an uncertain one takes a certain one back, those that only it moves are told.

    Everything but `a` gets 9 % faster: that is everything by -9 % and `a` by +10 %. Where only `a` is certain
    "10 % slower with `a`" would be told, of which no trial shows anything. Without `a`, -9 %, is as certain:
    it rests on the same comparison.
    """
    steps = list(found)
    for step in (s for s in found if s.certain):
        for wider in (s for s in steps if s.at == step.at and not s.certain):
            term = _without(step.term, wider.term, look.terms)
            moved, taken_back = (_moved(s, step.term, look) for s in (step, wider))
            if term is not None and abs(moved + taken_back) <= KEPT * abs(moved):
                clarity = step.clarity * abs(taken_back / moved)
                told = replace(step, term=term, size=wider.size, share=wider.share, clarity=clarity)
                steps[steps.index(step)] = told
                steps.remove(wider)
                break
    return steps


def _without(term: Term, wider: Term, terms: Terms) -> Term | None:
    """What of a term that holds in more configurations is left outside one; None: it is not one term."""
    more = set(term) - set(wider)
    if len(more) != 1 or not set(wider) < set(term):
        return None
    others = [level for level in terms.levels if complementary(level, *more)]
    return in_order((*wider, *others)) if others else None


def _moved(step: Found, term: Term, look: Look) -> float:
    """Units by which a step moves the median configuration of a term."""
    return step.size * (look.level(term) if step.share else 1.0)
