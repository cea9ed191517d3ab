"""Closer looks: what no sum of steps explains in a long range is searched as a short one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Self

import numpy as np

from bot.flows.change_points.closer_looks import MOST_PLACES, CloserLooks
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePoint, ChangePointSearch, Doubt, Observation, Probe
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver

OPTIONS = ("a", "b", "c", "d")
SPACE = Space(tuple(Option(name, "flag", (False, True), False) for name in OPTIONS), ())
EVERY: list[Configuration] = list(product((False, True), repeat=len(OPTIONS)))
REVISIONS, PLACE = 400, 150


@dataclass
class Uneven:
    """From PLACE on, whatever lacks `a` is faster, each configuration by a share of its own; 1 % noise."""

    broken: frozenset[int] = frozenset()
    still: bool = False
    noise: float = 0.01
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def observe(self, probe: Probe) -> Observation:
        """One trial."""
        if probe.revision in self.broken:
            return Observation(probe, np.nan, built=False)
        number = EVERY.index(probe.configuration)
        seconds = (5.0 + number) * np.exp(self.noise * self.rng.standard_normal())
        moves = probe.revision >= PLACE and not probe.configuration[0] and not self.still
        return Observation(probe, float(seconds * (0.55 + 0.04 * number if moves else 1.0)))


@dataclass
class Spread:
    """A long search that looks all over the range once, and tells what it is given."""

    points: tuple[ChangePoint, ...] = ()
    asked: bool = False

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        return self.points

    def wishes(self) -> Sequence[Probe]:
        places = range(0, REVISIONS, 20)
        return () if self.asked else [Probe(c, r) for c in EVERY for r in (*places, REVISIONS - 1)]

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        self.asked = True
        return self


@dataclass
class Staggered(Spread):
    """The same, each configuration at revisions of its own."""

    def wishes(self) -> Sequence[Probe]:
        if self.asked:
            return ()
        return [
            Probe(c, min(r + i, REVISIONS - 1)) for i, c in enumerate(EVERY) for r in range(0, REVISIONS, 20)
        ]


@dataclass
class Scripted:
    """A short search that knows everything; of so many revisions it asks for all configurations once."""

    points: tuple[ChangePoint, ...] = ()
    doubts_: tuple[Doubt, ...] = ()
    asks: int = 0

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        return self.points

    def wishes(self) -> Sequence[Probe]:
        asked, self.asks = self.asks, 0
        return [Probe(c, r) for c in EVERY for r in range(asked)]

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        return self


def point(revision: int, *term: str, ratio: float = 0.5) -> ChangePoint:
    """A change point without an interval."""
    return ChangePoint(revision, (revision, revision), term, (), ratio, (ratio, ratio), 0.9)


def finder(revisions: int, threshold: float) -> ShortRangeFinder:
    """The search of short ranges."""
    rng = np.random.default_rng(1)
    return ShortRangeFinder(SPACE, revisions, ConstraintSolver(SPACE), rng=rng, threshold=threshold)


def looks(
    short: Callable[[int, float], ChangePointSearch] = finder, *, points: Sequence[ChangePoint] = ()
) -> CloserLooks:
    """A long search that explains nothing but some points, followed by closer looks."""
    return CloserLooks(SPACE, Spread(tuple(points)), short, REVISIONS, 0.05)


def played(search: CloserLooks, program: Uneven) -> list[Probe]:
    """What was asked until nothing is left to learn."""
    asked: list[Probe] = []
    while wished := search.wishes():
        asked += wished
        search.partial_fit([program.observe(probe) for probe in wished])
    return asked


def test_what_each_configuration_moves_by_in_its_own_share_is_named_at_its_revision() -> None:
    search = looks()
    played(search, Uneven())
    assert [(p.revision, p.interval, p.term) for p in search.change_points_] == [
        (PLACE, (PLACE, PLACE), ("!a",))
    ]
    assert 0.5 < search.change_points_[0].ratio < 0.9


def test_a_step_behind_revisions_that_do_not_build_is_told_with_their_interval() -> None:
    search = looks()
    played(search, Uneven(broken=frozenset(range(PLACE - 4, PLACE))))
    assert [(p.revision, p.interval, p.term) for p in search.change_points_] == [
        (PLACE, (PLACE - 4, PLACE), ("!a",))
    ]


def test_where_all_is_explained_nothing_more_is_asked() -> None:
    search = looks()
    assert len(played(search, Uneven(still=True))) == len(Spread().wishes())
    assert search.change_points_ == []
    told = looks(points=[point(PLACE, "!a")])
    assert len(played(told, Uneven())) == len(Spread().wishes())


def test_what_the_long_search_is_not_sure_of_is_looked_at() -> None:
    unsure = replace(point(PLACE, ratio=0.7), interval=(PLACE - 30, PLACE), probability=0.6)
    search = looks(lambda _count, _threshold: Scripted(points=(point(4, "!a"),)), points=[unsure])
    played(search, Uneven())
    assert [(p.revision, p.term) for p in search.change_points_] == [(PLACE, ("!a",))]


def test_what_a_look_says_of_its_revisions_replaces_what_was_told_of_them() -> None:
    sizes: list[int] = []

    def short(revisions: int, threshold: float) -> Scripted:
        sizes.append(revisions)
        assert 0.005 <= threshold <= 0.05
        return Scripted(points=(point(4, "!a"),), doubts_=(Doubt(4, (4, 4), (("b",),), 2.0, beside=True),))

    search = looks(short, points=[point(PLACE, "b"), point(300, "c", ratio=2.0)])
    played(search, Uneven())
    assert [(p.revision, p.term) for p in search.change_points_] == [(PLACE, ("!a",)), (300, ("c",))]
    assert [d.revision for d in search.doubts_] == [PLACE]
    assert set(sizes) == {8} and max(sizes) <= MOST_PLACES


def test_changes_of_less_than_the_threshold_are_not_told_of_a_look() -> None:
    small = point(4, "!a", ratio=0.98)
    search = looks(lambda _count, _threshold: Scripted(points=(small,)))
    played(search, Uneven())
    assert search.change_points_ == []


def test_what_only_takes_back_a_part_of_a_wider_change_is_not_told() -> None:
    points = (point(4, "!a", ratio=0.5), point(4, "!a", "b", ratio=2.3))
    search = looks(lambda count, _threshold: Scripted(points=points, asks=count))
    played(search, Uneven())
    assert [p.term for p in search.change_points_] == [("!a",)]


def test_what_is_told_beside_a_wider_change_as_more_than_anything_moved_is_not_told() -> None:
    points = (point(4, "!a", ratio=0.7), point(4, "!a", "b", ratio=0.3))
    search = looks(lambda count, _threshold: Scripted(points=points, asks=count))
    played(search, Uneven())
    assert [p.term for p in search.change_points_] == [("!a",)]


def test_what_is_right_only_with_others_that_are_not_told_is_not_told_either() -> None:
    others = (point(4, "b", "c", ratio=2.2), point(4, "b", "!c", ratio=2.2))
    points = (point(4, "!a", "b", ratio=0.3), point(4, "!a", ratio=0.7), *others)
    search = looks(lambda count, _threshold: Scripted(points=points, asks=count))
    played(search, Uneven())
    assert [p.term for p in search.change_points_] == [("!a",)]


def test_a_step_of_some_beside_a_wider_one_is_told_where_they_did_both() -> None:
    points = (point(4, "!a", ratio=0.8), point(4, "!a", "!b", ratio=0.8))
    search = looks(lambda count, _threshold: Scripted(points=points, asks=count))
    played(search, Uneven())
    assert [p.term for p in search.change_points_] == [("!a",), ("!a", "!b")]


def test_a_stretch_is_halved_by_values_at_its_ends_which_are_asked_for_where_they_are_missing() -> None:
    looked: list[int] = []

    def short(revisions: int, _threshold: float) -> Scripted:
        looked.append(revisions)
        return Scripted(points=(point(4, "!a"),))

    search = CloserLooks(SPACE, Staggered(), short, REVISIONS, 0.05)
    played(search, Uneven())
    assert [p.revision for p in search.change_points_] == [PLACE]
    assert len(looked) == 1  # at once at the right place


def test_before_the_end_the_least_measured_configurations_are_tried_all_over_the_range() -> None:
    search = looks(lambda _count, _threshold: Scripted(points=(point(4, "!a"),)))
    last: Sequence[Probe] = ()
    while wished := search.wishes():
        last = wished
        search.partial_fit([Uneven().observe(probe) for probe in wished])
    assert len({probe.configuration for probe in last}) > 4
    assert len({probe.revision for probe in last}) > 8


def test_before_the_end_nothing_is_tried_at_revisions_that_do_not_know_an_option() -> None:
    search = looks(lambda _count, _threshold: Scripted(points=(point(4, "!a"),)))
    last: Sequence[Probe] = ()

    def observe(probe: Probe) -> Observation:
        unknown = probe.configuration[1] and probe.revision < 250
        return Observation(probe, np.nan) if unknown else Uneven().observe(probe)

    while wished := search.wishes():
        last = wished
        search.partial_fit([observe(probe) for probe in wished])
    assert len({probe.revision for probe in last if probe.configuration[1]}) >= 3
    assert all(probe.revision > 200 for probe in last if probe.configuration[1])
