"""Names that must not turn a change around: what only takes a wider move back is told as whom that moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from bot.analysis.change_points.findings import without
from bot.analysis.change_points.terms import Term
from bot.analysis.explanations.findings import Found, Look
from bot.analysis.explanations.moves import Moves

KEPT = 0.25
"""Share of its size up to which a move counts as taken back."""
HARDLY_ANY = 0.1
"""Share of the configurations that a step moves, of which fewer than so many go its way."""


def one_sided(found: Sequence[Found], look: Look) -> list[Found]:
    """The same steps; where an uncertain one takes a certain one back, those that only it moves are told.

    Everything but `a` gets 9 % faster: that is everything by -9 % and `a` by +10 %. Where only `a` is certain
    "10 % slower with `a`" would be told, of which no trial shows anything. Without `a`, -9 %, is as certain:
    it rests on the same comparison.
    """
    steps = list(found)
    for step in (s for s in found if s.certain):
        for wider in (s for s in steps if s.at == step.at and not s.certain):
            term = without(step.term, wider.term, look.terms)
            moved, taken_back = (_moved(s, step.term, look) for s in (step, wider))
            if term is not None and abs(moved + taken_back) <= KEPT * abs(moved):
                clarity = step.clarity * abs(taken_back / moved)
                told = replace(step, term=term, size=wider.size, share=wider.share, clarity=clarity)
                steps[steps.index(step)] = told
                steps.remove(wider)
                break
    return outweighed(one_way(steps, look), look)


def outweighed(found: Sequence[Found], look: Look) -> list[Found]:
    """The same steps; marked are those that only take back what others move: hardly anybody goes their way.

    Everything by -24 % and one of seven strategies by +30 % leave that at -1 %. There is no word for all but
    it; nobody is told to be slower, and the wider change says whom it misses.
    """
    steps = list(found)
    for k, step in enumerate(found):
        held = look.terms.cover(step.term, look.holds) & look.usable[:, step.at]
        beside = [s for s in found if s.certain and s.at == step.at]
        worded = any(without(step.term, other.term, look.terms) for other in beside)
        if worded or not step.certain or not held.any():
            continue
        covers = np.array([look.terms.cover(s.term, look.holds)[held] for s in beside])
        moves = Moves(beside, covers, look.evidence.levels()[held]).each()
        whole, own = moves.sum(axis=0), moves[[s.term == step.term for s in beside]].sum(axis=0)
        if np.mean(whole * np.sign(own) >= KEPT * np.abs(own)) < HARDLY_ANY:
            steps[k] = replace(step, outweighed=True)
    return steps


def one_way(found: Sequence[Found], look: Look) -> list[Found]:
    """The same certain steps, of which none takes back a part of another one of its place.

    As in long ranges: everything by -37 % and `a` by +16 % is everything by -21 %, and without `a` another
    -16 %. Nobody is told to be slower where all became faster. Seconds and shares of a term count together.
    """
    placed = dict.fromkeys((s.at, s.term) for s in found if s.certain)
    for (at, wide), (place, narrow) in permutations(placed, 2):
        rest = without(narrow, wide, look.terms) if at == place else None
        if rest is None:
            continue
        whole, part = ([s for s in found if s.certain and (s.at, s.term) == (at, t)] for t in (wide, narrow))
        moved, back = (sum(_moved(s, narrow, look) for s in steps) for steps in (whole, part))
        if not 0.0 < -back * moved < moved**2:
            continue
        clarity = abs(moved + back) / math.hypot(moved / whole[0].clarity, back / part[0].clarity)
        sizes = {share: sum(s.size for s in (*whole, *part) if s.share == share) for share in (False, True)}
        left = [replace(whole[0], share=k, size=size, clarity=clarity) for k, size in sizes.items() if size]
        outside = [replace(s, term=rest, size=-s.size) for s in part]
        steps = [*(s for s in found if s not in whole and s not in part), *left, *outside]
        return one_way(sorted(steps, key=lambda s: (s.at, look.terms.named(s.term))), look)
    return list(found)


def _moved(step: Found, term: Term, look: Look) -> float:
    """Units by which a step moves the median configuration of a term."""
    return step.size * (look.level(term) if step.share else 1.0)
