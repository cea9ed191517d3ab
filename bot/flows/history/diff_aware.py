"""Where a pull request's sample aims: at what drives the methods that its diff touches, or changed before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.methods.touched import Touched, moved_methods, touched_methods
from bot.flows.history.experience import Memory, Recalled
from bot.flows.history.memory import recall_terms
from bot.model.diffs import FileDiff
from bot.model.errors import HistoryError
from bot.model.history import Selection, program_fingerprint
from bot.model.profile_history import NO_METHOD, ProfileTable
from bot.model.profiles import Method
from bot.model.revisions import Comparison
from bot.model.space import Configuration, Space, Term
from bot.model.subject import Subject

RUNS = 3
"""Newest nights in which the newest profiled revision is looked for: one may have failed."""
MOST_METHODS = 20
"""Touched methods that are asked for what drives them: the costliest."""
MOST_TERMS = 4
"""Terms that a sample aims at: with more, each gets less."""
PERHAPS = 0.25
"""A method of which only the file changed counts so much beside one that changed; a judgement."""
TOLD = 3
"""Methods that a note names."""


@dataclass(frozen=True)
class Aim:
    """What a sample needs to aim.

    diff: what changed between two revisions (ids); None: not known. sampler: the first so many configurations
    for these terms. rng: for the models that tell what drives a method.
    """

    diff: Callable[[str, str], Sequence[FileDiff] | None]
    sampler: Callable[[int, Sequence[Term]], Iterable[Configuration]]
    rng: np.random.Generator


@dataclass(frozen=True)
class Target:
    """The terms that a sample is to exercise, the likeliest first, and a sentence for the reader."""

    terms: tuple[Term, ...]
    note: str


def target(aim: Aim, memory: Memory, subject: Subject, comparison: Comparison) -> Target | None:
    """What the sample of this comparison should aim at.

    None: the diff is not known, history has no profiles, the diff touches none of the methods in them, or
    nothing is known to drive those.
    """
    base, head = comparison.base.id, comparison.head.id
    diff = aim.diff(base, head)
    profiled = _newest(memory, subject) if diff else None
    if not diff or profiled is None:
        return None
    revision, shares = profiled
    since = () if revision == base else aim.diff(revision, base) or ()
    known = dict(zip(moved_methods(shares, since), shares.values(), strict=True))
    touched = touched_methods(known, diff)
    worth = {m: known[m] for m in touched.surely} | {m: PERHAPS * known[m] for m in touched.perhaps}
    asked = sorted(worth, key=lambda m: (-worth[m], m))
    driving = recall_terms(memory, subject, asked[:MOST_METHODS], aim.rng)
    weight: dict[Term, float] = defaultdict(float)
    for method, terms in driving.items():
        for rank, term in enumerate(terms):
            weight[term] += worth[method] / (1 + rank)
    chosen = tuple(sorted(weight, key=lambda t: (-weight[t], t))[:MOST_TERMS])
    return Target(chosen, _note(touched, asked, chosen)) if chosen else None


def changed_before(recalled: Recalled, space: Space) -> Target | None:
    """The rare terms that history surely saw change; None: there are none."""
    terms = recalled.experience.rare(space)[:MOST_TERMS] if recalled.experience else ()
    if not terms:
        return None
    note = (
        f"Two thirds of the configurations were chosen to exercise {_exercised(terms)}, which changed before:"
        " few configurations would show that otherwise. A third stays blind."
    )
    return Target(terms, note)


def _newest(memory: Memory, subject: Subject) -> tuple[str, Mapping[Method, float]] | None:
    """The newest profiled revision, and the mean share of a trial that each of its methods has."""
    wanted = Selection(last=RUNS, program=program_fingerprint(subject))
    try:
        table = ProfileTable.concatenated(list(memory.store.profiles(wanted)))
    except HistoryError:
        return None
    table = table.where(table.method != NO_METHOD)
    if not len(table):
        return None
    places = {revision: place for place, revision in enumerate(memory.line())}
    seen = {int(code): table.revisions[code].revision for code in np.unique(table.revision)}
    newest = max(seen, key=lambda code: (places.get(seen[code], -1), -code))
    rows = table.where(table.revision == newest)
    sums = np.bincount(rows.method, rows.self_share, len(rows.methods))
    profiles = len(np.unique(rows.run.astype(np.int64) << 32 | rows.profile))
    return seen[newest], {rows.methods[c]: float(sums[c]) / profiles for c in np.unique(rows.method)}


def _note(touched: Touched, asked: Sequence[Method], terms: Sequence[Term]) -> str:
    """The costliest methods first, as they were asked for."""
    told = [m for m in asked if m in (touched.surely or touched.perhaps)]
    names = ", ".join(f"`{method.name.replace('`', '')}`" for method in told[:TOLD])
    names += ", ..." if len(told) > TOLD else ""
    what = f"{len(told)} method{'s' if len(told) > 1 else ''} that history knows ({names})"
    return (
        f"The diff touches {'' if touched.surely else 'the file of '}{what}: two thirds of the configurations"
        f" were chosen to exercise {_exercised(terms)}; a third stays blind."
    )


def _exercised(terms: Sequence[Term]) -> str:
    return ", ".join(f"`{'+'.join(term)}`" for term in terms)
