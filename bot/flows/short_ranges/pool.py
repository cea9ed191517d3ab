"""The configurations that a search of a short range may measure; new ones where it is in doubt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.probable_failures import holding
from bot.analysis.change_points.terms import Term, Terms
from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.conjunctions import Sides
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.flows.short_ranges.failures import HOPELESS, Failures
from bot.model.change_points import Probe
from bot.model.space import Configuration, Level, Space
from bot.sampling.contrast import Apart, Configurator

RANDOM = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Shares of options that are on in random configurations; each is drawn several times."""
DRAWS = 4
GROWN = 24
"""Terms for which a configuration of their own is added at once."""
MANY = 4
"""Configurations that did not move, from which on that of a single other one takes several options."""
UNSURE = (0.02, 0.98)
MOST = 400
RIDGE = 0.1


class Pool:
    """Numbered configurations: few options on, each level alone, random ones; and those that doubts need."""

    def __init__(
        self,
        space: Space,
        terms: Terms,
        choose: Configurator,
        revisions: int,
        *,
        candidates: Collection[Configuration] | None,
        anchor: int | None = None,
    ) -> None:
        self._space, self._terms, self.choose = space, terms, choose
        self.configurations: list[Configuration] = []
        self.holds: NDArray[np.bool_] = np.zeros((0, len(terms.levels)), dtype=bool)
        self._numbers: dict[Configuration, int] = {}
        self._asked = set[Configuration]()
        """For the sake of levels that are blamed for failures."""
        self.failures = Failures(revisions, anchor)
        choose.failing = self._failing
        for configuration in choose.extremes:
            self.number(configuration)
        if candidates is not None and len(candidates) <= MOST:
            for configuration in candidates:
                self.number(configuration)
            return
        self._add_each_alone()
        for share in RANDOM:
            for _ in range(DRAWS):
                self._add(choose.random(share))

    def number(self, configuration: Configuration) -> int:
        """The number of a configuration, new ones included."""
        if configuration not in self._numbers:
            self._numbers[configuration] = len(self.configurations)
            self.configurations.append(configuration)
            held = holding(self._space, self._terms.levels, configuration)
            self.holds = np.vstack([self.holds, held[None, :]])
        return self._numbers[configuration]

    @property
    def sparse(self) -> int:
        """The emptiest configuration: few options on."""
        return self.number(self.choose.sparse)

    @property
    def dense(self) -> int:
        """The fullest one."""
        return self.number(self.choose.dense)

    @property
    def working(self) -> Collection[Configuration]:
        """Those with which anything worked beside the anchor."""
        return dict.fromkeys(self.configurations[c] for c, _ in sorted(self.failures.tried_well))

    def begin_at(self, emptiest: Configuration) -> None:
        """Takes another configuration as the emptiest one, and adds each level by itself beside it."""
        self.choose.sparse = emptiest
        self._add_each_alone()

    @property
    def each_alone(self) -> list[Configuration]:
        """Each level by itself, with as little else as can be."""
        return self.choose.alone(self._terms.levels)

    def _add_each_alone(self) -> None:
        for configuration in self.each_alone:
            self._add(configuration)

    def _failing(self) -> Apart:
        return tuple(
            tuple(self._terms.levels[k] for k in each) for each in self.failures.together(self.holds)
        )

    def _add(self, configuration: Configuration | None) -> None:
        if configuration is not None and len(self.configurations) < MOST:
            self.number(configuration)

    def on(self) -> Floats:
        """Which options are not as in the emptiest configuration: 0 or 1, (n_configurations, n_options)."""
        plain = self.choose.sparse
        return np.array(
            [[a != b for a, b in zip(c, plain, strict=True)] for c in self.configurations], dtype=np.float64
        )

    def levels(self, measured: Mapping[int, float]) -> Floats:
        """Seconds of each configuration: as measured, or as the sum of its options' costs lets expect."""
        rows, values = np.array(list(measured), dtype=np.intp), np.array(list(measured.values()))
        on = np.column_stack([np.ones(len(self.configurations)), self.on()])
        known, center = on[rows], float(np.median(values))
        gram = known.T @ known + RIDGE * np.eye(on.shape[1])
        costs = np.linalg.solve(gram, known.T @ (values - center))
        expected = np.maximum(center + on @ costs, 0.1 * float(values.min()))
        expected[rows] = values
        return np.asarray(expected, dtype=np.float64)

    def usable(self) -> NDArray[np.bool_]:
        """Cells that may give a value, (n_configurations, n_revisions)."""
        return self.failures.usable(self.holds)

    def grow(self, ensemble: Ensemble, evidence: Evidence) -> None:
        """Adds configurations that hold a doubtful term, or all of it but a level, and little else."""
        mass = ensemble.mass_.reshape(len(evidence.kinds), evidence.places).max(axis=1)
        order = np.argsort(-mass)
        doubtful = [k for k in order[: 4 * GROWN] if UNSURE[0] < mass[k] < UNSURE[1]]
        sparse = self.choose.sparse
        for kind in doubtful[:GROWN]:
            term: Term = evidence.kinds.name(kind)
            self._add(self.choose.near(term, sparse))
            for level in term if len(self.configurations) < MOST else ():
                self.lacking(term, level)

    def refine(self, places: Sequence[Sides]) -> None:
        """Adds the fullest configuration without each of its levels where among many it alone moved."""
        if any(sides.moved == [self.dense] and len(sides.still) >= MANY for sides in places):
            for level in self._terms.levels:
                self._add(self.choose.near([level], self.choose.dense))

    def alone(self, term: Term) -> tuple[Term, int] | None:
        """A term and the plainest configuration of it; None: there is none."""
        plain = self.choose.near(term, self.choose.sparse)
        return None if plain is None else (term, self.number(plain))

    def lacking(self, term: Term, level: Level) -> tuple[Term, int] | None:
        """A term without one of its levels, and the plainest configuration of it; None: there is none."""
        other = self.choose.without(level)
        if other is None:
            return None
        return self.alone((*(x for x in term if x != level), other))

    def untried(self) -> list[Configuration]:
        """What tells whether levels that are blamed for failures work after all, and since when."""
        blamed = self.failures.untried(self.holds)
        failed = [self.configurations[c] for c in {c for c, _ in self.failures.failed}] if blamed else []
        found: list[Configuration] = []
        for place in blamed:
            if well := self.failures.working(self.holds, place):
                found.append(self.configurations[well[0]])
                continue
            level = self._terms.levels[place]
            tried = [*self.choose.alone([level]), *self.choose.otherwise(level, failed)]
            found += [c for c in tried if not self.failures.knows(self.number(c))]
        fresh = [c for c in dict.fromkeys(found) if c not in self._asked]
        self._asked.update(fresh)
        return fresh

    def anything(self, rng: np.random.Generator) -> list[Probe]:
        """Trials somewhere else, as long as nothing worked; empty: too much was tried."""
        usable = self.usable()
        if len(self.failures.failed) + len(self.failures.unbuilt) > HOPELESS * usable.shape[1]:
            return []
        cells = np.argwhere(usable)
        drawn = cells[rng.permutation(len(cells))[:HOPELESS]]
        return [Probe(self.configurations[int(c)], int(r)) for c, r in drawn]
