"""The assertion of a model: for each group the shortest condition over edges that tell groups apart."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from itertools import count, product

import numpy as np
from numpy.typing import NDArray

from bot.analysis.assertions.separating import separate
from bot.model.assertions import ALWAYS, AssertedGroup, Assertion, Condition, PathModel, edges_of

EXACT = 7
"""Edges of which all conjunctions are tried; with more, one is grown out of each row that was seen."""
STEPS = 5_000
"""Covers that are tried until the best so far is taken."""

Row = tuple[bool, ...]
"""Which of the edges a path passes."""
Term = tuple[bool | None, ...]
"""A conjunction: the edges that must be passed, must not be, and do not matter."""


def asserted(model: PathModel, *, mined: str, trials: int) -> Assertion | None:
    """The smallest conditions that hold for each group's paths and for no other group's (section 3.4).

    None: there is nothing to assert, for there are no calls, they all fall into one cluster, or no edge
    tells groups apart. Names of edges and the order of groups do not depend on how often calls were seen.
    trials: that were observed.
    """
    if not model.groups or not model.places:
        return None
    try:
        edges = separate(model).edges
    except ValueError:
        return None
    names = [f"e{i}" for i in range(1, len(edges) + 1)]
    named = dict(zip(names, edges, strict=True))
    ordered = sorted(model.groups, key=lambda g: min((len(path), path) for path in g.paths))
    passed = [{edges_of(path) for path in g.paths} for g in ordered]
    rows = [{tuple(e in path for e in edges) for path in paths} for paths in passed]
    groups = []
    for number, group in enumerate(ordered):
        others = set().union(*(r for i, r in enumerate(rows) if i != number))
        condition = Condition(_worded(rows[number], others, names), named)
        groups.append(AssertedGroup(condition, group.vector, group.calls))
    return Assertion(model.method, model.file, model.places, tuple(groups), mined, trials)


def _worded(rows: Collection[Row], others: Collection[Row], names: Sequence[str]) -> str:
    """A condition that holds for some rows and not for others: terms joined by `or`, or what these leave."""
    if not others:
        return ALWAYS
    terms = _cover(rows, others)
    rest = _cover(others, rows)
    if sum(map(_literals, rest)) < sum(map(_literals, terms)):
        opposite = [tuple(None if v is None else not v for v in term) for term in rest]
        return _joined(opposite, names, inner="or", outer="and")
    return _joined(terms, names, inner="and", outer="or")


def _joined(terms: Sequence[Term], names: Sequence[str], *, inner: str, outer: str) -> str:
    parts = []
    for term in terms:
        atoms = [name if v else f"not {name}" for name, v in zip(names, term, strict=True) if v is not None]
        text = f" {inner} ".join(atoms)
        parts.append(f"({text})" if len(atoms) > 1 and len(terms) > 1 else text)
    return f" {outer} ".join(parts)


def _cover(rows: Collection[Row], others: Collection[Row]) -> tuple[Term, ...]:
    """The fewest and shortest terms of which each row fulfils one and none of the others any.

    Quine and McCluskey's prime implicants, where what was never seen may be either; then the smallest cover.
    """
    ordered = sorted(rows, reverse=True)
    primes = sorted(_primes(ordered, others), key=_order)
    table = np.array(ordered, dtype=bool)
    held = [_held(term, table) for term in primes]
    covers = [int.from_bytes(np.packbits(rows, bitorder="little").tobytes(), "little") for rows in held]
    covering = [np.flatnonzero(column).tolist() for column in np.array(held).T]
    heap: list[tuple[int, tuple[int, ...], int]] = [(0, (), (1 << len(ordered)) - 1)]
    seen: set[int] = set()
    for step in count():
        literals, chosen, left = heapq.heappop(heap)
        if not left:
            return tuple(primes[i] for i in sorted(chosen))
        if left in seen and step <= STEPS:
            continue
        seen.add(left)
        usable = covering[(left & -left).bit_length() - 1]
        if step > STEPS:
            heap, usable = [], [max(usable, key=lambda i: (covers[i] & left).bit_count())]
        for i in usable:
            heapq.heappush(heap, (literals + _literals(primes[i]), (*chosen, i), left & ~covers[i]))
    raise AssertionError("each row has a term of its own")


def _primes(rows: Sequence[Row], others: Collection[Row]) -> set[Term]:
    """Terms that hold for a row, for none of the others, and in which every edge matters."""
    width = len(rows[0])
    if width > EXACT:
        return {_grown(row, np.array(sorted(others))) for row in rows}
    return {
        term
        for term in product((None, True, False), repeat=width)
        if any(_holds(term, row) for row in rows)
        and not any(_holds(term, row) for row in others)
        and all(any(_holds(less, row) for row in others) for less in _shorter(term))
    }


def _grown(row: Row, others: NDArray[np.bool_]) -> Term:
    """A term of a row from which nothing can be left out; what is not passed goes first, then what is far."""
    differs = others != np.array(row)
    reasons = differs.sum(axis=1)
    term = list[bool | None](row)
    for place in sorted(range(len(row)), key=lambda place: (row[place], -place)):
        if (reasons > differs[:, place]).all():
            reasons -= differs[:, place]
            term[place] = None
    return tuple(term)


def _shorter(term: Term) -> Iterator[Term]:
    return ((*term[:i], None, *term[i + 1 :]) for i, value in enumerate(term) if value is not None)


def _holds(term: Term, row: Row) -> bool:
    return all(value is None or value == passed for value, passed in zip(term, row, strict=True))


def _held(term: Term, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the rows fulfil a term, (n_rows,)."""
    places = [i for i, value in enumerate(term) if value is not None]
    fulfilled: NDArray[np.bool_] = (rows[:, places] == [term[i] for i in places]).all(axis=1)
    return fulfilled


def _literals(term: Term) -> int:
    return len(term) - term.count(None)


def _order(term: Term) -> tuple[int, int, tuple[int, ...]]:
    """Short ones first, then what is passed before what is not, then near the method."""
    return _literals(term), term.count(False), tuple(2 if v is None else 1 - v for v in term)
