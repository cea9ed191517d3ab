"""Cost tables from history: profiles of several nights as one sample, as far as costs did not move since."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bot.analysis.hindsight import configurations
from bot.analysis.influences.costs import CostTable, Floats, Quantity
from bot.analysis.influences.levels import probe_rows
from bot.analysis.influences.tabulating import MOST_METHODS
from bot.model.history import OUTCOMES
from bot.model.profile_history import NO_COUNT, NO_METHOD, ProfileTable
from bot.model.space import Space

REST = ""
"""Stands for all methods that have no column of their own: the whole program keeps its cost."""
REVISIONS = 10
"""Newest profiled revisions that are looked at."""
REPETITIONS = 5
"""Profiles of a configuration that count at most, the newest ones."""
SAME_COUNT, SAME_SECONDS = 0.05, 0.3
"""Relative differences of counts, and of seconds, up to which a method's cost did not move; choices."""
TELLING = 2
"""Configurations in which a method is called that tell noise from a change of its seconds."""
NEGLIGIBLE = 1e-3
"""Share of the program's cost below which it does not matter whether a method moved."""
DEAR = 0.01
"""Share of the program's cost from which on a method tells how fast the machine is."""
CALIBRATED, SLOPES = 5, (0.3, 1.5)
"""Trials known with and without the profiler that tell how its cost grows, and what is believed of that."""
PROBE, OF_DRAWN = 0.3, 0.6
"""The probe: so many of all configurations, but of those drawn at random no larger share than this."""
LEAST_PROBE = 4


@dataclass(frozen=True)
class Past:
    """Costs from history; drawn: which configurations were drawn at random, shape (n_configurations,).

    revisions: ids of those that were used, the newest first.
    """

    costs: CostTable
    drawn: NDArray[np.bool_]
    revisions: tuple[str, ...]

    @property
    def shortened(self) -> bool:
        """Whether there are more methods than a table may have, so that those of the last column are many."""
        return len(self.costs.methods) > MOST_METHODS

    def split(self, rng: np.random.Generator) -> tuple[CostTable, CostTable | None]:
        """A sample to learn from and a random probe to judge by, drawn anew; None: too few were drawn."""
        drawn = np.flatnonzero(self.drawn)
        count = min(round(PROBE * len(self.drawn)), round(OF_DRAWN * len(drawn)))
        if count < LEAST_PROBE:
            return self.costs, None
        asked = [self.costs.configurations[i] for i in drawn]
        probe = drawn[probe_rows(self.costs.space, asked, count, rng=rng)]
        return self.costs.select(np.setdiff1d(np.arange(len(self.drawn)), probe)), self.costs.select(probe)

    def exact(self) -> Past:
        """Without seconds where every run has instructions: these show a percent, sampled seconds do not."""
        ran = self.costs.ran.get("instructions")
        if ran is None or not ran.any(axis=1).all():
            return self
        return self.of("calls", "instructions")

    def of(self, *names: Quantity) -> Past:
        """Only these quantities."""
        kept = {name: values for name, values in self.costs.quantities.items() if name in names}
        return replace(self, costs=replace(self.costs, quantities=kept))


def remembered(space: Space, table: ProfileTable, *, only: Collection[str] | None = None) -> Past | None:
    """What profiles of one program say of its methods now; None: nothing usable.

    Each configuration counts at the newest revision at which it was profiled. What older revisions say of a
    method counts as long as in configurations that were profiled at both the method costs what it does at
    the newest revision. `only`: names of the methods that get a column; all others are one (`REST`).
    """
    found, codes = configurations(table, space)
    usable = (table.outcome == OUTCOMES.index("ok")) & (table.method != NO_METHOD)
    rows = table.where(usable & (codes[table.configuration] >= 0))
    if not len(rows):
        return None
    profiles = _Profiles(rows, codes[rows.configuration], only=only)
    chosen = profiles.chosen()
    places = sorted(chosen, key=lambda code: found[code])
    stale = np.array([profiles.moved(profiles.rank[chosen[code][0]]) for code in places])
    kept = tuple(found[code] for code in places)
    costs = CostTable(space, kept, profiles.names, profiles.tables([chosen[code] for code in places]), stale)
    ranks = sorted({int(profiles.rank[chosen[code][0]]) for code in places})
    drawn = np.array([profiles.drawn[profiles.configuration == code].any() for code in places])
    return Past(costs, drawn, tuple(table.revisions[profiles.order[r]].revision for r in ranks))


