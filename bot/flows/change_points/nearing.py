"""Configurations that work, as near as can be to one that does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from bot.flows.change_points.asking import Asking
from bot.model.space import Configuration, distance
from bot.sampling.contrast import Configurator

Attempt: TypeAlias = Callable[[Configuration, Sequence[int]], Asking[bool]]
"""Tries a configuration, given the options in which it is new, and tells whether it works."""


def nearest_working(
    choose: Configurator, start: Configuration, wanted: Configuration, attempt: Attempt
) -> Asking[Configuration]:
    """From one that works, with as much of a wanted one as works; what needs other parts, after these."""
    while (found := (yield from _nearer(choose, start, wanted, attempt))) != start:
        start = found
    return found


def _nearer(
    choose: Configurator, start: Configuration, wanted: Configuration, attempt: Attempt
) -> Asking[Configuration]:
    """One that works, nearer to a wanted one: what fails is taken in halves."""
    best, parts = start, [[i for i, value in enumerate(start) if value != wanted[i]]]
    while part := parts.pop() if parts else []:
        mixed = tuple(wanted[i] if i in part else value for i, value in enumerate(best))
        tried = choose.fitting(mixed)
        if distance(tried, wanted) >= distance(best, wanted):
            continue
        if (yield from attempt(tried, part)):
            best = tried
        elif len(part) > 1:
            parts += [part[len(part) // 2 :], part[: len(part) // 2]]
    return best
