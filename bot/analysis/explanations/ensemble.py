"""Explanations drawn by Gibbs sampling: several chains of sets of steps, kept from one look to the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.crossing import take_over
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.pruning import pruned

CHAINS, SWEEPS = 6, 2
BIRTHS = 20
"""New steps that a chain may take at the end of a sweep."""
PAIRS = 4
"""Pairs of steps that a chain tells anew in a sweep."""
HOPELESS = 7.0
"""Log odds behind the best chain from which on one is given up.

Only what chains hold surely is compared for that. By what they hold by chance they are much further apart,
and all would soon be copies of the luckiest one, sure of its words: one that is behind by that is pruned.
"""

Placed = tuple[int, int]
"""A kind of step and a revision."""


class Ensemble:
    """Chains over sets of steps with spike-and-slab priors.

    Each step in turn is taken out and drawn anew given the others, sizes integrated out (George and
    McCulloch, "Variable Selection Via Gibbs Sampling", 1993).

    best_: the candidates of the most probable explanation. mass_: how often each candidate belongs to one,
    from the probabilities with which steps were drawn, (n_candidates,).
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._chains: list[list[Placed]] = [[] for _ in range(CHAINS)]
        self._visited: list[tuple[int, ...]] = []
        self._tidy: list[tuple[int, ...]] = []
        self.best_: list[int] = []
        self.mass_: Floats = np.zeros(0)

    def look(self, evidence: Evidence) -> None:
        """Goes on with all chains under new evidence."""
        chains = [list(dict.fromkeys(evidence.candidate(*placed) for placed in c)) for c in self._chains]
        take_over(evidence, chains, self._rng)
        masses = np.zeros((len(chains), len(evidence)))
        visited: list[list[tuple[int, ...]]] = [[] for _ in chains]
        for chosen, mass, seen in zip(chains, masses, visited, strict=True):
            for _ in range(SWEEPS):
                seen.extend(self._sweep(evidence, chosen, mass))
        plain = [pruned(evidence, chosen) for chosen in chains]
        good = _near([evidence.score(chosen) for chosen in plain])
        scores = np.where(good, [evidence.score(chosen) for chosen in chains], -np.inf)
        self.best_ = list(chains[int(np.argmax(scores))])
        self.mass_ = np.minimum(masses[good] / SWEEPS, 1.0).mean(axis=0)
        tidy = _near(scores)
        self._visited = [chosen for i in np.flatnonzero(good) for chosen in visited[i]]
        self._tidy = [chosen for i in np.flatnonzero(tidy) for chosen in visited[i]]
        for i in np.flatnonzero(~tidy):
            chains[i] = plain[i if good[i] else int(self._rng.choice(np.flatnonzero(good)))]
        self._chains = [[self._placed(evidence, j) for j in chosen] for chosen in chains]

    def explanations(self, count: int) -> list[tuple[int, ...]]:
        """Candidates of explanations that chains went through, drawn at random."""
        return self._some(self._visited, count)

    def _some(self, explanations: Sequence[tuple[int, ...]], count: int) -> list[tuple[int, ...]]:
        return [explanations[int(i)] for i in self._rng.integers(len(explanations), size=count)]

    def draws(
        self, evidence: Evidence, count: int, *, tidy: bool = False
    ) -> list[list[tuple[Placed, float]]]:
        """Explanations that chains went through, each with what else may be there, as probable as it is.

        Sizes and revisions are drawn, too. tidy: only of chains that hold little by chance.
        """
        found: list[list[tuple[Placed, float]]] = []
        drawn = self._some(self._tidy if tidy else self._visited, count)
        odds = {visited: evidence.odds(visited) for visited in set(drawn)}
        for visited in drawn:
            more = self._draw(odds[visited])
            chosen = visited if more is None else (*visited, more)
            mean, covariance = evidence.sizes(chosen) if chosen else (np.zeros(0), np.zeros((0, 0)))
            sizes = self._sizes(mean, covariance) if chosen else mean
            placed = (self._placed(evidence, j) for j in chosen)
            found.append(list(zip(placed, map(float, sizes), strict=True)))
        return found

    def _sizes(self, mean: Floats, covariance: Floats) -> Floats:
        """Drawn sizes; by eigenvalues where steps look so alike that rounding leaves no root."""
        try:
            return np.asarray(self._rng.multivariate_normal(mean, covariance, method="cholesky"))
        except np.linalg.LinAlgError:
            return np.asarray(
                self._rng.multivariate_normal(mean, covariance, method="eigh", check_valid="ignore")
            )

    def _sweep(self, evidence: Evidence, chosen: list[int], mass: Floats) -> list[tuple[int, ...]]:
        """Draws each step anew, and looks for more; the explanations on the way."""
        visited = []
        for j in self._rng.permutation(chosen).tolist():
            chosen.remove(j)
            drawn = self._draw(evidence.odds(chosen), mass)
            if drawn is not None:
                chosen.append(drawn)
            visited.append(tuple(chosen))
        self._retell(evidence, chosen)
        self._unite(evidence, chosen)
        for _ in range(BIRTHS):
            drawn = self._draw(evidence.odds(chosen), mass)
            if drawn is None:
                break
            chosen.append(drawn)
        return [*visited, tuple(chosen)]

    def _retell(self, evidence: Evidence, chosen: list[int]) -> None:
        """Draws two steps of one place anew together: one at a time, neither would let go of the other.

        Kept as probable as the new pair is against the old one (the proposals' own odds are left out).
        """
        places = np.array(chosen, dtype=np.intp) % evidence.places
        first, second = np.nonzero(np.triu(places[:, None] == places[None, :], 1))
        pairs = [(chosen[i], chosen[j]) for i, j in zip(first, second, strict=True)]
        for i in self._rng.permutation(len(pairs))[:PAIRS]:
            if not set(pairs[i]) <= set(chosen):
                continue
            other = [j for j in chosen if j not in pairs[i]]
            for _ in range(2):
                drawn = self._draw(evidence.odds(other))
                other += [] if drawn is None else [drawn]
            self._accept(evidence, chosen, other)

    def _unite(self, evidence: Evidence, chosen: list[int]) -> None:
        """Tells the steps of a place as one of any of their options: everything moves, but without these."""
        kinds: dict[int, list[int]] = defaultdict(list)
        for j in chosen:
            kinds[j % evidence.places].append(j // evidence.places)
        for place, several in kinds.items():
            for pair in evidence.kinds.exceptions(several) if len(several) > 1 else ():
                whole, absent = (kind * evidence.places + place for kind in pair)
                other = [whole, *(j for j in chosen if j % evidence.places != place)]
                if evidence.apart(absent, other):
                    self._accept(evidence, chosen, [*other, absent])

    def _accept(self, evidence: Evidence, chosen: list[int], other: list[int]) -> None:
        """Makes one explanation another as probably as that is likelier."""
        gain = evidence.score(other) - evidence.score(chosen)
        if gain >= 0.0 or self._rng.random() < np.exp(gain):
            chosen[:] = other

    def _draw(self, log_odds: Floats, mass: Floats | None = None) -> int | None:
        """A candidate, or none, as probable as the odds say; adds the probabilities to the mass."""
        top = max(float(log_odds.max()), 0.0)
        weights = np.exp(log_odds - top)
        sums = np.cumsum(weights)
        whole = sums[-1] + np.exp(-top)
        if mass is not None:
            mass += weights / whole
        drawn = self._rng.random() * whole
        return int(np.searchsorted(sums, drawn)) if drawn < sums[-1] else None

    def _placed(self, evidence: Evidence, candidate: int) -> Placed:
        """A candidate at one of its revisions, all equally probable: finer cuts will tell."""
        first, last = evidence.stretch(candidate)
        return candidate // evidence.places, int(self._rng.integers(first, last + 1))


def _near(scores: Sequence[float] | Floats) -> NDArray[np.bool_]:
    """Which are not hopelessly behind the best one, (n_scores,)."""
    return np.asarray(scores) > np.max(scores) - HOPELESS
