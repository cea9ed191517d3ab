"""Trials around a step: where they are usable, how many it takes, how clear the step is there."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeAlias, TypeVar

import numpy as np

from bot.analysis.change_points.steps import Step, StepModel
from bot.model.change_points import Probe
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator

CLOSE = 0.06
"""Share of the range around a step in which trials may stand for some right beside it."""
BLOCKED = 0.2
"""A configuration without values of its own at this share of the revisions is no good witness."""
MOVES = 7
"""Times that trials are asked for, ever further away, when some brought nothing new."""

_T = TypeVar("_T")
Asking: TypeAlias = Generator[list[Probe], None, _T]
"""Wishes trials, goes on when they are in the model's log, and ends with an answer."""


class Asker:
    """What every question about a step needs: the model, configurations to choose from, and the range."""

    def __init__(self, model: StepModel, configurator: Configurator, revisions: int) -> None:
        self.model, self.log, self.choose, self.revisions = model, model.log, configurator, revisions

    def clearness(self, step: Step, configuration: Configuration) -> float:
        """Squared size of a step over twice the noise of a trial there."""
        if self.model.exact:
            return 100.0
        level = self.level(configuration)
        size = abs(step.size) * level if self.log.relative else abs(step.size)
        return float((size / (2.0 * self.log.scale * max(level, 1e-300))) ** 2)

    def fewest(self, step: Step) -> int:
        """Trials at one place: a single one within an episode, far from its neighbours, would not count."""
        return 1 if step.partner is None or self.log.frozen else 2

    def level(self, configuration: Configuration) -> float:
        """Mean seconds of a configuration, or of those most like it."""
        means = self.log.means()
        place = self.log.place.get(configuration)
        if place is not None and means[place] > 0:
            return float(means[place])
        seen = means > 0
        apart = (self.log.holds[seen] != self.log.holding(configuration)).sum(axis=1)
        return float(means[seen][apart == apart.min()].mean())

    def trials(self, configuration: Configuration, revision: int, direction: int, times: int) -> list[Probe]:
        """Repetitions at a revision; where these would repeat the same value, at its neighbours."""
        wished: list[Probe] = []
        place: int | None = revision
        for _ in range(times):
            place = self.beside(configuration, place, direction) if place is not None else None
            if place is None:
                break
            wished.append(Probe(configuration, place))
            if self.log.frozen:
                place += direction
        return wished

    def around(self, step: Step, where: Configuration, times: int) -> Asking[None]:
        """So many trials right before and right after a step; where values are carried on, further away."""
        start = len(self.log)
        for move in range(MOVES):
            c, r, _, _ = self.log.since(start)
            mine = r[c == self.log.place.get(where, -1)]
            missing = times - int((mine < step.low).sum()), times - int((mine >= step.high).sum())
            away = 2**move - 1
            wished = [
                *self.trials(where, step.low - 1 - away, -1, missing[0]),
                *self.trials(where, step.high + away, 1, missing[1]),
            ]
            if not wished:
                return
            yield wished

    def reachable(self, step: Step, configuration: Configuration) -> bool:
        """Whether trials of a configuration are possible close to both sides of a step."""
        before, after = self.beside(configuration, step.low - 1, -1), self.beside(configuration, step.high, 1)
        far = max(CLOSE * self.revisions, 3.0)
        return before is not None and after is not None and max(step.low - before, after - step.high) <= far

    def unknown(self, configuration: Configuration, revisions: Iterable[int]) -> list[Probe]:
        """Trials of a configuration that are not known yet."""
        return [Probe(configuration, r) for r in revisions if not self.log.known(configuration, r)]

    def beside(self, configuration: Configuration, revision: int, direction: int) -> int | None:
        """The nearest revision from here on in a direction where a trial has not failed."""
        while 0 <= revision < self.revisions:
            if self.log.usable(configuration, revision):
                return revision
            revision += direction
        return None

    def clearest(self, step: Step) -> Configuration | None:
        """The configuration that shows a step best and is usable on both sides of it; None: there is none."""
        holding = [self.log.configurations[int(k)] for k in np.flatnonzero(self.model.cover(step))]
        near = [self.choose.near(step.term, wanted) for wanted in (self.choose.sparse, self.choose.dense)]
        others = self._beside(step)
        apart = [self.choose.without(level) for other in others for level in other.term]
        near += [self.choose.near([*step.term, x], self.choose.sparse) for x in apart if x is not None]
        usable = [
            c
            for c in dict.fromkeys([*(n for n in near if n is not None), *holding])
            if self.reachable(step, c)
        ]

        def worth(configuration: Configuration) -> tuple[bool, int, float]:
            held = self.log.holding(configuration)[None, :]
            disturbing = sum(bool(self.model.terms.cover(other.term, held)[0]) for other in others)
            return not self._blocked(step, configuration), -disturbing, self.clearness(step, configuration)

        return max(usable, key=worth, default=None)

    def _beside(self, step: Step) -> list[Step]:
        """With noise: other steps that may be at the same place, and so hide one."""
        if self.model.exact:
            return []
        return [s for s in self.model.steps if s is not step and s.low <= step.high and step.low <= s.high]

    def _blocked(self, step: Step, configuration: Configuration) -> bool:
        """Whether a configuration is known to give no value of its own at many revisions around a step."""
        places = [r for r in range(step.low - 1, step.high + 1) if r not in self.log.unbuilt]
        blocked = sum(not self.log.usable(configuration, r) for r in places)
        return blocked > BLOCKED * len(places)
