"""Which terms moved in which release, where every configuration was counted: the fewest that describe it.

python -m benchmarks.releases.fewest

What a release changed is described by steps of terms (everything, options on or off, pairs of these), each
the same instructions in all configurations that hold it or the same share of each one's, whichever fits. The
description with the fewest steps that leaves no change of 5 % in any configuration counts, so no step is a
consequence of others; of equally short ones the plainest. Its steps of 5 % or more (in the median
configuration that holds the term) are what a bisection has to find.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np
import numpy.typing as npt

from benchmarks.releases.judge import EXAMPLE, WHOLE, Counts, of_five, read_counts
from benchmarks.releases.steps import THRESHOLD, releases_of
from bot.adapters.documents.subject_file import load_subject
from bot.model.space import Space, Term

MOST = 6
"""Steps of a description at most."""
NEEDED = 2.0
"""A term that is told must explain so much that without it so many times as many squares are left."""
BEAM = 200
"""Descriptions of each length that are made longer."""
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Described:
    """One release: the terms of its description with their median ratios, and the largest share left.

    candidates, moved: what else could describe it, and by which share each configuration moved, (n,).
    """

    release: str
    ratios: dict[Term, float]
    left: float
    candidates: Candidates
    moved: Array

    @property
    def steps(self) -> dict[Term, float]:
        """Those that a bisection has to find."""
        return {t: r for t, r in self.ratios.items() if abs(math.log(r)) >= math.log1p(THRESHOLD)}

    def says(self, told: Mapping[Term, float]) -> bool:
        """Whether told ratios, in their directions, describe the release, and none of them can be left out.

        Left out, it at least doubles what is left (in squares); small steps may be missing. A term may move
        instructions and a share at once, as it may in the description itself.
        """
        small = [t for t in self.ratios if t not in self.steps and t not in told]
        for kinds in product(*(self.candidates.kinds(term) for term in (*told, *small))):
            chosen = [j for own in kinds for j in own]
            left = self.candidates.solve(chosen, self.moved)[1]
            ratios = self.candidates.ratios(chosen, self.moved)
            right = all((ratios[t] > 1) == (r > 1) for t, r in told.items())
            without = [[j for j in chosen if j not in own] for own in kinds[: len(told)]]
            needed = all(
                (self.candidates.solve(w, self.moved)[1] ** 2).sum() >= NEEDED * (left**2).sum()
                for w in without
            )
            if right and needed and np.abs(left).max() < THRESHOLD:
                return True
        return False

    def fitted(self, terms: Sequence[Term]) -> dict[Term, float]:
        """Median ratios of those of some terms that are candidates, fitted together."""
        numbers = [own for term in terms if (own := self.candidates.numbers(term))]
        chosen = min(
            product(*numbers),  # in instructions or as shares, whichever leaves less
            key=lambda c: float((self.candidates.solve(c, self.moved)[1] ** 2).sum()),
        )
        return self.candidates.ratios(chosen, self.moved)


class Candidates:
    """Steps that may describe a release: each term in instructions and as a share."""

    def __init__(self, space: Space, on: npt.NDArray[np.bool_], level: Array) -> None:
        """on: (n, n_options). level: instructions before, (n,)."""
        single = {name: on[:, i] for i, name in enumerate(space.names)}
        single |= {f"!{name}": ~held for name, held in single.items()}
        terms: dict[Term, npt.NDArray[np.bool_]] = {(): np.ones(len(on), dtype=bool)}
        terms |= {(name,): held for name, held in single.items()}
        terms |= {
            tuple(sorted((a, b))): single[a] & single[b]
            for a, b in combinations(single, 2)
            if a.lstrip("!") != b.lstrip("!")
        }
        held = np.array([h for h in terms.values() for _ in range(2)], dtype=np.float64).T
        self.terms = [term for term in terms for _ in range(2)]
        self.columns = held * np.where(np.arange(held.shape[1]) % 2, 1.0, level.min() / level[:, None])

    def solve(self, chosen: Sequence[int], moved: Array) -> tuple[Array, Array]:
        """Sizes of some steps, and what they leave of each configuration's move."""
        columns = self.columns[:, list(chosen)]
        sizes = np.asarray(np.linalg.lstsq(columns, moved, rcond=None)[0], dtype=np.float64)
        return sizes, moved - columns @ sizes

    def numbers(self, term: Term) -> list[int]:
        """The columns of a term: in instructions, as a share; none, if it is no candidate."""
        return [j for j, other in enumerate(self.terms) if other == term]

    def kinds(self, term: Term) -> list[tuple[int, ...]]:
        """How a term may move: in instructions, as a share, both at once; none, if it is no candidate."""
        own = self.numbers(term)
        return [*((j,) for j in own), tuple(own)] if own else []

    def words(self, chosen: Sequence[int]) -> tuple[int, int]:
        """How many options are named, and how many of them as absent."""
        named = [name for j in chosen for name in self.terms[j]]
        return len(named), sum(name.startswith("!") for name in named)

    def ratios(self, chosen: Sequence[int], moved: Array) -> dict[Term, float]:
        """Of each term in the median configuration that holds it."""
        found: dict[Term, float] = {}
        for j, size in zip(chosen, self.solve(chosen, moved)[0], strict=True):
            own = self.columns[:, j]
            found[self.terms[j]] = found.get(self.terms[j], 1.0) + float(size * np.median(own[own > 0]))
        return found

    def longer(self, chosen: Sequence[int], moved: Array) -> list[tuple[float, tuple[int, ...]]]:
        """With one more step: the squares that are left, for the best ones."""
        basis, _ = np.linalg.qr(self.columns[:, list(chosen)])
        rest = self.columns - basis @ (basis.T @ self.columns)
        norms = (rest**2).sum(axis=0)
        _, left = self.solve(chosen, moved)
        gains = np.where(norms > 1e-9, (rest.T @ left) ** 2 / np.maximum(norms, 1e-9), 0.0)
        best = np.argsort(-gains)[:BEAM]
        return [(float(left @ left - gains[j]), tuple(sorted((*chosen, int(j))))) for j in best]


