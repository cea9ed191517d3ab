"""Where trials fail: which levels work alone, and without noise since when, and how many together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bot.flows.change_points.asking import Asker, Asking
from bot.flows.change_points.births import births
from bot.flows.change_points.nearing import nearest_working
from bot.model.change_points import Probe
from bot.model.space import Configuration

FULLEST = 4
"""Configurations as full as work at most, each with a level that the others lack."""


class Acquaintance(Asker):
    """What works of a program some of whose options are young, or fail together."""

    def doubted(self) -> Iterator[list[Probe]]:
        """Each level of which nothing is expected, by itself: what came with it may be why it failed."""
        ends = 0, self.revisions - 1
        doubted = [c for c in self._alone if not all(self.log.usable(c, r) for r in ends)]
        self.log.pardoned.update(doubted)
        yield [probe for c in doubted for probe in self.unknown(c, ends)]

    def never_worked(self) -> Iterator[list[Probe]]:
        """Of a program that needs an option, what may take its place: levels with which nothing worked."""
        last = self.revisions - 1
        while self.choose.needed and (fresh := [c for c in self._telling() if c not in self.log.pardoned]):
            self.log.pardoned.update(fresh)
            yield [probe for c in fresh for probe in self.unknown(c, [last])]

    def _telling(self) -> list[Configuration]:
        """Such levels by themselves; where that fails, without what came along."""
        worked = self.log.means() > 0.0
        failed = [c for c, well in zip(self.log.configurations, worked, strict=True) if not well]
        found: dict[Configuration, None] = {}
        for k in np.flatnonzero(~self.log.holds[worked].any(axis=0)):
            level = self.log.levels[k]
            plain = self.choose.alone([level])
            otherwise = set(plain) <= set(failed)
            found |= dict.fromkeys(self.choose.otherwise(level, failed) if otherwise else plain)
        return list(found)

    def births(self) -> Iterator[list[Probe]]:
        """Each level by itself, and about where it begins to work."""
        alone = self._alone
        self.log.pardoned.update(alone)
        for wished in births(alone, self.revisions - 1, self.log.known):
            yield [p for p in wished if not self.log.known(p.configuration, p.revision)]

    def emptiest(self, wanted: Configuration) -> Asking[None]:
        """Takes as the emptiest configuration one that works, as near as can be to a wanted one."""
        self.choose.sparse = yield from self._grown(self.choose.sparse, wanted)
        self.log.pardoned.add(self.choose.sparse)

    def fullest(self, wanted: Configuration) -> Asking[list[Configuration]]:
        """Configurations that work, with as much of a wanted one as can be: together they show all of it."""
        found = [(yield from self._grown(self.choose.dense, wanted))]
        for i, value in enumerate(wanted):
            if len(found) == FULLEST or any(c[i] == value for c in found):
                continue
            level = self.choose.level_at(i, wanted, found[0])
            alone = self.choose.near([level], self.choose.sparse)
            if alone is not None and self.log.known(alone, self.revisions - 1):
                found.append((yield from self._grown(alone, wanted)))
        return found

    @property
    def _alone(self) -> list[Configuration]:
        return self.choose.alone(self.log.levels)

    def _grown(self, start: Configuration, wanted: Configuration) -> Asking[Configuration]:
        return nearest_working(self.choose, start, wanted, self._attempted)

    def _attempted(self, tried: Configuration, fresh: Sequence[int]) -> Asking[bool]:
        last, means = self.revisions - 1, self.log.means()
        worked = [c for c, mean in zip(self.log.configurations, means, strict=True) if mean > 0.0]
        if len(fresh) == 1 and not any(c[fresh[0]] == tried[fresh[0]] for c in worked):
            self.log.pardoned.add(tried)  # it failed alone, and beside much else it may work
        yield self.unknown(tried, [last])
        return self.log.known(tried, last)
