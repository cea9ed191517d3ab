"""Which groups of an assertion moved between base and head, on the machine's clock and on another group's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bot.analysis.assertions.checking_shifts import SHARE_MARGIN, SURE, Shift, combined, shift
from bot.analysis.assertions.checking_trials import (
    TYPICAL,
    WITHIN,
    Features,
    LoggedCalls,
    calls_by_path,
    features,
)
from bot.analysis.distributions import student_quantile
from bot.model.assertions import Assertion, Floats, NamedPath, shares

MOST_PATHS = 30
"""Paths that are also tested each for itself: those with most calls."""
LEAST_PATH_CALLS = 10
"""In a trial, of a path that is tested for itself."""


@dataclass(frozen=True, eq=False)
class Stratum:
    """Calls that are compared: a group's over the paths that both sides have, one path's, or a new path's.

    base, head: paths and their weights. path: None for a group. new: the path is compared with its group's
    calls at base, and by shares only: nothing is asserted of how long a call takes within a cluster.
    """

    group: int
    base: Mapping[NamedPath, float]
    head: Mapping[NamedPath, float]
    path: NamedPath | None = None
    new: bool = False


@dataclass(frozen=True)
class Move:
    """A stratum's shift, on the clock on which it is clearest; feature: that moved furthest beyond."""

    stratum: Stratum
    shift: Shift
    feature: int


