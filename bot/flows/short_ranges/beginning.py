"""The first trials of a short range: its ends, and what works where the emptiest configuration does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bot.flows.change_points.asking import Asking
from bot.flows.change_points.births import births
from bot.flows.change_points.nearing import nearest_working
from bot.flows.short_ranges.pool import Pool
from bot.model.change_points import Probe
from bot.model.space import Configuration, distance

REPEATED, GLANCES = 2, 5
"""First trials of the emptiest configuration at both ends, and revisions between them."""


def begin(
    pool: Pool, revisions: int, *, anchor: int | None, rng: np.random.Generator
) -> Iterator[list[Probe]]:
    """Both ends in the emptiest configuration, repeated, and in the fullest; a few glances between.

    Where these do not work, the default one and any other, what works and is nearest to the two, and since
    when each level does by itself.
    """
    ends = [r for r in (0, revisions - 1) if r != anchor]
    places = np.linspace(0, revisions - 1, GLANCES + 2)[1:-1]
    glances = sorted({round(x) for x in places} - {0, revisions - 1, anchor})
    repeated = [r for r in ends for _ in range(REPEATED)]
    emptiest, fullest = pool.choose.sparse, pool.choose.dense
    yield [
        *(Probe(emptiest, r) for r in repeated),
        *(Probe(fullest, r) for r in ends),
        *(Probe(emptiest, r) for r in glances),
    ]
    if not pool.working and not pool.failures.knows(default := pool.number(pool.choose.default)):
        yield [Probe(pool.configurations[default], r) for r in ends]
    while not pool.working and (wished := pool.anything(rng)):
        yield wished
    if pool.working and emptiest not in pool.working:
        emptiest = yield from _nearest(pool, emptiest)
        pool.begin_at(emptiest)
        yield [Probe(emptiest, r) for r in (*repeated, *glances)]
    if pool.working and fullest not in pool.working:
        pool.choose.dense = yield from _nearest(pool, fullest)
    if pool.working and pool.failures.failed:
        yield from _births(pool, pool.each_alone, revisions)


def late(pool: Pool, untried: Sequence[Configuration], revisions: int) -> Iterator[list[Probe]]:
    """Whether something works after all with what was blamed for failures, and since when."""
    yield [Probe(c, pool.failures.newest) for c in untried if c not in pool.working]
    yield from _births(pool, [c for c in untried if c in pool.working], revisions)


def _births(pool: Pool, configurations: Sequence[Configuration], revisions: int) -> Iterator[list[Probe]]:
    def works(configuration: Configuration, revision: int) -> bool:
        return (pool.number(configuration), revision) in pool.failures.worked

    for wished in births(configurations, revisions - 1, works):
        yield [p for p in wished if pool.failures.unknown((pool.number(p.configuration), p.revision))]


def _nearest(pool: Pool, wanted: Configuration) -> Asking[Configuration]:
    """One that works, as near as can be to one that does not."""

    def attempt(tried: Configuration, _: Sequence[int]) -> Asking[bool]:
        yield [] if tried in pool.working else [Probe(tried, pool.failures.newest)]
        return tried in pool.working

    start = min(pool.working, key=lambda c: distance(c, wanted))
    return (yield from nearest_working(pool.choose, start, wanted, attempt))
