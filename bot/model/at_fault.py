"""With which values of options nothing works: a flag is wrong, or what it asks for breaks the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import TypeVar

from bot.model.space import Value

Option = TypeVar("Option", bound=Hashable)
"""An option's name or number."""
LEAST, OWN = 3, 2
"""Configurations that fail with values at fault while none works; and those that no other such value has."""
EXPECTED = 3.0
"""Configurations that would have worked with two values by chance, from which on it tells that none did."""


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
