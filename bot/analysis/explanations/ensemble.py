"""Explanations drawn by Gibbs sampling: several chains of sets of steps, kept from one look to the next."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from bot.analysis.explanations.cells import Floats
from bot.analysis.explanations.evidence import Evidence

CHAINS, SWEEPS = 6, 2
BIRTHS = 20
"""New steps that a chain may take at the end of a sweep."""
PAIRS = 4
"""Pairs of steps that a chain tells anew in a sweep."""
HOPELESS = 7.0
"""A chain whose log posterior is so far behind the best one is replaced by a better one."""

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
        self._visited: list[list[int]] = []
        self.best_: list[int] = []
        self.mass_: Floats = np.zeros(0)

    def look(self, evidence: Evidence) -> None:
        """Goes on with all chains under new evidence."""
        found: list[list[int]] = []
        visited: list[list[list[int]]] = []
        masses = np.zeros((len(self._chains), len(evidence)))
        for chain, mass in zip(self._chains, masses, strict=True):
            chosen = list(dict.fromkeys(evidence.candidate(*placed) for placed in chain))
            visited.append([])
            for _ in range(SWEEPS):
                visited[-1] += self._sweep(evidence, chosen, mass)
            found.append(chosen)
        scores = np.array([evidence.score(chosen) for chosen in found])
        self.best_ = list(found[int(np.argmax(scores))])
        good = np.flatnonzero(scores > scores.max() - HOPELESS)
        self.mass_ = np.minimum(masses[good] / SWEEPS, 1.0).mean(axis=0)
        for i in np.flatnonzero(scores <= scores.max() - HOPELESS):
            found[i] = list(found[int(self._rng.choice(good))])
        self._visited = [chosen for i in good for chosen in visited[i]]
        self._chains = [[self._placed(evidence, j) for j in chosen] for chosen in found]

    def explanations(self, count: int) -> list[list[int]]:
        """Candidates of explanations that chains went through, drawn at random."""
        return [self._visited[int(i)] for i in self._rng.integers(len(self._visited), size=count)]

    def draws(self, evidence: Evidence, count: int) -> list[list[tuple[Placed, float]]]:
        """Explanations that chains went through, each with what else may be there, as probable as it is.

        Sizes and revisions are drawn, too.
        """
        found: list[list[tuple[Placed, float]]] = []
        for visited in self.explanations(count):
            chosen = list(visited)
            more = self._draw(evidence.odds(chosen))
            chosen += [] if more is None else [more]
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

    def _sweep(self, evidence: Evidence, chosen: list[int], mass: Floats) -> list[list[int]]:
        """Draws each step anew, and looks for more; the explanations on the way."""
        visited = []
        for j in self._rng.permutation(chosen).tolist():
            chosen.remove(j)
            drawn = self._draw(evidence.odds(chosen), mass)
            if drawn is not None:
                chosen.append(drawn)
            visited.append(list(chosen))
        self._retell(evidence, chosen)
        self._unite(evidence, chosen)
        for _ in range(BIRTHS):
            drawn = self._draw(evidence.odds(chosen), mass)
            if drawn is None:
                break
            chosen.append(drawn)
        return [*visited, list(chosen)]

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
