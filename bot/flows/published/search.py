"""The published search for change points: estimates, asks where it teaches most, and stops by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.analysis.published.association import Association, associate
from bot.analysis.published.cache import EVERYTHING, K, Pair, SolutionCache
from bot.analysis.published.clusters import candidate_commits
from bot.analysis.published.design import columns, design_matrix
from bot.analysis.published.extent import interval, ratio
from bot.analysis.published.likelihood import change_point_likelihood
from bot.analysis.published.naming import Blamed, Naming
from bot.analysis.published.peaks import peaks, uncertain
from bot.analysis.published.sample import Sample
from bot.analysis.published.threshold import THRESHOLD, noise_threshold
from bot.flows.answers import unanswered
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.published.budget import Split
from bot.sampling.published.commits import (
    exploit_commits,
    explore_commits,
    first_commits,
    first_count,
    shares,
)
from bot.sampling.published.configurations import Acquisition

N_MEASUREMENTS = 5000
"""Trials of one iteration, at most (section 4.1.3 varies it; the reference's example)."""
PER_COMMIT = 5
"""Trials of one iteration for each commit: short histories need fewer."""
N_INITIAL = 2
"""Configurations of the initial sample for each option (section 4.1.3 varies it)."""
I_MAX = 30
"""Iterations after which the search ends in any case (section 4.1.4)."""
REPETITIONS = 3
"""Trials at one commit of each initial configuration, to learn the noise from (section 3.2)."""

Ending: TypeAlias = Literal["stable", "iterations", "measurements", "exhausted"]
"""Why a search ended: the solution cache rested (or nothing ever differed), a limit, or all is measured."""


class PublishedSearch:
    """Identifying Software Performance Changes Across Variants and Versions (Mühlbauer et al., ASE 2020).

    Satisfies `ChangePointSearch`. One iteration is: likelihoods, candidate solution, solution cache, new
    wishes; it happens when all wishes of the one before are answered (a failed trial is an answer, and so is
    another configuration at the wished revision, which a table may serve).

    Args:
        space: options and constraints.
        revisions: length of the history.
        solver: of the space.
        rng: source of randomness.
        candidates: the only configurations that can be measured (a table's); None: all valid ones can.
        threshold: smallest relative difference that counts as a change (section 3.2).
        repetitions: trials at one commit of each initial configuration, whose variation raises the threshold
            (section 3.2); 1: the threshold is taken as it is, unless observations happen to repeat.
        measurements: trials of one iteration (section 3.4.2); None: `PER_COMMIT`, at most `N_MEASUREMENTS`.
        most_measurements: the search ends when so many are wished (section 3.5); None: never for this reason.
        most_iterations: the search ends after so many iterations (section 3.5).
    """

    def __init__(  # noqa: PLR0913  (the published parameters, keyword-only)
        self,
        space: Space,
        revisions: int,
        solver: ConstraintSolver,
        *,
        rng: np.random.Generator,
        candidates: Collection[Configuration] | None = None,
        threshold: float = THRESHOLD,
        repetitions: int = REPETITIONS,
        measurements: int | None = None,
        most_measurements: int | None = None,
        most_iterations: int = I_MAX,
    ) -> None:
        self.space = space
        self.revisions = revisions
        self.solver = solver
        self.rng = rng
        self.candidates = candidates
        self.threshold = threshold
        self.repetitions = repetitions
        self.measurements = measurements or min(N_MEASUREMENTS, PER_COMMIT * revisions)
        self.most_measurements = most_measurements
        self.most_iterations = most_iterations
        self._columns = columns(space)
        self._naming = Naming(space, self._columns, possible=solver.possible, equivalent=solver.equivalent)
        self._forget()

    def _forget(self) -> None:
        self.threshold_ = self.threshold
        self.likelihoods_: NDArray[np.float64] = np.zeros((0, self.revisions))
        self.candidate_solution_: tuple[Association, ...] = ()
        self.cache_ = SolutionCache()
        self.iterations_ = 0
        self.ending_: Ending | None = None
        self._sample = Sample()
        self._design = np.zeros((0, len(self._columns)))
        self._stale: set[int] = set()
        self._acquisition = Acquisition(self.space, self.solver, self.candidates)
        self._split = Split()
        self._pending: list[Probe] | None = None
        self._wished = 0
        self._found: Sequence[ChangePoint] | None = None

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the solution cache holds, as it would be if the iteration ended now; in order of revision.

        `probability` is a weight of the cache relative to the greatest one possible: the published algorithm
        states no probabilities.
        """
        if self._found is None:
            cache = self.cache_
            if self._stale:
                cache = cache.updated(_pairs(self._solution()))
            blamed = self._naming.blamed(cache)
            found = [point for one in blamed if (point := self._told(one)) is not None]
            self._found = tuple(sorted(found, key=lambda point: (point.revision, point.term)))
        return self._found

    def wishes(self) -> Sequence[Probe]:
        """The next trials; empty: the search has ended, `ending_` says why."""
        if self._pending is None:
            self._pending = self._limited(self._first())
        return tuple(self._pending)

    def fit(self, observations: Iterable[Observation]) -> Self:
        """Forgets everything else and estimates from these trials alone."""
        self._forget()
        return self.partial_fit(tuple(observations))

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in any trials; ends the iteration when nothing of what was wished is missing."""
        for observation in observations:
            place = self._sample.add(observation)
            if place is not None:
                self._stale.add(place)
        self._found = None
        if self._pending:
            self._pending = unanswered(self._pending, observations)
            if not self._pending:
                self._iterate()
        return self

    def _iterate(self) -> None:
        """Sections 3.2 to 3.5, once."""
        self.candidate_solution_ = self._solution()
        self._stale.clear()
        self.cache_ = self.cache_.updated(_pairs(self.candidate_solution_))
        self.iterations_ += 1
        silent = not self.likelihoods_.any() and self.iterations_ >= K
        if self.cache_.stable or silent:
            self.ending_ = "stable"
        elif self.iterations_ >= self.most_iterations:
            self.ending_ = "iterations"
        self._pending = [] if self.ending_ else self._limited(self._next())

    def _solution(self) -> tuple[Association, ...]:
        """The candidate solution of everything measured so far (sections 3.2 and 3.3)."""
        self._estimate()
        commits = candidate_commits(peaks(self.likelihoods_), self.revisions)
        rows = self._sample.measured()  # that a configuration always failed is no sign that it did not change
        design, likelihoods = self._design[rows], self.likelihoods_[rows]
        return tuple(associate(int(c), design, likelihoods) for c in commits)

    def _estimate(self) -> None:
        """Threshold, likelihoods and design of the sample; only what changed since is computed anew."""
        threshold = max(self.threshold, noise_threshold(self._sample.repeated()))
        known = self._sample.configurations
        stale = self._stale if threshold == self.threshold_ else range(len(known))
        self.threshold_ = threshold
        more = len(known) - len(self.likelihoods_)
        self.likelihoods_ = np.concatenate((self.likelihoods_, np.zeros((more, self.revisions))))
        for place in stale:
            commits, values = self._sample.history(place)
            self.likelihoods_[place] = change_point_likelihood(
                commits, values, n_commits=self.revisions, threshold=threshold
            )
        fresh = design_matrix(self.space, self._columns, known[len(self._design) :])
        self._design = np.concatenate((self._design, fresh))

    def _first(self) -> list[Probe]:
        """The initial sample (section 3.1), with repetitions from which the noise is learned."""
        if self.revisions < 2:
            return []
        initial = self._acquisition.initial(N_INITIAL * len(self._columns), rng=self.rng)
        probes: list[Probe] = []
        for configuration in initial:
            own = self._histories([configuration], first_count(self.revisions))
            repeated = own[int(self.rng.integers(len(own)))] if own else None
            probes += own + [repeated] * (self.repetitions - 1) if repeated else own
        return probes

    def _next(self) -> list[Probe]:
        """New measurements: commits of known configurations, and new configurations (section 3.4)."""
        exploring, exploiting, remaining = self._split.of(self.measurements)
        self._split = self._split.shifted()
        places = np.flatnonzero(self._sample.measured())
        probes: list[Probe] = []
        unsure = uncertain(self.likelihoods_)
        explore = shares(exploring, len(places), rng=self.rng)
        exploit = shares(exploiting, len(places), rng=self.rng)
        for place, wide, deep in zip(places.tolist(), explore, exploit, strict=True):
            tried = self._sample.tried(place)
            found = exploit_commits(unsure[place], tried, int(deep), rng=self.rng)
            tried = np.union1d(tried, np.array(found, dtype=np.int64))
            found += explore_commits(tried, int(wide), n_commits=self.revisions)
            probes += [Probe(self._sample.configurations[place], c) for c in found]
        return probes + self._new(remaining)

    def _new(self, trials: int) -> list[Probe]:
        """New configurations, as many as get at least the initial share of commits each."""
        least = first_count(self.revisions)
        suspected = [
            [self._columns[c] for c in one.columns]
            for one in self.candidate_solution_
            if one.columns or one.everything
        ]
        fresh = self._acquisition.next(trials // least, suspected, known=self._sample, rng=self.rng)
        return self._histories(fresh, trials // len(fresh)) if fresh else []

    def _histories(self, configurations: Iterable[Configuration], count: int) -> list[Probe]:
        barred = np.array(sorted(self._sample.unbuilt), dtype=np.int64)
        return [
            Probe(configuration, int(commit))
            for configuration in configurations
            for commit in first_commits(self.revisions, count, barred=barred, rng=self.rng)
        ]

    def _limited(self, probes: list[Probe]) -> list[Probe]:
        """Wishes within the limit of measurements; says why the search ends when none is left."""
        if not probes:
            self.ending_ = "exhausted"
        if self.most_measurements is not None:
            left = self.most_measurements - self._wished
            if probes and left <= 0:
                self.ending_ = "measurements"
            probes = probes[: max(left, 0)]
        self._wished += len(probes)
        return probes

    def _told(self, blamed: Blamed) -> ChangePoint | None:
        """A change point with its interval and ratio; None: where its term holds nothing moved.

        The paper does not look back at the measurements; without, noise alone fills a cache.
        """
        levels = [self.space.level_of[text] for text in blamed.term]
        places = [
            i
            for i, configuration in enumerate(self._sample.configurations)
            if all(self.space.holds(level, configuration) for level in levels)
        ]
        extent = interval(blamed.commit, self.likelihoods_[places].sum(axis=0))
        seen = ratio(extent, (self._sample.history(place) for place in places))
        if seen is None or seen[1] <= 1 <= seen[2] or abs(seen[0] - 1) < self.threshold:
            return None
        return ChangePoint(
            revision=blamed.commit,
            interval=extent,
            term=blamed.term,
            aliases=blamed.aliases,
            ratio=seen[0],
            ratio_interval=seen[1:],
            probability=blamed.confidence,
        )


def _pairs(solution: Iterable[Association]) -> list[Pair]:
    """Associations as the paper counts them: pairs of a commit and an option."""
    return [
        (one.commit, column)
        for one in solution
        for column in (*one.columns, *((EVERYTHING,) if one.everything else ()))
    ]
