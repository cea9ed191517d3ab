"""Where a step is: halving the posterior of its revision; and whether fresh trials show it again."""

from __future__ import annotations

import math

import numpy as np

from bot.analysis.change_points.noise import Floats
from bot.analysis.change_points.steps import Step
from bot.flows.change_points.asking import Asker, Asking
from bot.model.change_points import Probe
from bot.model.space import Configuration

PLACINGS = 80
"""Trials (or handfuls of them) that placing a step may take."""
WIDENINGS = 4
"""Times that an interval may be doubled to either side when the step turns out not to be in it."""
CONFIRMED, EXPECTED, MOST_AGAIN, CONFIRMATIONS = 3.7, 20.0, 40, 2
"""Scales that fresh trials on both sides of a step must differ; (squared, halved) what is planned for."""
ELSEWHERE = 12
"""Fresh configurations that confirm a step at most."""
KNOWN = 4.0
"""Trials that what was known of a configuration's noise counts for, against those that confirm."""
MEDIAN = 1.25
"""How much wider the error of a median is than that of a mean."""


class Placing(Asker):
    """Narrows a step's interval, and confirms it."""

    def place(self, step: Step) -> Asking[None]:
        """Halves the posterior of the step's revision, in the configuration where it is clearest."""
        where = self.clearest(step)
        if where is None:
            return
        least = self.fewest(step)
        times = int(np.clip(math.ceil(6.0 / max(self.clearness(step, where), 1e-9)), least, 12))
        for _ in range(WIDENINGS):
            start = len(self.log)
            yield from self.around(step, where, times)
            moved = self._moved(step, where, start)
            if moved is None or moved > 0.5:
                break
            if self.model.exact:
                return  # it has another term
            width = step.high - step.low + 1
            step.low = max(1, step.low - width)
            step.high = min(self.revisions - 1, step.high + width)
        for _ in range(PLACINGS):
            self.model.fit()
            middle = self._median(step, where)
            if middle is None:
                return
            revision = self._inside(where, middle, step)
            if revision is None:
                return
            times = int(np.clip(math.ceil(2.0 / max(self.clearness(step, where), 1e-9)), least, 8))
            yield self.trials(where, revision, 1, times if not self.log.frozen else 1)

    def seat(self, step: Step) -> None:
        """Of the revisions that one configuration cannot tell apart, the one that all of them show best."""
        if self.model.exact or step.low == step.high:
            return
        places, moment, information = self.model.contrasts(step, (step.low, step.high))
        if len(places):
            cover = self.model.cover(step).astype(np.float64)
            at = int(places[np.argmax(self.model.gain(cover @ moment, cover @ information))])
            if step.confirmed == (step.term, step.at):
                step.confirmed = (step.term, at)
            step.at = at

    def _median(self, step: Step, where: Configuration) -> int | None:
        """Narrows a step's interval to 90 %; the revision that halves the rest, or None: it is placed.

        Only the trials of one configuration speak: others may hold terms of steps nearby, not known yet.
        """
        places, moment, information = self.model.contrasts(step, (step.low, step.high))
        if not len(places):
            return None
        cover = np.zeros(len(self.log.configurations))
        cover[self.log.place[where]] = 1.0
        revisions = np.unique(self.log.columns()[1])
        previous = revisions[np.searchsorted(revisions, places) - 1]
        width = places - previous
        log = self.model.gain(cover @ moment, cover @ information) + np.log(width)
        mass = np.exp(log - log.max())
        cumulative = mass.cumsum() / mass.sum()
        first, last = (min(int(np.searchsorted(cumulative, q)), len(places) - 1) for q in (0.05, 0.95))
        step.at = int(places[int(np.argmax(mass))])
        step.low, step.high = int(previous[first]) + 1, int(places[last])
        if step.low == step.high:
            return None
        here = int(np.searchsorted(cumulative, 0.5))
        inside = (0.5 - (cumulative[here - 1] if here else 0.0)) / max(mass[here] / mass.sum(), 1e-12)
        return int(np.clip(round(previous[here] + inside * width[here]), step.low - 1, step.high))

    def _inside(self, configuration: Configuration, revision: int, step: Step) -> int | None:
        """The usable revision nearest to a wanted one that can narrow the step's interval; None: none is."""
        usable = [r for r in range(step.low, step.high) if self.log.usable(configuration, r)]
        if not usable:
            return None
        if not self.log.frozen:
            usable += [r for r in (step.low - 1, step.high) if r == revision]
        else:
            usable = [r for r in usable if not self.log.known(configuration, r)]
        return min(usable, key=lambda r: abs(r - revision), default=None)

    def confirm(self, step: Step) -> Asking[bool]:
        """Whether fresh trials right before and after a step differ as the old ones said.

        What was chosen because it stood out of thousands must show itself again to eyes that did not choose;
        and a slow drift has no place.
        """
        if self.model.exact or step.confirmed == (step.term, step.at):
            return True
        where = self.clearest(step)
        if where is None:
            return False
        if self.log.frozen:
            return (yield from self._confirm_elsewhere(step, where))
        start = len(self.log)
        times = int(np.clip(math.ceil(EXPECTED / max(self.clearness(step, where), 1e-9)), 2, MOST_AGAIN))
        for _ in range(CONFIRMATIONS):
            yield from self.around(step, where, times)
            if self._differs(step, where, start) > CONFIRMED:
                step.confirmed = (step.term, step.at)
                stale = self.log.stale_since(where, step.low - 1)
                step.low = step.low if stale is None else stale + 1
                return True
        return False

    def _confirm_elsewhere(self, step: Step, where: Configuration) -> Asking[bool]:
        """Whether fresh configurations show a step, where a repetition gives the same value again."""
        count = int(np.clip(math.ceil(EXPECTED / 2.0 / max(self.clearness(step, where), 1e-9)), 2, ELSEWHERE))
        before, after = step.low - 1, step.high
        fresh: dict[Configuration, None] = {}
        for _ in range(4 * count):
            drawn = self.choose.near(step.term, self.choose.random())
            if drawn is None or len(fresh) == count or not self._usable_around(step, drawn):
                continue
            if not self.log.known(drawn, before) and not self.log.known(drawn, after):
                fresh[drawn] = None
        if not fresh:
            return False
        yield [Probe(c, r) for c in fresh for r in (before, after)]
        shown = [moved for c in fresh if (moved := self._shown(step, c)) is not None]
        if not shown or np.sum(shown) * np.sign(step.size) <= CONFIRMED * math.sqrt(len(shown)):
            return False
        step.confirmed = (step.term, step.at)
        return True

    def _shown(self, step: Step, configuration: Configuration) -> float | None:
        """Scales by which a configuration moves at a step, but for what other steps do there."""
        values = [self.log.value(configuration, r) for r in (step.low - 1, step.high)]
        if values[0] is None or values[1] is None:
            return None
        level = self.level(configuration)
        unit = level if self.log.relative else 1.0
        known = sum(
            s.size * unit for s in self.model.steps if s is not step and self._there(s, step, configuration)
        )
        return float((values[1] - values[0] - known) / (math.sqrt(2.0) * self.log.scale * level))

    def shorten(self, step: Step) -> Asking[None]:
        """Drops levels without which fresh trials show the step, too: one odd trial may have added them."""
        if self.model.exact or self.log.frozen or step.confirmed == (step.term, step.at):
            return
        for level in step.term:
            without = self.choose.without(level)
            rest = tuple(x for x in step.term if x != level)
            where = (
                None
                if without is None or not rest
                else self.choose.near([*rest, without], self.choose.sparse)
            )
            if where is None or not self.reachable(step, where):
                continue
            start = len(self.log)
            times = int(np.clip(math.ceil(EXPECTED / 2.0 / max(self.clearness(step, where), 1e-9)), 1, 12))
            yield from self.around(step, where, times)
            moved = self._moved(step, where, start)
            if moved is not None and moved > 0.5:
                step.term = rest

    def _usable_around(self, step: Step, where: Configuration) -> bool:
        return self.log.usable(where, step.low - 1) and self.log.usable(where, step.high)

    def _there(self, other: Step, step: Step, where: Configuration) -> bool:
        """Whether another step lies in a step's interval and shows in a configuration."""
        held = self.log.holding(where)[None, :]
        inside = step.low <= other.at <= step.high
        return inside and bool(self.model.terms.cover(other.term, held)[0])

    def _differs(self, step: Step, where: Configuration, start: int) -> float:
        """Scales between fresh trials before and after a step, in its direction."""
        before, after, noise = self._fresh(step, where, start)
        if not len(before) or not len(after):
            return 0.0
        # What was known of the noise, and what these trials show of it: there are noisier configurations.
        around = np.concatenate([before - np.median(before), after - np.median(after)])
        own, more = 1.4826 * float(np.median(np.abs(around))), max(len(around) - 2, 0)
        noise = math.sqrt((KNOWN * noise**2 + more * own**2) / (KNOWN + more))
        error = MEDIAN * noise * math.sqrt(1.0 / len(before) + 1.0 / len(after))
        return float(np.sign(step.size) * (np.median(after) - np.median(before)) / error)

    def _moved(self, step: Step, where: Configuration, start: int) -> float | None:
        """The share of a step's size by which fresh trials differ around it; None: there are none."""
        before, after, _ = self._fresh(step, where, start)
        if not len(before) or not len(after):
            return None
        level = self.level(where) if self.log.relative else 1.0
        moved = (after.mean() - before.mean()) / level
        return float(moved / step.size) if step.size else 0.0

    def _fresh(self, step: Step, where: Configuration, start: int) -> tuple[Floats, Floats, float]:
        """Seconds of the trials since `start` before and after a step's interval, and their mean noise.

        What other known steps add is taken out: trials may lie on their far side.
        """
        c, r, y, sd = self.log.since(start)
        mine = c == self.log.place.get(where, -1)
        held = self.log.holding(where)[None, :]
        unit = self.level(where) if self.log.relative else 1.0
        if self.log.logarithmic:
            y = unit * np.log(y)
        for other in self.model.steps:
            if other is not step and other.settled and self.model.terms.cover(other.term, held)[0]:
                y = y - other.size * unit * (r >= other.at)
        before, after = mine & (r < step.low), mine & (r >= step.high)
        return y[before], y[after], float(sd[mine].mean()) if mine.any() else 0.0