class _Profiles:
    """Profiles as a matrix of costs: one row per profile, one column per method name."""

    def __init__(
        self, rows: ProfileTable, configuration: NDArray[np.int64], *, only: Collection[str] | None
    ) -> None:
        key = rows.run.astype(np.int64) << 32 | rows.profile
        _, first, self._index = np.unique(key, return_index=True, return_inverse=True)
        self._rows = rows
        self.configuration = configuration[first]
        self.drawn = rows.drawn[first]
        self.started = np.array([run.started.timestamp() for run in rows.runs])[rows.run[first]]
        revision = rows.revision[first]
        newest = {int(r): float(self.started[revision == r].max()) for r in np.unique(revision)}
        self.order = sorted(newest, key=lambda r: -newest[r])[:REVISIONS]
        """Codes of revisions, newest first."""
        place = {code: rank for rank, code in enumerate(self.order)}
        self.rank = np.array([place.get(int(code), REVISIONS) for code in revision])
        self.names, self._column = _columns(rows, only)
        self._unprofiled, self._profiled = rows.unprofiled[first], rows.seconds[first]
        self._moved: dict[int, NDArray[np.bool_] | None] = {0: np.zeros(len(self.names), bool)}
        self._factor: dict[int, float] = {0: 1.0}
        for rank in range(1, len(self.order)):
            self._compare(rank)

    @cached_property
    def costs(self) -> Mapping[Quantity, Floats]:
        """Quantity -> costs, shape (n_profiles, n_methods); NaN: not called, or not known."""
        rows = self._rows
        counts: dict[Quantity, Floats] = {
            name: self._dense(getattr(rows, name).astype(np.float64), getattr(rows, name) != NO_COUNT)
            for name in ("calls", "instructions")
        }
        found = {name: values for name, values in counts.items() if np.isfinite(values).any()}
        if "instructions" not in found or not np.isnan(rows.self_seconds).all():
            found["seconds"] = self._seconds()
        return found

    def _seconds(self) -> Floats:
        """CPU seconds without a profiler, shared out as its clock says (which runs on while others run)."""
        rows = self._rows
        timed = self._dense(rows.self_seconds, ~np.isnan(rows.self_seconds))
        shares = self._dense(rows.self_share, np.ones(len(rows), bool))
        total = np.nansum(timed, axis=1)
        whole = _without_tool(self._profiled, self._unprofiled)
        with np.errstate(invalid="ignore", divide="ignore"):
            own = np.where((total > 0)[:, None], timed / total[:, None], shares)
        return np.asarray(own * whole[:, None])

    def _dense(self, values: Floats, known: NDArray[np.bool_]) -> Floats:
        shape = (len(self.configuration), len(self.names))
        place = (self._index * shape[1] + self._column[self._rows.method])[known]
        sums = np.bincount(place, values[known], shape[0] * shape[1])
        seen = np.bincount(place, minlength=len(sums)) > 0
        return np.where(seen, sums, np.nan).reshape(shape)

    def chosen(self) -> dict[int, NDArray[np.intp]]:
        """Configuration -> its newest profiles at the newest revision that can be used."""
        usable = np.array([self._moved.get(int(rank)) is not None for rank in self.rank])
        found = {}
        for code in np.unique(self.configuration[usable]):
            own = np.flatnonzero(usable & (self.configuration == code))
            own = own[self.rank[own] == self.rank[own].min()]
            found[int(code)] = own[np.argsort(-self.started[own], kind="stable")][:REPETITIONS]
        return found

    def moved(self, rank: int) -> NDArray[np.bool_]:
        """Methods whose cost at a revision is not the one at the newest, shape (n_methods,)."""
        moved = self._moved[rank]
        assert moved is not None
        return moved

    def tables(self, profiles: list[NDArray[np.intp]]) -> dict[Quantity, NDArray[np.float32]]:
        """Quantity -> costs of these repetitions, shape (n_configurations, n_methods, n_repetitions)."""
        shape = (len(profiles), len(self.names), max(len(own) for own in profiles))
        tables: dict[Quantity, NDArray[np.float32]] = {}
        for name, costs in self.costs.items():
            tables[name] = np.full(shape, np.nan, dtype=np.float32)
            for i, own in enumerate(profiles):
                factor = self._factor[int(self.rank[own[0]])] if name == "seconds" else 1.0
                tables[name][i, :, : len(own)] = (costs[own] * factor).T
        return tables

    def _compare(self, rank: int) -> None:
        """Finds what moved between an older revision and the newest, in configurations of both."""
        shared = np.intersect1d(self.configuration[self.rank == 0], self.configuration[self.rank == rank])
        if not len(shared):
            self._moved[rank] = None
            return
        moved = np.zeros(len(self.names), bool)
        weights = np.zeros(len(self.names))
        for name in self.costs:
            now, then = (self._means(name, shared, r) for r in (0, rank))
            if name == "seconds":
                factor = self._factor[rank] = _machine(now.sum(axis=0), then.sum(axis=0))
                # Noise does not move a method the same way in every configuration.
                then = then * factor
                idle = (now == 0.0) & (then == 0.0)
                told = (~idle).sum(axis=0) >= TELLING
                moved |= (idle | (now > then * (1.0 + SAME_SECONDS))).all(axis=0) & told
                moved |= (idle | (then > now * (1.0 + SAME_SECONDS))).all(axis=0) & told
            else:
                larger, smaller = np.maximum(now, then).sum(axis=0), np.minimum(now, then).sum(axis=0)
                moved |= larger > smaller * (1.0 + SAME_COUNT)
            if name != "calls":
                weights = np.maximum(now, then).sum(axis=0)
                weights /= max(weights.sum(), np.finfo(float).tiny)
        self._moved[rank] = moved & (weights > NEGLIGIBLE)

    def _means(self, name: Quantity, shared: NDArray[np.int64], rank: int) -> Floats:
        """Mean over profiles, shape (n_shared, n_methods)."""
        costs = np.nan_to_num(self.costs[name])
        own = [(self.rank == rank) & (self.configuration == code) for code in shared]
        return np.array([costs[rows].mean(axis=0) for rows in own])


