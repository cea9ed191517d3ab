"""The trials that a search begins with, and those with which it looks again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle

import numpy as np

from bot.analysis.change_points.scale import SHORT
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.units import unit_of
from bot.flows.change_points.acquaintance import Acquaintance
from bot.flows.change_points.asking import Asker, Asking
from bot.flows.change_points.gaps import halved
from bot.model.change_points import Probe
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator

REPEATED = 3
"""Trials of the same at both ends, to learn the noise from."""
SUBSTITUTES, ROUNDS = 8, 4
"""Configurations tried when the emptiest or the fullest one always fails; so many more, as nothing works."""
GLANCES = 12
"""Revisions at which the first two configurations are glanced at: are neighbours alike?"""
ALL = 4
"""With so many trials for each revision of a short range one configuration is looked at everywhere."""
EXACT_GRID, EXACT_AGAIN, EXACT_CONFIGURATIONS, FIRST_SHARES = 8, 5, 8, (0.5, 0.75)
"""Without noise: revisions of first and fresh configurations, these in a round, how full the first are."""
GRID = (5, 12, 25)
"""With noise: fewest revisions at which a level alone and a random configuration are scanned, and most."""
ALONE = 0.8, 1 / 3
"""Share of these at which a level alone is scanned, in the first round and in later ones."""
GRID_NOISE = 0.006
"""Noise of which the grid has the square in revisions: a step of 6 % is then five scales away."""
SCANNED, FEWEST = 0.4, 3
"""Share of limited trials for the first round, and the fewest revisions a configuration is scanned at."""
STEP_COSTS, RELUCTANCE = 12.0, 20.0
"""Squared scales that a step must explain, and shares must explain more than seconds."""
COMPARED, END = (1.0, 16, 96), 0.02
"""The same for those compared at both ends alone; how near these, as a share of the range."""
BALANCED = (0.8, 16, 64)
"""Random configurations of a round: for each two levels, at least and at most."""
CALM, BLUR = 3e-3, 0.01
"""Relative noise up to which steps are seen to be uneven, and what is added to it then."""
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
"""Multiples of it, modulo 1, fill [0, 1) evenly, however many there are (Weyl; the three-gap theorem)."""


class Scan:
    """Wishes trials spread over all revisions; the answers are in the model's log."""

    def __init__(
        self,
        model: StepModel,
        configurator: Configurator,
        revisions: int,
        *,
        rng: np.random.Generator,
        trials: float = math.inf,
        seconds: float = math.inf,
    ) -> None:
        self._trials, self._seconds = trials, seconds
        self._model, self._log, self._revisions, self._rng = model, model.log, revisions, rng
        self._choose, self._ask = configurator, Asker(model, configurator, revisions)
        self._acquaint = Acquaintance(model, configurator, revisions)
        self._offset = 0.0

    def first(self) -> Iterator[list[Probe]]:
        """Learns the noise, then scans enough to see what is large."""
        self._offset = float(self._rng.random())
        emptiest, fullest = self._choose.sparse, self._choose.dense
        yield from self._ends()
        if self._works(self._choose.sparse):
            yield from self._acquaint.emptiest(emptiest)
        yield [Probe(self._choose.sparse, r) for r in self._glances()]
        if not len(self._log):
            return
        self._log.learn_scale()
        if self._model.exact:
            others = yield from self._acquainted(fullest)
            others += [self._choose.random(share) for share in FIRST_SHARES]
            known = dict.fromkeys([*self._extremes(), *others])
            yield [probe for c in known for probe in self._spread(c, EXACT_GRID)]
            self._log.learn_scale()
        if not self._model.exact:
            if self._log.failed:
                yield from self._acquaint.doubted()
                yield from self._acquaint.never_worked()
            yield from self._round(0)

    def _ends(self) -> Iterator[list[Probe]]:
        """Repeats the emptiest and the fullest configuration at the ends; others, where these fail."""
        places = self._grid(2)
        yield [Probe(c, r) for c in self._extremes() for r in places for _ in range(REPEATED)]
        failing = [c for c in self._extremes() if not self._works(c)]
        if not failing:
            return
        working = yield from self._substitutes(failing)
        if working:
            self._choose.replace([c for c in failing if not self._works(c)], working)
            places = sorted({r for c in working for r in self._grid(2 + REPEATED) if self._log.known(c, r)})
            yield [
                Probe(c, r)
                for c in self._extremes()
                for r in (places[0], places[-1])
                for _ in range(REPEATED)
            ]

    def _substitutes(self, failing: Sequence[Configuration]) -> Asking[list[Configuration]]:
        """Configurations that work: the default one, or any drawn at random, more as long as nothing does."""
        shares, places = np.linspace(0.1, 0.9, SUBSTITUTES), self._grid(2 + REPEATED)[1:-1]
        drawn = [*failing, self._choose.default, *(self._choose.random(share) for share in shares)]
        yield [Probe(c, r) for c in dict.fromkeys(drawn) if not self._works(c) for r in places]
        known = [*self._extremes(), *drawn]
        for _ in range(ROUNDS):
            if any(self._works(c) for c in known):
                break
            more = [self._choose.random(share) for share in shares]
            yield [Probe(c, r) for c, r in zip(more, cycle(places), strict=False)]
            known += more
        return [c for c in dict.fromkeys(known) if self._works(c)]

    def _acquainted(self, fullest: Configuration) -> Asking[list[Configuration]]:
        """Learns what works, where trials failed; configurations as near as can be to a fullest that did."""
        if not self._log.failed:
            return []
        yield from self._acquaint.births()
        others: list[Configuration] = []
        if not self._works(fullest):
            self._choose.dense, *others = yield from self._acquaint.fullest(fullest)
        yield from self._acquaint.never_worked()
        return others

    def _glances(self) -> list[int]:
        """Revisions spread over the range; of a short one, where steps are dense, all, or neighbours."""
        if self._revisions > SHORT:
            return self._grid(GLANCES)
        if ALL * self._revisions <= self.limit():
            return list(range(self._revisions))
        places = self._grid(GLANCES // 2 + 2)[1:-1]
        return sorted({r for place in places for r in (place - 1, place)})

    def _extremes(self) -> list[Configuration]:
        return list(dict.fromkeys([self._choose.sparse, self._choose.dense]))

    def _works(self, configuration: Configuration) -> bool:
        place = self._log.place.get(configuration)
        return place is not None and self._log.means()[place] > 0.0

    def again(self) -> Iterator[list[Probe]]:
        """Fresh configurations and, with noise, the ends of the range."""
        self._choose.avoided = tuple(self._log.broken_levels())
        if self._model.exact:
            fresh = yield from self._tried(EXACT_CONFIGURATIONS, self._log.configurations)
            yield [probe for c in fresh for probe in self._spread(c, EXACT_AGAIN)]
            yield from halved(self._model)
        else:
            yield from self._round(1)

    def choose_exact_unit(self) -> Iterator[list[Probe]]:
        """With next to no noise: seconds or shares, whichever are alike; if neither, scans blurred trials.

        Steps that are found in the wrong unit go.
        """
        if self._log.scale > CALM:
            return
        unit = unit_of(*self._log.since(0)[:3], noise=self._log.scale)
        if unit == "neither":
            self._log.blur(BLUR, self._rng)
            self._use(False, [])
            yield from self._round(0)
        elif self._model.exact and unit is not None and self._log.relative != (unit == "shares"):
            self._use(unit == "shares", [])

    def choose_unit(self, look: Callable[[list[Step]], None], known: Sequence[Step] = ()) -> bool:
        """Seconds or shares: whichever leaves less to explain after a look at each; whether it changed.

        look: takes the known steps and puts into the model what it sees in the present unit.
        """
        model, before = self._model, self._log.relative
        found = []
        for relative in (False, True):
            self._use(relative, [])
            look([replace(step, settled=False, confirmed=None) for step in known])
            found.append((model.misfit() + STEP_COSTS * len(model.steps), list(model.steps)))
        relative = found[1][0] < found[0][0] - RELUCTANCE
        changed = relative != before
        self._use(relative, known if known and not changed else found[relative][1])
        model.fit()
        return changed

    def _use(self, relative: bool, steps: Sequence[Step]) -> None:
        self._log.relative = relative
        self._log.forget()
        self._model.steps[:] = steps

    def _round(self, number: int) -> Iterator[list[Probe]]:
        """Each level alone, and random configurations, each spread over the range with its own offset."""
        sparse = self._choose.sparse
        basic = [sparse, *(c for c in self._choose.alone(self._log.levels) if c != sparse)]
        few, want, count = self._extent(len(basic))
        places = max(int(ALONE[number > 0] * few), min(few, GRID[0]))
        wished = [probe for configuration in basic for probe in self._spread(configuration, places)]
        yield wished
        self._choose.avoided = tuple(self._log.broken_levels())
        fresh = yield from self._tried(want, self._log.configurations[len(basic) :])
        yield [probe for configuration in fresh for probe in self._spread(configuration, count)]
        if number > 0:
            yield self._at_both_ends()
        self._log.learn_scale()
        yield [Probe(c, r) for c, r in self._log.odd()]

    def _tried(self, count: int, known: Sequence[Configuration]) -> Asking[list[Configuration]]:
        """New configurations; where trials fail, each is tried once first, and another one taken for it."""
        fresh = self._fresh(count, known)
        late = self._ask.beside(self._choose.sparse, self._revisions - 1, -1)
        if not self._log.failed or late is None:
            return fresh
        yield [Probe(c, late) for c in fresh]
        works = [c for c in fresh if self._works(c)]
        return [*works, *self._fresh(count - len(works), [*known, *fresh])]

    def _at_both_ends(self) -> list[Probe]:
        """Many random configurations, each only at both ends of the range: rare terms show somewhere."""
        share, least, most = COMPARED
        want = int(min(np.clip(share * self._size, least, most), SCANNED * self.limit() / 4.0))
        fresh = self._fresh(want, self._log.configurations)
        last, near = self._revisions - 1, max(round(END * self._revisions), 1)
        places = [
            (0, int(a), last - int(b), last) for a, b in self._rng.integers(1, near + 1, (len(fresh), 2))
        ]
        return [
            Probe(c, r)
            for c, four in zip(fresh, places, strict=True)
            for r in dict.fromkeys(four)
            if 0 <= r <= last
        ]

    def _extent(self, basic: int) -> tuple[int, int, int]:
        """Revisions for each basic configuration, number of random ones, and revisions for each of these."""
        needed = min(round((self._log.scale / GRID_NOISE) ** 2), self._revisions)
        count, few = (int(np.clip(needed, least, GRID[-1])) for least in (GRID[1], GRID[0]))
        share, least, most = BALANCED
        want = int(np.clip(share * self._size, least, most))
        room = SCANNED * self.limit()
        if room < basic * few + want * count:  # the rest names and places what is seen
            few = int(np.clip(room / 2.0 / basic, FEWEST, few))
            count = int(np.clip(room / 2.0 / want, 2 * FEWEST, count))
            want = int(np.clip((room - basic * few) / count, 1, want))
        return few, want, count

    @property
    def _size(self) -> float:
        """Options as wide as a flag: one of many values is shown rarely, and needs more configurations."""
        return len(self._log.levels) / 2.0

    def limit(self) -> float:
        """Trials that there will be, in all."""
        y = self._log.columns()[2] if len(self._log) else np.zeros(0)
        each = float(self._log.means()[self._log.columns()[0]].mean()) if len(y) else 0.0
        return min(self._trials, self._seconds / each if each > 0.0 else math.inf)

    def _spread(self, configuration: Configuration, count: int) -> list[Probe]:
        """Trials at both ends, and in equal stretches between, somewhere else in these for each."""
        last = self._revisions - 1
        between = max(min(count, self._revisions) - 2, 0)
        self._offset = (self._offset + GOLDEN) % 1.0
        inside = ((np.arange(between) + self._offset) / max(between, 1) * last).astype(int)
        places = list(dict.fromkeys((0, *inside.tolist(), last)))
        known = [self._known_at(r, configuration) for r in places]
        # What is left of it goes on to where more is known: no stretch lies between two configurations.
        probes = [*zip(known, places, strict=True), *zip(known, places[1:], strict=False)]
        return [Probe(c, r) for c, r in dict.fromkeys(probes)]

    def _known_at(self, revision: int, configuration: Configuration) -> Configuration:
        """A configuration, or what is left of it without the levels that give no value there."""
        if self._log.usable(configuration, revision):
            return configuration
        others = [self._choose.without(level) for level in self._log.lost(revision)]
        left = self._choose.near([x for x in others if x is not None], configuration)
        return configuration if left in (None, self._choose.sparse) else left

    def _fresh(self, count: int, known: Sequence[Configuration]) -> list[Configuration]:
        """New configurations that are not expected to fail everywhere."""
        places = self._grid(GLANCES)
        return self._choose.balanced(count, known, lambda c: any(self._log.usable(c, r) for r in places))

    def _grid(self, count: int) -> list[int]:
        return sorted({round(x) for x in np.linspace(0, self._revisions - 1, count)})