class Sides:
    """Trials of both sides, cut at the borders (logarithms of seconds)."""

    def __init__(
        self, assertion: Assertion, base: Sequence[LoggedCalls], head: Sequence[LoggedCalls], borders: Floats
    ) -> None:
        self.base, self.head, self.borders = base, head, borders
        self.calls = (calls_by_path(base), calls_by_path(head))
        self.group_of = {path: assertion.group_of(path) for path in {*self.calls[0], *self.calls[1]}}
        self._members: list[tuple[dict[NamedPath, int], dict[NamedPath, int]]]
        self._members = [({}, {}) for _ in assertion.groups]
        for side, counts in enumerate(self.calls):
            for path, n in counts.items():
                if (group := self.group_of[path]) is not None:
                    self._members[group][side][path] = n
        self._seen: dict[Stratum, list[Shift]] = {}

    def members(self, group: int, side: int) -> dict[NamedPath, int]:
        """Paths of a group at a side (0: base, 1: head) with their calls."""
        return self._members[group][side]

    @cached_property
    def groups(self) -> list[Stratum]:
        """Groups with calls over the same paths on both sides; each path counts as it does at base."""
        found = []
        for group in range(len(self._members)):
            base, head = self.members(group, 0), self.members(group, 1)
            if both := {p: float(n) for p, n in base.items() if p in head}:
                found.append(Stratum(group, both, both))
        return found

    @cached_property
    def paths(self) -> list[Stratum]:
        """The most frequent single paths: of groups with several, and new ones that fulfil one condition."""
        least = LEAST_PATH_CALLS * max(len(self.base), len(self.head))
        found = []
        for path in sorted(self.calls[1], key=lambda p: (-self.calls[1][p], p)):
            group = self.group_of[path]
            if group is None or self.calls[1][path] < least:
                continue
            base = self.members(group, 0)
            if path not in base and base:
                weights = {p: float(n) for p, n in base.items()}
                found.append(Stratum(group, weights, {path: 1.0}, path, new=True))
            elif len(base) > 1 and base.get(path, 0) >= least:
                found.append(Stratum(group, {path: 1.0}, {path: 1.0}, path))
        return found[:MOST_PATHS]

    def features(self, stratum: Stratum, clock: tuple[Floats, Floats]) -> tuple[Features, Features]:
        """Of both sides."""
        base = features(self.base, stratum.base, self.borders, clock=clock[0])
        return base, features(self.head, stratum.head, self.borders, clock=clock[1], like=base.levels)

    @cached_property
    def machine(self) -> tuple[Floats, Floats]:
        """The clock as it is."""
        return np.zeros(len(self.base)), np.zeros(len(self.head))

    def shift(self, stratum: Stratum) -> Shift:
        """On the machine's clock."""
        return shift(*self.features(stratum, self.machine))

    @cached_property
    def companion(self) -> Stratum | None:
        """The group that moved least: what it did in a trial, the machine did to all.

        Where there is one group only, the path of it that moved least; None: there is no other either.
        """
        for strata in (self.groups, [s for s in self.paths if not s.new]):
            known = [(s, moved) for s in strata for moved in [self.shift(s)] if moved.known]
            if len(known) > 1:
                return min(known, key=lambda k: k[1].size)[0]
        return None

    @cached_property
    def steady(self) -> tuple[Floats, Floats]:
        """The clock of the companion: on it calls within its clusters take as long in each trial."""
        assert self.companion is not None
        base, head = self.features(self.companion, self.machine)
        return base.values[:, WITHIN], head.values[:, WITHIN]

    def relative(self, stratum: Stratum) -> Shift | None:
        """Shift on the companion's clock; None: there is none, or it is of the stratum itself."""
        if self.companion is None or self.companion is stratum or (self.companion.path and not stratum.path):
            return None
        return shift(*self.features(stratum, self.steady))

    def moves(self, false_alarms: float) -> list[Move]:
        """What moved, and beyond the margin; with at most this chance of any where nothing is different.

        All features on both clocks are one piece of evidence for a stratum (`combined`). Half of the rate is
        for groups and half for paths, evenly (Bonferroni).
        """
        found = []
        for strata in (self.groups, self.paths):
            rate = false_alarms / (2.0 if self.paths else 1.0) / max(len(strata), 1)
            for stratum in strata:
                views = [view for view in self.views(stratum) if view.known]
                usable = slice(len(self.borders) if stratum.new else None)
                if not views or not len(views[0].estimate[usable]):
                    continue
                sure = combined(np.concatenate([view.chance[usable] for view in views])) <= rate
                view = max(views, key=lambda view: float(view.beyond[usable].max()))
                feature = int(np.argmax(view.beyond[usable]))
                if sure and view.beyond[feature] > 0.0:
                    found.append(Move(stratum, view, feature))
        return found

    def views(self, stratum: Stratum) -> list[Shift]:
        """Its shift on either clock, the more precise first."""
        if stratum not in self._seen:
            known = [s for s in (self.relative(stratum), self.shift(stratum)) if s is not None]
            self._seen[stratum] = sorted(known, key=lambda s: float(s.error[TYPICAL]))
        return self._seen[stratum]

    def levels(self, stratum: Stratum) -> Floats:
        """Features of a stratum at base, (n_features,)."""
        found: Floats = np.nanmean(self.features(stratum, self.machine)[0].values, axis=0)
        return found

    def vector(self, group: int, side: int) -> tuple[float, ...]:
        """Share of a group's calls by cluster; empty without calls."""
        trials, members = (self.base, self.head)[side], self.members(group, side)
        logs = [trial[p] for trial in trials for p in members if p in trial]
        return shares(np.concatenate(logs), self.borders.tolist()) if logs else ()

    def misfit(self, group: int, expected: Sequence[float]) -> bool:
        """Whether base's shares are surely not those expected."""
        weights = {p: float(n) for p, n in self.members(group, 0).items()}
        seen = features(self.base, weights, self.borders, clock=self.machine[0])
        values, noise = (
            v[~np.isnan(v).any(axis=1)][:, : len(self.borders)] for v in (seen.values, seen.noise)
        )
        if len(values) < 2 or not len(self.borders):
            return False
        asked = np.cumsum(expected)[:-1]
        error = np.sqrt((values.var(axis=0, ddof=1) + noise.mean(axis=0)) / len(values))
        away = np.abs(values.mean(axis=0) - asked) - student_quantile(SURE, len(values) - 1) * error
        return bool((away > SHARE_MARGIN).any())
