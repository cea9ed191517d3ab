"""What the trials say of one more step beside others: all candidates at once, sizes integrated out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.terms import Term, Terms
from bot.analysis.explanations.beside import ALIKE, Beside
from bot.analysis.explanations.cells import Floats, Ints, Table
from bot.analysis.explanations.overlaps import Overlaps
from bot.analysis.explanations.scales import Scales

SHARES = 0.3
"""Prior share of steps that are a share of each configuration's level rather than the same seconds."""
MOST_GROWN = 300
"""Terms of more than two levels: each takes as long as any other."""
COARSE = 0.8
"""Power of the likelihood: no sum of steps is quite true, and a posterior that believes it is names too
much (Miller and Dunson, "Robust Bayesian Inference via Coarsening", 2019)."""


@dataclass(frozen=True)
class Kinds:
    """What a step may be: a term, in seconds or (all but pairs) as a share of the level.

    term: number of each kind's term, (n_kinds,). share: whether it is a share. log_prior: (n_kinds,).
    terms: of which the numbers are. grown: terms of more than two levels; their kinds follow all others, so
    that numbers of kinds stay.
    """

    term: Ints
    share: NDArray[np.bool_]
    log_prior: Floats
    terms: Terms
    grown: tuple[Term, ...] = ()

    @classmethod
    def of(cls, terms: Terms) -> Kinds:
        """All kinds over some terms."""
        single = 1 + len(terms.levels)
        prior = terms.log_prior.copy()
        prior[:single] += np.log(1.0 - SHARES)
        return cls(
            term=np.concatenate([np.arange(len(terms)), np.arange(single)]),
            share=np.arange(len(terms) + single) >= len(terms),
            log_prior=np.concatenate([prior, terms.log_prior[:single] + np.log(SHARES)]),
            terms=terms,
        )

    def __len__(self) -> int:
        return len(self.term)

    def grow(self, more: Sequence[Term]) -> Kinds:
        """The same, and those of larger terms (`MOST_GROWN` of them at most)."""
        grown = tuple(dict.fromkeys((*self.grown, *more)))[:MOST_GROWN]
        fresh = len(self.terms) + np.arange(len(self.grown), len(grown))
        prior = self.terms.log_priors(grown)[fresh]
        return Kinds(
            term=np.concatenate([self.term, fresh, fresh]),
            share=np.concatenate([self.share, np.repeat([False, True], len(fresh))]),
            log_prior=np.concatenate([self.log_prior, prior + np.log(1.0 - SHARES), prior + np.log(SHARES)]),
            terms=self.terms,
            grown=grown,
        )

    def name(self, kind: int) -> Term:
        """The term of a kind."""
        return self.terms.term(int(self.term[kind]), self.grown)

    def exceptions(self, kinds: Sequence[int]) -> list[tuple[int, int]]:
        """Kinds of everything, each with one of the absence of all options that are on in some kinds' terms.

        In seconds, and as shares of the level; empty: that absence is no grown term.
        """
        blamed = {level.option for kind in kinds for level in self.name(kind) if level.operator == "on"}
        number = self._absences.get(frozenset(blamed), 0)
        whole, absent = (np.flatnonzero(self.term == n).tolist() for n in (0, number))
        return list(zip(whole, absent, strict=True)) if number else []

    @cached_property
    def _absences(self) -> dict[frozenset[str], int]:
        """Numbers of the grown terms that no option is on in, by their options."""
        return {
            frozenset(level.option for level in term): number
            for number, term in enumerate(self.grown, len(self.terms))
            if all(level.operator == "off" for level in term)
        }

    def design(self, covers: NDArray[np.float32], levels: Floats) -> NDArray[np.float32]:
        """How far each configuration moves at a kind's size of 1, (n_configurations, n_kinds), in units.

        covers: (n_terms, n_configurations) of 0 and 1; levels: in units, (n_configurations,).
        """
        found = covers[self.term].T.copy()
        found[:, self.share] *= levels[:, None].astype(np.float32)
        return found


