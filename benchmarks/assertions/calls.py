"""Methods of generated programs: paths through a random call graph, of which some edges make calls slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.model.assertions import CallEdge, CallObservation, NamedPath, PathGroup, PathModel, edges_of

TRIALS = 10
LAYERS = 6
APART, NEAR = (3.0, 20.0), (1.3, 2.2)
"""How many times as long as the faster ones the calls of a slower cluster take: far apart, or with shallow
valleys in between, where a border is easily found once and not again."""


@dataclass(frozen=True)
class Subject:
    """A method.

    group: of each path, by the edges that were planted. rates: calls of each path in a trial, on average.
    slow: share of each group's calls that fall into each slower cluster, (n_groups, n_clusters - 1). wander:
    spread of these from trial to trial, in log odds. levels: seconds of the clusters.
    """

    group: Mapping[NamedPath, int]
    rates: Mapping[NamedPath, float]
    slow: np.ndarray
    wander: float
    levels: np.ndarray
    planted: tuple[CallEdge, ...]

    def executed(
        self, rng: np.random.Generator, *, speed: float = 1.0, uneven: float = 0.0
    ) -> list[CallObservation]:
        """The trials of one execution: calls vary in number and kind.

        speed: of the machine. uneven: standard deviation of the log of its speed from trial to trial.
        """
        seen = []
        paces = speed * np.exp(uneven * rng.standard_normal(TRIALS)) if uneven else np.full(TRIALS, speed)
        for trial in range(TRIALS):
            shift = self.wander * rng.standard_normal(self.slow.shape)
            odds = np.log(self.slow / (1 - self.slow.sum(axis=1, keepdims=True))) + shift
            shares = np.exp(np.column_stack([np.zeros(len(odds)), odds]))
            shares /= shares.sum(axis=1, keepdims=True)
            durations = {}
            for path, rate in self.rates.items():
                calls = rng.poisson(rate * rng.lognormal(0, 0.3))
                if calls:
                    which = rng.choice(len(self.levels), size=calls, p=shares[self.group[path]])
                    durations[path] = self.levels[which] * rng.lognormal(0, 0.15, calls) / paces[trial]
            seen.append(CallObservation(10.0 * trial, 10.0 * trial + 9.0, durations))
        return seen

    @property
    def model(self) -> PathModel:
        """As it would be mined, were every call seen."""
        groups: dict[int, dict[NamedPath, int]] = {}
        for path, number in self.group.items():
            groups.setdefault(number, {})[path] = max(round(self.rates[path] * TRIALS), 1)
        made = (
            PathGroup(paths, (1 - float(self.slow[n].sum()), *self.slow[n].tolist()))
            for n, paths in sorted(groups.items())
        )
        return PathModel(
            "f", None, (0.5,) * (len(self.levels) - 1), (0.0,) * (len(self.levels) - 1), tuple(made)
        )


def subject(
    rng: np.random.Generator, *, paths: int, calls: float, groups: int, apart: tuple[float, float] = APART
) -> Subject:
    """A method with so many paths and calls in a trial; one edge less than groups tells these apart.

    apart: a cluster's median duration over that of the next faster one, from and to.
    """
    found = rest = _paths(rng, paths)
    planted: list[CallEdge] = []
    while len(planted) < groups - 1 and len(rest) > 1:
        over = Counter(edge for path in rest for edge in edges_of(path))
        some = sorted(edge for edge, count in over.items() if count < len(rest))
        planted.append(some[rng.integers(len(some))])
        rest = [path for path in rest if planted[-1] not in edges_of(path)]
    group = {path: _group(path, planted) for path in found}
    weights = rng.permutation(1 / np.arange(1, len(found) + 1) ** rng.uniform(0.3, 1.2))
    rates = dict(zip(found, (calls * weights / weights.sum()).tolist(), strict=True))
    slower = int(rng.integers(1, 3))
    return Subject(
        group, rates, _apart(rng, len(planted) + 1, slower), float(rng.choice([0.0, 0.05, 0.15])),
        10 ** rng.uniform(-6, -3) * np.cumprod(np.append(1.0, rng.uniform(*apart, slower))), tuple(planted),
    )  # fmt: skip


def _group(path: NamedPath, planted: Sequence[CallEdge]) -> int:
    """The first planted edge that it passes; the last group passes none."""
    passed = edges_of(path)
    return next((i for i, edge in enumerate(planted) if edge in passed), len(planted))


def _paths(rng: np.random.Generator, count: int) -> list[NamedPath]:
    """Distinct ones in a layered call graph, from `main` to `f`."""
    width = max(2, round(count ** (1 / 3)))
    calls = {
        (layer, i): rng.choice(width, size=min(3, width), replace=False)
        for layer in range(LAYERS)
        for i in range(width)
    }
    found: set[NamedPath] = set()
    for _ in range(20 * count):
        at, path = int(rng.integers(width)), ["main"]
        for layer in range(int(rng.integers(0, 3)), LAYERS):
            path.append(f"n{layer}_{at}")
            at = int(rng.choice(calls[layer, at]))
            if rng.random() < 0.15:
                break
        found.add((*path, "f"))
        if len(found) == count:
            break
    return sorted(found)


def _apart(rng: np.random.Generator, groups: int, slower: int) -> np.ndarray:
    """Shares of slow calls: any two groups differ by 20 points, or, of many groups, by what is possible."""
    least = 0.2
    while True:
        least *= 0.999
        shares = rng.dirichlet(np.ones(slower + 1), groups)
        far = np.abs(shares[:, None] - shares).sum(axis=2) / 2
        if groups == 1 or far[~np.eye(groups, dtype=bool)].min() >= least:
            return np.clip(shares, 0.005, 1)[:, 1:] / (1 + 0.005 * slower)
