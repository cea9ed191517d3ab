"""The two revisions that a night compares, and the configurations that show whether they work."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.flows.change_points.asking import Asking
from bot.flows.change_points.nearing import nearest_working
from bot.flows.nights.log import NightLog
from bot.flows.nights.window import Window, onwards
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator

SENTINEL_TRIALS = 3
"""Trials of the emptiest and of the fullest configuration at both ends of what is new: the two hold most
terms, and their repetitions teach the noise."""
OTHERS = 12
"""Configurations that are tried at the tip where neither of these works."""


def as_before(choose: Configurator, night: Sequence[Observation]) -> None:
    """Where the emptiest configuration failed in the last night: begins with what worked there instead."""
    worked = {o.probe.configuration for o in night if not math.isnan(o.value)}
    failed = {o.probe.configuration for o in night} - worked
    if usable := [c for c in sorted(worked, key=repr) if choose.allows(c)]:
        choose.replace({choose.sparse} & failed, usable)


def ends_of(window: Window, log: NightLog, choose: Configurator) -> Asking[tuple[int, ...]]:
    """The two revisions that are compared; fewer when nothing works at the tip, or nowhere before it.

    Where the reference does not work, a later revision stands in for it, found at doubled distances. Where
    the emptiest configuration does not work at the tip, or the fullest neither, others stand in for them.
    """
    ends: list[int] = []
    for place in (window.tip, *onwards(window.reference, window.tip)):
        yield [Probe(c, place) for c in choose.extremes for _ in range(SENTINEL_TRIALS)]
        if place == window.tip and not log.known(choose.sparse, place) and place not in log.unbuilt:
            yield from _replaced(log, choose, place)
        if place not in log.unbuilt and _works(log, choose, place):
            ends.append(place)
        if len(ends) == 2 or window.tip not in ends:
            break
    return tuple(ends)


def moved_on(
    window: Window, log: NightLog, choose: Configurator, ends: Sequence[int], block: Sequence[Configuration]
) -> Asking[tuple[int, ...]]:
    """The same two, or a later one to compare with where most of a block fails, and works at the tip.

    What has younger options than the reference fails there, and all of a night would be spent on it.
    The tip of the night before knows them most likely; without one, revisions at doubled distances are tried.
    """
    tip, reference = ends
    lost = [c for c in block if log.known(c, tip) and not log.known(c, reference)]
    if 2 * len(lost) <= len(block):
        return tuple(ends)
    for place in (window.previous, *onwards(reference + 1, tip)):
        if not reference < place < tip:
            continue
        yield [Probe(c, place) for c in choose.extremes for _ in range(SENTINEL_TRIALS)]
        if place not in log.unbuilt and _works(log, choose, place):
            yield [Probe(c, place) for c in lost]
            return (tip, place)
    return tuple(ends)


def alone(window: Window, log: NightLog, choose: Configurator) -> list[Probe]:
    """Each broken level by itself at the tip, once, and without what came along with it in any night.

    It may only have failed by that. So is what was broken in the last night, before anything else that
    holds it.
    """
    levels = dict.fromkeys([*log.broken_levels(), *log.broken_before])
    tried = log.place.keys() | log.pardoned
    failed = [c for c, mean in zip(log.configurations, log.means(), strict=True) if not mean > 0.0]
    found = [*choose.alone(levels), *(c for level in levels for c in choose.otherwise(level, failed))]
    fresh = list(dict.fromkeys(c for c in found if c not in tried))
    log.pardoned.update(fresh)
    return [Probe(c, window.tip) for c in fresh]


def _works(log: NightLog, choose: Configurator, place: int) -> bool:
    return any(log.known(c, place) for c in choose.extremes)


def _replaced(log: NightLog, choose: Configurator, place: int) -> Asking[None]:
    """Looks for an emptiest configuration that works, with as little as can be of what is not in it.

    Where the fullest one fails, too: from the default one, or what shares little with these two.
    """
    emptiest, working = choose.sparse, [choose.dense]
    if not log.known(choose.dense, place):
        drawn = [choose.default, *(choose.opposite(c) for c in choose.extremes)]
        drawn = list(dict.fromkeys([*drawn, *(choose.random() for _ in range(OTHERS - len(drawn)))]))
        yield [Probe(c, place) for c in drawn]
        working = [c for c in drawn if log.known(c, place)]
    if not working:
        return
    choose.replace([c for c in choose.extremes if not log.known(c, place)], working)

    def attempt(tried: Configuration, _: Sequence[int]) -> Asking[bool]:
        yield [] if log.known(tried, place) else [Probe(tried, place)]
        return log.known(tried, place)

    choose.sparse = yield from nearest_working(choose, choose.sparse, emptiest, attempt)
