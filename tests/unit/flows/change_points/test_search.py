"""Our search for change points, on small systems with a known truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from bot.flows.change_points.search import ChangePointFinder
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Configuration, Option, Space, Term
from bot.sampling.constraints import ConstraintSolver
from tests.seeds import one_of

REVISIONS = 300
Steps = dict[tuple[int, Term], float]
"""(revision, term) -> seconds that are added from there on."""


def flags(count: int, *constraints: str) -> Space:
    options = tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(count))
    return Space(options, constraints)


class System:
    """Half a second for each option, one for the program, and steps; noise is relative to the whole.

    shares: steps are a share of what a configuration took before. uneven: so far is each configuration's own
    step off that of the others, as a share.
    """

    def __init__(
        self,
        space: Space,
        steps: Steps,
        *,
        noise: float = 0.0,
        seed: int = 0,
        shares: bool = False,
        uneven: float = 0.0,
    ) -> None:
        self.space, self.steps, self.noise = space, steps, noise
        self.shares, self.uneven = shares, uneven
        self.rng = np.random.default_rng(seed)
        self.asked: list[Probe] = []

    def seconds(self, probe: Probe) -> float:
        on = sum(value is True for value in probe.configuration)
        taken = 1.0 + 0.5 * on
        for (at, term), size in self.steps.items():
            if probe.revision >= at and all(self.holds(t, probe.configuration) for t in term):
                own = np.random.default_rng([at, *map(bool, probe.configuration)]).standard_normal()
                taken += size * (1.0 + self.uneven * float(own)) * (taken if self.shares else 1.0)
        return taken * (1.0 + self.noise * float(self.rng.standard_normal()))

    def holds(self, level: str, configuration: Configuration) -> bool:
        return self.space.holds(self.space.level_of[level], configuration)

    def observe(self, probe: Probe) -> Observation:
        self.asked.append(probe)
        return Observation(probe, self.seconds(probe))


def search(
    system: System,
    *,
    answer: Callable[[Probe], Observation] | None = None,
    revisions: int = REVISIONS,
    candidates: Sequence[Configuration] | None = None,
    most: int = 20_000,
    trials: int | None = None,
) -> Sequence[ChangePoint]:
    solver = ConstraintSolver(system.space)
    finder = ChangePointFinder(
        system.space, revisions, solver, rng=np.random.default_rng(7), candidates=candidates, trials=trials
    )
    asked = 0
    while (wishes := finder.wishes()) and asked < (trials or most):
        assert all(solver.valid(p.configuration) and 0 <= p.revision < revisions for p in wishes)
        asked += len(wishes)
        finder.partial_fit([(answer or system.observe)(p) for p in wishes])
    assert asked < most, "the search does not end"
    return finder.change_points_


def told(found: Sequence[ChangePoint]) -> set[tuple[int, Term]]:
    return {(point.revision, point.term) for point in found}


@pytest.mark.parametrize(
    "steps",
    [
        {(120, ("o3",)): 0.4},
        {(1, ()): 0.3},
        {(299, ("o0", "o5")): -0.2},
        {(50, ("o1",)): 0.2, (51, ("o2",)): 0.3, (200, ("o1", "o2", "o4")): 0.5},
        {(80, ("!o2",)): 0.4},
    ],
    ids=str,
)
def test_without_noise_every_step_is_found_at_its_revision_with_its_term(steps: Steps) -> None:
    system = System(flags(8), steps)
    assert told(search(system)) == set(steps)
    assert len(system.asked) < 400


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-4])
def test_with_next_to_no_noise_nothing_but_the_steps_is_told_in_seconds_or_shares(
    noise: float, shares: bool
) -> None:
    steps: Steps = {(60, ("o1",)): 0.2, (140, ()): -0.1, (240, ("o1", "o4")): 0.3}
    system = System(flags(8), steps, noise=noise, shares=shares)
    assert told(search(system)) == set(steps)
    assert len(system.asked) < (1500 if noise else 400)


@pytest.mark.parametrize("seed", one_of(3, 4, 5))
def test_without_noise_uneven_steps_are_told_and_not_how_uneven_they_are(seed: int) -> None:
    at = seed * 10  # what a configuration's own move is depends on the revision
    steps: Steps = {(at, ("o1",)): 0.5, (140, ()): -0.4, (200 + at, ("o1", "o4")): 0.7}
    system = System(flags(8), steps, uneven=0.2)
    assert told(search(system, most=10_000)) == set(steps)


@pytest.mark.parametrize("seed", range(3))
def test_with_noise_the_steps_are_found_and_no_other(seed: int) -> None:
    steps = {(90, ("o2",)): 0.4, (210, ("o1", "o5")): 0.8}
    assert told(search(System(flags(8), steps, noise=0.01, seed=seed))) == set(steps)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_changes_nothing_is_found(noise: float, seed: int) -> None:
    assert not search(System(flags(6), {}, noise=noise, seed=seed))


def test_steps_that_cancel_where_everything_is_on_are_both_found() -> None:
    steps: Steps = {(100, ("o1",)): 0.4, (100, ("o2",)): -0.4}
    assert told(search(System(flags(6), steps))) == set(steps)


def test_a_space_without_room_for_all_on_or_one_alone_is_searched_as_well() -> None:
    space = flags(6, "not (o0 and o1)", "o2 or o3", "o4 implies o5")
    steps = {(100, ("o4",)): 0.4, (200, ("o1", "o3")): 0.3}
    assert told(search(System(space, steps))) == set(steps)


def test_of_terms_equal_under_the_constraints_the_shortest_is_told_and_the_others_are_aliases() -> None:
    space = flags(4, "o0 implies o1")
    (found,) = search(System(space, {(100, ("o0", "o1")): 0.4}))
    assert found.term == ("o0",)
    assert ("o0", "o1") in found.aliases or found.aliases == ()


def test_a_value_of_a_choice_and_a_threshold_of_a_number_are_terms() -> None:
    options = (
        Option("mode", "choice", ("x", "y", "z"), "x"),
        Option("level", "number", (1, 3, 6, 9), 1),
        Option("fast", "flag", (False, True), False),
    )
    steps: Steps = {(100, ("mode=y",)): 0.4, (200, ("level>=6",)): 0.3}
    assert told(search(System(Space(options), steps))) == set(steps)


def test_a_revision_that_does_not_build_widens_the_interval() -> None:
    system = System(flags(5), {(120, ("o1",)): 0.4})

    def answer(probe: Probe) -> Observation:
        if 117 <= probe.revision <= 122:
            return Observation(probe, math.nan, built=False)
        return system.observe(probe)

    (found,) = search(system, answer=answer)
    assert found.term == ("o1",)
    assert found.interval[0] <= 120 <= found.interval[1]
    assert found.interval == (117, 123)


def test_a_configuration_that_always_fails_is_worked_around() -> None:
    system = System(flags(5), {(120, ("o1",)): 0.4})

    def answer(probe: Probe) -> Observation:
        fails = all(probe.configuration) or not any(probe.configuration)
        return Observation(probe, math.nan) if fails else system.observe(probe)

    assert told(search(system, answer=answer)) == {(120, ("o1",))}


def test_an_episode_that_passed_is_told_as_one() -> None:
    found = search(System(flags(5), {(150, ("o1",)): 0.4, (165, ("o1",)): -0.4}))
    assert told(found) <= {(150, ("o1",)), (165, ("o1",))}
    assert {point.shape for point in found} <= {"transient"}


def test_only_the_configurations_of_a_table_are_asked_for() -> None:
    rng = np.random.default_rng(0)
    table = list(dict.fromkeys(tuple(bool(v) for v in row) for row in rng.random((30, 6)) < 0.5))
    system = System(flags(6), {(100, ("o2",)): 0.4})
    assert told(search(system, candidates=table)) == {(100, ("o2",))}
    assert {probe.configuration for probe in system.asked} <= set(table)


def test_values_that_a_table_repeats_are_noise_all_the_same() -> None:
    system = System(flags(5), {(100, ("o2",)): 0.5}, noise=0.01)
    cells: dict[Probe, Observation] = {}
    found = search(system, answer=lambda p: cells.setdefault(p, system.observe(p)))
    assert [(point.term, abs(point.revision - 100) <= 2) for point in found] == [(("o2",), True)]


@pytest.mark.parametrize("seed", range(2))
def test_a_machine_that_slowly_changes_its_speed_is_no_step(seed: int) -> None:
    system = System(flags(8), {(120, ("o3",)): 0.3}, noise=0.01, seed=seed)

    def answer(probe: Probe) -> Observation:
        drift = 1.0 + 0.03 * math.sin(2.0 * math.pi * probe.revision / REVISIONS)
        return Observation(probe, system.observe(probe).value * drift)

    assert told(search(system, answer=answer)) == {(120, ("o3",))}
    assert len(system.asked) < 3_000


@pytest.mark.parametrize("seed", range(2))
def test_a_step_behind_values_that_were_carried_on_is_confirmed_further_away(seed: int) -> None:
    system = System(flags(6), {(120, ("o1",)): 0.4}, noise=0.01, seed=seed)
    carried: dict[Configuration, Observation] = {}

    def answer(probe: Probe) -> Observation:
        if not 100 <= probe.revision < 130:
            return system.observe(probe)
        first = carried.setdefault(probe.configuration, system.observe(Probe(probe.configuration, 100)))
        return Observation(probe, first.value)

    (found,) = search(system, answer=answer)
    assert found.term == ("o1",)
    assert found.interval[0] <= 120 <= found.interval[1] <= 130


def test_a_short_episode_under_noise_is_told_with_both_ends() -> None:
    system = System(flags(6), {(150, ("o1",)): 0.4, (162, ("o1",)): -0.4}, noise=0.01)
    found = search(system)
    assert told(found) == {(150, ("o1",)), (162, ("o1",))}
    assert {point.shape for point in found} == {"transient"}


@pytest.mark.parametrize("revisions", [1, 2, 3])
def test_the_shortest_ranges_end_quietly(revisions: int) -> None:
    system = System(flags(3), {(1, ("o1",)): 0.4})
    expected = {(1, ("o1",))} if revisions > 1 else set()
    assert told(search(system, revisions=revisions)) == expected


def test_asking_twice_gives_the_same_wishes_and_history_is_welcome() -> None:
    system = System(flags(4), {(100, ("o1",)): 0.4})
    finder = ChangePointFinder(
        system.space, REVISIONS, ConstraintSolver(system.space), rng=np.random.default_rng(1)
    )
    finder.partial_fit([system.observe(Probe((False, True, False, False), r)) for r in (0, 150, 299)])
    assert finder.wishes() == finder.wishes()
    while wishes := finder.wishes():
        finder.partial_fit([system.observe(p) for p in wishes])
    assert told(finder.change_points_) == {(100, ("o1",))}
    (found,) = finder.change_points_
    assert found.ratio == pytest.approx(1 + 0.4 / 2.0, rel=0.2)
    assert found.interval == (100, 100)


class Multiplied(System):
    """Each option multiplies the time, by up to `spread`, and so do steps (their sizes are shares)."""

    def __init__(self, space: Space, steps: Steps, *, spread: float, seed: int, first: int = 0) -> None:
        super().__init__(space, steps, noise=0.02, seed=seed)
        self.factors, self.first = np.geomspace(1.1, spread, len(space.options)), first

    def seconds(self, probe: Probe) -> float:
        time = float(np.prod(self.factors[[value is True for value in probe.configuration]]))
        for (at, term), share in self.steps.items():
            if probe.revision >= at and all(self.holds(t, probe.configuration) for t in term):
                time *= 1.0 + share
        return time * math.exp(self.noise * float(self.rng.standard_normal()))

    def observe(self, probe: Probe) -> Observation:
        built = probe.revision >= self.first
        return super().observe(probe) if built else Observation(probe, math.nan, built=False)


@pytest.mark.parametrize("seed", range(3))
def test_changes_are_found_where_options_make_a_program_take_a_million_times_as_long(seed: int) -> None:
    steps: Steps = {(40, ()): 0.25, (110, ("o6",)): 0.35, (160, ()): -0.2, (230, ("o1",)): 0.3}
    system = Multiplied(flags(8), steps, spread=20.0, seed=seed)
    assert told(search(system)) == set(steps)
    assert len(system.asked) < 1500


@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_asked_about_where_no_trial_near_it_tells_its_size(seed: int) -> None:
    steps: Steps = {(9, ()): -0.25, (126, ()): 0.2}
    found = search(Multiplied(flags(8), steps, spread=1.5, seed=seed, first=4))
    assert told(found) == set(steps)


class Uneven(Multiplied):
    """Of its configurations some are ten times as noisy as others, and all now and then far off."""

    def seconds(self, probe: Probe) -> float:
        noisy = sum(7919 * (i + 1) for i, value in enumerate(probe.configuration) if value is True) % 17 / 17
        self.noise = 0.0
        return super().seconds(probe) * math.exp((0.005 + 0.06 * noisy) * float(self.rng.standard_t(4)))


@pytest.mark.parametrize("seed", range(8))
def test_where_some_configurations_are_far_noisier_than_others_nothing_is_found(seed: int) -> None:
    assert not search(Uneven(flags(10), {}, spread=1.6, seed=seed), trials=1500)
