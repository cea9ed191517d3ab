"""Systems as the published experiment makes them: additive influences, some of which shift at a commit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.model.change_points import Probe
from bot.model.space import Configuration, Option, Space, Term

INTERACTIONS = 0.25  # interactions for each option
SAMPLED = 200  # configurations that tell how large a step is
SHIFTS = (0.5, 0.9, 0.99, 1.01, 1.1, 2.0)  # of an influence, with either sign


@dataclass(frozen=True)
class Cell:
    """A kind of system, and how it is searched; degree: parameter of the geometric interaction degrees."""

    commits: int
    options: int
    steps: int
    cov: float
    degree: float = 0.9
    measurements: int = 5000
    table: int = 0

    @property
    def size(self) -> str:
        """Size and number of change points."""
        return f"{self.commits}x{self.options}, {self.steps}"

    @property
    def name(self) -> str:
        """All that differs from the usual."""
        parts = [self.size, f"cov {self.cov}" if self.cov else "no noise"]
        parts += [f"degree p {self.degree}"] if self.degree != 0.9 else []
        parts += [f"table of {self.table}"] if self.table else []
        parts += [f"{self.measurements} an iteration"] if self.measurements != 5000 else []
        return ", ".join(parts)


class PublishedSystem:
    """Seconds = sum of the influences of all terms that hold, times normal noise.

    Source: section 4.1 and the authors' generator, but every shift happens where it is recorded: commits are
    distinct, never the first one, and shifts are applied in their order.
    """

    def __init__(self, cell: Cell, rng: np.random.Generator) -> None:
        n = cell.options
        self.space = Space(tuple(Option(f"o{i:02d}", "flag", (False, True), False) for i in range(n)))
        terms: dict[tuple[int, ...], None] = {(i,): None for i in range(n)}
        for degree in rng.geometric(cell.degree, size=int(INTERACTIONS * n)):
            members = rng.choice(n, size=min(int(degree) + 1, n), replace=False)
            terms[tuple(sorted(int(i) for i in members))] = None
        terms[()] = None
        self._terms = list(terms)
        self._influences = np.tile(rng.random(len(terms)), (cell.commits, 1))
        self.truth: list[tuple[int, Term]] = []
        for commit in sorted(rng.choice(np.arange(1, cell.commits), size=cell.steps, replace=False)):
            which = int(rng.integers(len(terms)))
            shift = rng.choice((-1, 1)) * rng.choice(SHIFTS)
            self._influences[commit:, which] *= 1 + shift
            self.truth.append((int(commit), tuple(self.space.names[i] for i in self._terms[which])))
        self.sizes = [self._size(commit, term, rng) for commit, term in self.truth]
        self._cov = cell.cov
        self._noise = np.random.default_rng(rng.integers(2**32))
        self._holding: dict[Configuration, NDArray[np.int64]] = {}

    def _size(self, commit: int, term: Term, rng: np.random.Generator) -> float:
        """Median relative step over random configurations that hold the term."""
        on = rng.random((SAMPLED, len(self.space.options))) < 0.5
        on[:, [self.space.index[name] for name in term]] = True
        holds = np.array([on[:, list(members)].all(axis=1) for members in self._terms], dtype=float)
        before, after = self._influences[[commit - 1, commit]] @ holds
        return float(np.median(np.abs(after - before) / np.minimum(np.abs(before), np.abs(after))))

    def seconds(self, probe: Probe) -> float:
        """One trial."""
        holding = self._holding.get(probe.configuration)
        if holding is None:
            on = {i for i, value in enumerate(probe.configuration) if value}
            holding = np.array([k for k, term in enumerate(self._terms) if on.issuperset(term)])
            self._holding[probe.configuration] = holding
        clean = float(self._influences[probe.revision, holding].sum())
        return clean + abs(clean) * self._cov * self._noise.standard_normal() if self._cov else clean
