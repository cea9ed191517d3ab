"""With which values of options nothing works: a flag is wrong, or what it asks for breaks the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain, combinations
from math import comb
from operator import and_
from typing import TypeVar

from bot.model import space
from bot.model.space import Level, Value

Option = TypeVar("Option", bound=Hashable)
"""An option's name or number."""
LEAST, OWN = 3, 2
"""Configurations that fail with values at fault while none works; and those that no other such value has."""
EXPECTED = 3.0
"""Configurations that would have worked with two values by chance, from which on it tells that none did."""
LONGEST = 3
"""Levels of the longest term that is looked for among failures."""
CHANCE = 0.01
"""Probability that accidents fit some term as well, up to which a term is told."""
MOST_TOLD = 3
"""Terms that fit equally well and are told; where more do, none is. Arbitrary."""
MOST_TERMS = 300_000
"""Sets of configurations that are looked through for longer terms: a bound on time. Arbitrary."""


def at_fault(
    failed: Iterable[Mapping[Option, Value]], worked: Iterable[Mapping[Option, Value]]
) -> list[dict[Option, Value]]:
    """Values with which several configurations failed and none worked, those of most failures first.

    Values that were in all of the same failures are told together: any of them may be it. What merely came
    along with a broken one now and then is not told.
    """
    alive = {chosen for options in worked for chosen in options.items()}
    left = [[chosen for chosen in options.items() if chosen not in alive] for options in failed]
    failures = Counter(chain.from_iterable(left))
    found: list[dict[Option, Value]] = []
    while suspects := Counter(c for c in chain.from_iterable(left) if failures[c] >= LEAST):
        worst, own = suspects.most_common(1)[0]
        if own < OWN:
            break
        explained = [rest for rest in left if worst in rest]
        found.append(dict(c for c in explained[0] if all(c in rest for rest in explained)))
        left = [rest for rest in left if worst not in rest]
    return found


def held(options: Mapping[Option, Value], broken: Iterable[Mapping[Option, Value]]) -> bool:
    """Whether a configuration has values at fault, all of those that are told together."""
    return any(values.items() <= options.items() for values in broken)


def together_at_fault(
    failed: Sequence[Mapping[Option, Value]], worked: Sequence[Mapping[Option, Value]]
) -> dict[Option, Value]:
    """Two values that all failures have and no configuration that worked, though each of them works alone.

    The two whose meeting would have been likeliest; empty: there are none, or too few configurations to tell.
    """
    if len(failed) < LEAST or not worked:
        return {}
    shared = [chosen for chosen in failed[0].items() if all(chosen in rest.items() for rest in failed)]
    works = Counter(chain.from_iterable(options.items() for options in worked))
    best: dict[Option, Value] = {}
    likeliest = EXPECTED
    for one, other in combinations(shared, 2):
        expected = works[one] * works[other] / len(worked)
        if expected >= likeliest and not any(
            one in options.items() and other in options.items() for options in worked
        ):
            best, likeliest = dict((one, other)), expected
    return best


def fitting_terms(
    failed: Sequence[Mapping[str, Value]], worked: Sequence[Mapping[str, Value]]
) -> tuple[tuple[Level, ...], ...]:
    """The shortest terms that all failures have and nothing that worked, where chance would hardly fit one.

    An exact permutation test (Fisher, The Design of Experiments, 1935, section 21): if k of n configurations
    fail by accident, all sets of k are equally likely, and the share of them that are just the configurations
    of some term, no longer than the one found, is the probability that there is one to find. Empty: there
    is none, chance would do it, too few failures, too many terms that fit, or too many to look through. A
    term's levels are in the order of the options.
    """
    size, everything = len(failed), [*failed, *worked]
    if size < LEAST or not worked:
        return ()
    # A term of so many configurations has no level of fewer, and one that all have adds nothing to it.
    levels = {
        level: held for level, held in _levels(everything) if size <= held.bit_count() < len(everything)
    }
    once, all_failed = set(levels.values()), (1 << size) - 1
    met = {(1 << len(everything)) - 1}
    exact: set[int] = set()
    for length in range(1, LONGEST + 1):
        if len(met) * len(once) > MOST_TERMS:
            break
        met = {both for one in met for other in once if (both := one & other).bit_count() >= size}
        exact |= {held for held in met if held.bit_count() == size}
        if all_failed in exact:
            chance = len(exact) / comb(len(everything), size)
            return _exactly(all_failed, levels, length) if chance <= CHANCE else ()
    return ()


def fitting_terms_by_value(
    failed: Sequence[Mapping[str, Value]], worked: Sequence[Mapping[str, Value]]
) -> tuple[tuple[Level, ...], ...]:
    """The term that fits the failures with each value of one option, where another value of it never fails.

    `a` with each format but one: no single term says that. Empty: there is no such option, or for one of its
    values no term fits (see `fitting_terms`), or several do.
    """
    for name in failed[0] if failed else ():
        bad, good = ({options.get(name) for options in side} for side in (failed, worked))
        if len(bad) < 2 or not good - bad:
            continue
        parts = ([o for o in failed if o.get(name) == value] for value in sorted(bad, key=str))
        terms = [fitting_terms(part, worked) for part in parts]
        if all(len(fit) == 1 for fit in terms):
            return tuple(fit[0] for fit in terms)
    return ()


def _levels(configurations: Sequence[Mapping[str, Value]]) -> Iterable[tuple[Level, int]]:
    """Levels of the options of all configurations, each with a bit for every configuration that has it."""
    for name in configurations[0]:
        if not all(name in options for options in configurations):
            continue
        values = [options[name] for options in configurations]
        for level in _described(name, set(values)).levels:
            yield level, sum(level.holds(value) << place for place, value in enumerate(values))


def _described(name: str, values: set[Value]) -> space.Option:
    """An option by the values it has."""
    if all(isinstance(value, bool) for value in values):
        return space.Option(name, "flag", (False, True), False)
    choice = any(isinstance(value, bool | str) for value in values)
    ordered = tuple(sorted(values, key=str if choice else None))
    return space.Option(name, "choice" if choice else "number", ordered, ordered[0])


def _exactly(wanted: int, levels: Mapping[Level, int], length: int) -> tuple[tuple[Level, ...], ...]:
    """Terms of this many levels that just these configurations have; none where there are too many."""
    near = {level: held for level, held in levels.items() if held & wanted == wanted}
    found: list[tuple[Level, ...]] = []
    for chosen in combinations(near, length):
        if reduce(and_, (near[level] for level in chosen)) == wanted:
            found.append(chosen)
        if len(found) > MOST_TOLD:
            return ()
    return tuple(found)