def describe(candidates: Candidates, moved: Array) -> tuple[int, ...]:
    """The fewest steps that leave less than the threshold in every configuration (at most MOST)."""
    beam: list[tuple[int, ...]] = [()]
    for _ in range(MOST):
        fitting = [c for c in beam if np.abs(candidates.solve(c, moved)[1]).max() < THRESHOLD]
        if fitting:
            return min(fitting, key=candidates.words)
        found = {c: left for chosen in beam for left, c in candidates.longer(chosen, moved)}
        beam = sorted(found, key=lambda c: found[c])[:BEAM]
    return beam[0]


def described(space: Space, counts: Counts) -> list[Described]:
    """Every release but the first, against the one before it."""
    chosen = list(dict.fromkeys(c for _, c in counts))
    found = []
    for last, release in pairwise(releases_of(counts)):
        both = [c for c in chosen if counts.get((last, c)) and counts.get((release, c))]
        before, after = (np.array([counts[r, c] for c in both], dtype=np.float64) for r in (last, release))
        candidates, moved = Candidates(space, np.array(both, dtype=bool), before), after / before - 1.0
        steps = describe(candidates, moved)
        left = float(np.abs(candidates.solve(steps, moved)[1]).max(initial=0.0))
        found.append(Described(release, candidates.ratios(steps, moved), left, candidates, moved))
    return found


def main() -> None:
    space = of_five(load_subject(EXAMPLE / "suspects.yml")).space
    counts = read_counts(space, WHOLE)
    for d in described(space, counts):
        told = {" + ".join(t) or "everything": f"{r - 1:+.1%}" for t, r in d.ratios.items()}
        print(f"{d.release:8} {told} left {d.left:.1%}")


if __name__ == "__main__":
    main()
