"""Influences of options and their interactions from random forests, and the methods behind an influence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from bot.analysis.influences.costs import CostTable, Floats, noise_floor
from bot.analysis.influences.encoding import Encoding
from bot.model.space import Configuration, Level, Option

TREES = 20
"""Trees of a forest: the reference's (section VI-B names a number that our copy lost)."""
EXPLAINED = 0.9
"""Methods are looked at, largest first, until they sum to this share of the system's time; value ours."""

Options = tuple[str, ...]
"""Sorted option names: one is an option, two are an interaction."""


@dataclass(frozen=True)
class RootCause:
    """A method behind the influence of an option: seconds, and its share of those of all relevant methods."""

    method: str
    seconds: float
    share: float


class ForestInfluences:
    """A random forest for the system and one for each relevant method (section VI-B).

    After `fit`: `system_` and `methods_` (of each relevant method): option or interaction -> influence in
    seconds; `relevant_`: methods that together make `EXPLAINED` of the system's time; `mean_`: the system's
    mean seconds; `telling_`: of each option the level that differs most from the others in the system.

    The influence of an option is its share of a forest's reduction of variance times the standard deviation
    of the time: what varies because of it. A split below splits of other options counts to the option and to
    its interaction with the nearest of them (the paper says that interactions are extracted, not how).
    """

    def __init__(self, *, rng: np.random.Generator, trees: int = TREES) -> None:
        self.rng = rng
        self.trees = trees

    def fit(self, costs: CostTable) -> Self:
        """Learns from the seconds of a sample: each method where it is known, the system where all are.

        Raises:
            ValueError: there is no configuration in which all are.
        """
        encoding = Encoding(costs.space)
        every, seconds = encoding.matrix(costs.configurations), costs.means("seconds")
        known = np.isfinite(seconds)
        whole = known.all(axis=1)
        x, total = every[whole], seconds[whole].sum(axis=1)
        means = seconds[whole].mean(axis=0)
        order = np.argsort(-means, kind="stable")
        reached = np.cumsum(means[order]) / max(total.mean(), np.finfo(float).tiny)
        taken = order[: int(np.searchsorted(reached, EXPLAINED)) + 1]
        self.relevant_ = tuple(costs.methods[j] for j in taken)
        self.mean_ = float(total.mean())
        self.system_ = self._influences(encoding, x, total)
        self.telling_ = self._telling(encoding, costs.configurations, x, total)
        self.methods_ = {
            costs.methods[j]: self._influences(encoding, every[known[:, j]], seconds[known[:, j], j])
            for j in taken
        }
        floors = [noise_floor(costs.runs("seconds", int(j))) for j in taken]
        self.measurement_errors_ = {
            costs.methods[j]: float(np.nan_to_num(floor) * means[j])
            for j, floor in zip(taken, floors, strict=True)
        }
        return self

    def largest(self, count: int = 2) -> tuple[Options, ...]:
        """The options and interactions that influence the system most."""
        return tuple(sorted(self.system_, key=lambda o: (-self.system_[o], o))[:count])

    def root_causes(self, options: Options) -> tuple[RootCause, ...]:
        """Methods on which the options' influence exceeds the measurement error, largest first.

        share: of the influence summed over the relevant methods.
        """
        found = {m: influences.get(options, 0.0) for m, influences in self.methods_.items()}
        total = sum(found.values())
        causes = [
            RootCause(m, seconds, seconds / total)
            for m, seconds in found.items()
            if seconds > self.measurement_errors_[m]
        ]
        return tuple(sorted(causes, key=lambda c: (-c.seconds, c.method)))

    def _forest(self, x: Floats, y: Floats) -> RandomForestRegressor:
        seed = int(self.rng.integers(2**31))
        return RandomForestRegressor(n_estimators=self.trees, random_state=seed).fit(x, y)

    def _telling(
        self, encoding: Encoding, configurations: Sequence[Configuration], x: Floats, y: Floats
    ) -> dict[str, Level]:
        """By what a forest predicts when the option alone is set to each value in every configuration."""
        forest = self._forest(x, y)
        found = {}
        for place, option in enumerate(encoding.space.options):
            means = [
                float(
                    forest.predict(
                        encoding.matrix([(*c[:place], v, *c[place + 1 :]) for c in configurations])
                    ).mean()
                )
                for v in option.values
            ]
            found[option.name] = max(option.levels, key=lambda level: _contrast(level, option, means))
        return found

    def _influences(self, encoding: Encoding, x: Floats, y: Floats) -> Mapping[Options, float]:
        deviation = float(y.std())
        if deviation == 0:
            return {}
        forest = self._forest(x, y)
        names = encoding.space.names
        gains: dict[Options, float] = {}
        total = 0.0
        for tree in forest.estimators_:
            for option, above, gain in _splits(tree.tree_, encoding):
                total += gain
                terms: list[Options] = [(names[option],)]
                if above is not None:
                    terms.append(tuple(sorted((names[option], names[above]))))
                for term in terms:
                    gains[term] = gains.get(term, 0.0) + gain
        return {term: deviation * gain / total for term, gain in gains.items()} if total else {}


def _splits(tree: object, encoding: Encoding) -> list[tuple[int, int | None, float]]:
    """Of each split its option, the nearest other option above it, and how much variance it removes."""
    left, right = tree.children_left, tree.children_right  # type: ignore[attr-defined]
    weight, impurity = tree.weighted_n_node_samples, tree.impurity  # type: ignore[attr-defined]
    found: list[tuple[int, int | None, float]] = []
    todo: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while todo:
        node, path = todo.pop()
        if left[node] < 0:
            continue
        option = int(encoding.owner[tree.feature[node]])  # type: ignore[attr-defined]
        a, b = left[node], right[node]
        gain = weight[node] * impurity[node] - weight[a] * impurity[a] - weight[b] * impurity[b]
        above = next((o for o in reversed(path) if o != option), None)
        found.append((option, above, float(gain)))
        todo += [(int(a), (*path, option)), (int(b), (*path, option))]
    return found


def _contrast(level: Level, option: Option, means: Sequence[float]) -> float:
    """Spread that a level explains among the mean costs of an option; told as on, or from a value on."""
    held = np.array([level.holds(v) for v in option.values])
    if held.all() or not held.any() or level.operator in ("off", "<"):
        return -1.0
    costs = np.array(means)
    balance = float(np.sqrt(held.mean() * (1.0 - held.mean())))
    return abs(float(costs[held].mean() - costs[~held].mean())) * balance