def _without_tool(profiled: Floats, unprofiled: Floats) -> Floats:
    """CPU seconds of the trials without the profiler, from those of a few where both are known; shape (n,).

    What makes many calls is slowed down most, so it is a line between the logarithms; with few known, one
    factor for all; with none, the profiled seconds.
    """
    known = np.isfinite(unprofiled) & (unprofiled > 0) & (profiled > 0)
    if not known.any():
        return profiled
    x, y = np.log(profiled[known]), np.log(unprofiled[known])
    spread = float(((x - x.mean()) ** 2).sum())
    slope = 1.0
    if len(np.unique(unprofiled[known])) >= CALIBRATED and spread > 0:
        slope = float(np.clip(((x - x.mean()) * y).sum() / spread, *SLOPES))
    return np.asarray(np.exp(np.median(y - slope * x)) * profiled**slope)


def _machine(now: Floats, then: Floats) -> float:
    """By which factor the machine is slower: half of the methods that matter became slower by more."""
    both = (now > 0) & (then > 0) & (then > DEAR * then.sum())
    return float(np.median(now[both] / then[both])) if both.any() else 1.0


def _columns(rows: ProfileTable, only: Collection[str] | None) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Names of the columns, the costliest first, and the column of each method's code."""
    weight: dict[str, float] = {}
    shares = np.bincount(rows.method, rows.self_share, len(rows.methods))
    shown = np.bincount(rows.method, minlength=len(rows.methods)) > 0
    for method, share, seen in zip(rows.methods, shares, shown, strict=True):
        if seen and (only is None or method.name in only):
            weight[method.name] = weight.get(method.name, 0.0) + float(share)
    names = sorted(weight, key=lambda n: (-weight[n], n))[:MOST_METHODS]
    others = {m.name for m, seen in zip(rows.methods, shown, strict=True) if seen} - set(names)
    names += [REST] if others else []
    place = {name: j for j, name in enumerate(names)}
    last = len(names) - 1
    return tuple(names), np.array([place.get(m.name, last) for m in rows.methods], dtype=np.intp)
