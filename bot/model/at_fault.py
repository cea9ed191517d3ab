"""With which values of options nothing works: a flag is wrong, or what it asks for breaks the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from typing import TypeVar

from bot.model.space import Value

Option = TypeVar("Option", bound=Hashable)
"""An option's name or number."""
LEAST, OWN = 3, 2
"""Configurations that fail with values at fault while none works; and those that no other such value has."""


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