class Evidence:
    """A table of trials against all candidate steps: a kind, between two revisions next to each other in it.

    Candidates are numbered by kind, then place. cuts: revisions with trials, (n_places + 1,).
    noises: relative standard deviation of a trial of each configuration, (n_configurations,).
    """

    def __init__(
        self,
        table: Table,
        kinds: Kinds,
        scales: Scales,
        *,
        on: Floats,
        design: NDArray[np.float32],
        expected: float,
        revisions: int,
        moved: Floats | None = None,
    ) -> None:
        """on: (n_configurations, n_levels); design: see `Kinds`; expected: number of steps beforehand.

        moved: see `Scales.covariance`.
        """
        self.table, self.kinds, self.scales, self.design = table, kinds, scales, design
        self.revisions = revisions
        self.cuts = np.unique(table.revision)
        self.places = len(self.cuts) - 1
        self.noises = scales.noises(on)
        whole = int(np.flatnonzero(kinds.share & (kinds.term == 0))[0])
        self._levels: Floats = design[:, whole].astype(np.float64)
        factor = np.asarray(np.linalg.cholesky(scales.covariance(table, on, moved) / COARSE))
        self._overlaps = Overlaps(table, design, self.cuts, factor)
        self._y = (table.value - table.value.mean()) / scales.unit
        self._moment = self._overlaps.moment(self._y)
        self._information = self._overlaps.information()
        self._beside = Beside(self._overlaps.of, self._moment, self._information, bound=1.0 / scales.slab**2)
        width = np.log(np.diff(self.cuts) / max(revisions - 1, 1))
        # Of logarithms an amount is a share: the same step, told twice.
        prior = np.where(kinds.share & table.relative, -np.inf, kinds.log_prior)
        self.log_prior = (prior[:, None] + width[None, :]).ravel() + np.log(expected)
        self._solutions: dict[tuple[int, ...], tuple[Floats, Floats, Floats]] = {}

    def __len__(self) -> int:
        return len(self.log_prior)

    def columns(self, candidates: Ints, table: Table | None = None) -> NDArray[np.float32]:
        """The design of candidates, (n_cells, n_candidates); table: of its cells instead."""
        table = table or self.table
        kind, place = np.divmod(candidates, self.places)
        after = table.revision[:, None] >= self.cuts[1:][place][None, :]
        return np.asarray(self.design[table.configuration[:, None], kind] * after, dtype=np.float32)

    def levels(self) -> Floats:
        """Of all configurations, in units, (n_configurations,): what a share of everything moves."""
        return self._levels

    def candidate(self, kind: int, revision: int) -> int:
        """The candidate of a kind whose stretch holds a revision."""
        place = int(np.searchsorted(self.cuts[1:], revision))
        return kind * self.places + min(place, self.places - 1)

    def stretch(self, candidate: int) -> tuple[int, int]:
        """First and last revision at which a candidate's step may be."""
        place = candidate % self.places
        return int(self.cuts[place]) + 1, int(self.cuts[place + 1])

    def odds(self, others: Sequence[int]) -> Floats:
        """Log posterior odds of one more step, for each candidate, beside others, (n_candidates,)."""
        moment, information = self._beside(others)
        variance = self.scales.slab**2
        weight = 1.0 + variance * information
        found = 0.5 * variance * moment**2 / weight - 0.5 * np.log(weight) + self.log_prior
        found[list(others)] = -np.inf
        return np.asarray(found)

    def least(self, others: Sequence[int], odds: float) -> Floats:
        """The size from which on one more step would have such log odds, for each candidate, (n_candidates,).

        Infinite where nothing tells it from the others.
        """
        information = self.information(others)
        variance = self.scales.slab**2
        weight = 1.0 + variance * information
        needed = np.maximum(odds - self.log_prior + 0.5 * np.log(weight), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.sqrt(2.0 * needed * weight / variance) / information)

    def information(self, others: Sequence[int]) -> Floats:
        """What the trials tell of the size of one more step beside others, in precisions, (n_candidates,)."""
        return self._beside(others)[1]

    def apart(self, candidate: int, others: Sequence[int]) -> bool:
        """Whether the trials tell a candidate from other steps, beyond rounding."""
        return bool(self.information(others)[candidate] > ALIKE * self._information[candidate])

    def score(self, chosen: Sequence[int]) -> float:
        """Log posterior of an explanation, but for a constant."""
        if not chosen:
            return 0.0
        mean, _, gram = self._solved(chosen)
        log_det = np.linalg.slogdet(self.scales.slab**2 * gram)[1]
        picked = list(chosen)
        return float(0.5 * self._moment[picked] @ mean - 0.5 * log_det + self.log_prior[picked].sum())

    def sizes(self, chosen: Sequence[int]) -> tuple[Floats, Floats]:
        """Mean (k,) and covariance (k, k) of the sizes of an explanation's steps, in units."""
        mean, covariance, _ = self._solved(chosen)
        return mean, covariance

    def _solved(self, chosen: Sequence[int]) -> tuple[Floats, Floats, Floats]:
        known = tuple(chosen)
        if known not in self._solutions:  # draws go through the same explanations again and again
            self._solutions[known] = self._solve(chosen)
        return self._solutions[known]

    def _solve(self, chosen: Sequence[int]) -> tuple[Floats, Floats, Floats]:
        picked = list(chosen)
        x = self.columns(np.array(picked)).astype(np.float64)
        gram = x.T @ self._overlaps.precision @ x
        gram = (gram + gram.T) / 2.0 + np.eye(len(picked)) / self.scales.slab**2
        covariance = np.asarray(np.linalg.inv(gram), dtype=np.float64)
        return covariance @ self._moment[picked], covariance, gram

    def moved(self, chosen: Sequence[int], sizes: Floats) -> Floats:
        """How far steps of such sizes move each configuration: see `Moves.by_revision`."""
        squares = np.zeros((len(self.design), self.revisions))
        for candidate, size in zip(chosen, sizes.tolist(), strict=True):
            kind, place = divmod(candidate, self.places)
            squares[:, self.cuts[place + 1]] += (size * self.design[:, kind]) ** 2
        return np.sqrt(squares)

    def surprise(self, chosen: Sequence[int]) -> Floats:
        """How many standard deviations each cell is off what all the others let expect, (n_cells,)."""
        precision, y = self._overlaps.precision, self._y
        if len(chosen):
            x = self.columns(np.array(chosen)).astype(np.float64)
            half = precision @ x
            gram = x.T @ half + np.eye(len(chosen)) / self.scales.slab**2
            precision = precision - half @ np.linalg.solve(gram, half.T)
        diagonal = np.maximum(np.diag(precision), 1e-300)
        return np.asarray(precision @ y / np.sqrt(diagonal))
