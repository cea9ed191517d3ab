"""Where trials fail: which levels work alone, and without noise since when, and how many together."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bot.flows.change_points.asking import Asker, Asking
from bot.model.change_points import Probe
from bot.model.space import Configuration

HALVINGS = 4
"""Times that the stretch is halved in which a level begins to work."""
FULLEST = 4
"""Configurations as full as work at most, each with a level that the others lack."""


class Acquaintance(Asker):
    """What works of a program some of whose options are young, or fail together."""

    def doubted(self) -> Iterator[list[Probe]]:
        """Each level of which nothing is expected, by itself: what came with it may be why it failed."""
        yield self._once([c for c in self._alone if not all(self.log.usable(c, r) for r in self._ends)])

    def births(self) -> Iterator[list[Probe]]:
        """Each level by itself, and about where it begins to work."""
        ends = {c: list(self._ends) for c in self._alone}
        yield self._once(ends)
        for _ in range(HALVINGS):
            parted = [c for c, (a, b) in ends.items() if self.log.known(c, a) != self.log.known(c, b)]
            # Nearer to where it works, so that it is not expected to fail.
            middles = {c: sum(ends[c]) // 2 + (not self.log.known(c, ends[c][0])) for c in parted}
            yield [Probe(c, r) for c, r in middles.items()]
            for c, middle in middles.items():
                first, last = ends[c]
                before = self.log.known(c, middle) == self.log.known(c, first)
                ends[c] = [middle, last] if before else [first, middle]

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
    def _ends(self) -> tuple[int, int]:
        return 0, self.revisions - 1

    @property
    def _alone(self) -> list[Configuration]:
        return self.choose.alone(self.log.levels)

    def _once(self, configurations: Collection[Configuration]) -> list[Probe]:
        """Trials at both ends, whatever is expected of them."""
        self.log.pardoned.update(configurations)
        return [probe for c in configurations for probe in self.unknown(c, self._ends)]

    def _grown(self, start: Configuration, wanted: Configuration) -> Asking[Configuration]:
        """One that works, with as much more of a wanted one as does: what fails is taken in halves."""
        last, best = self.revisions - 1, start
        parts = [[i for i, value in enumerate(start) if value != wanted[i]]]
        while parts:
            part = parts.pop()
            mixed = tuple(wanted[i] if i in part else value for i, value in enumerate(best))
            tried = self.choose.near((), mixed)
            if tried is None or tried == best:
                continue
            yield self.unknown(tried, [last])
            if self.log.known(tried, last):
                best = tried
            elif len(part) > 1:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
        return best
