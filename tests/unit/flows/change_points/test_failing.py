"""Options that old revisions do not know, or that fail together, cost a search of a long range few trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from bot.model.change_points import Observation, Probe
from bot.model.space import Term
from tests.unit.flows.change_points.test_search import Steps, System, flags, search, told

TRIALS = 400
SINCE = {3: 90, 4: 210, 6: 150}
"""Options that are known from a revision on."""
STEPS: Steps = {
    (60, ("o0",)): 0.4,
    (120, ("o1",)): 0.3,
    (180, ("o2", "o5")): 0.5,
    (240, ("o3",)): 0.4,
    (260, ("o6",)): 0.3,
}


def young(probe: Probe) -> bool:
    return any(probe.configuration[option] and probe.revision < since for option, since in SINCE.items())


def together(probe: Probe) -> bool:
    return bool(probe.configuration[1] and probe.configuration[7])


@pytest.mark.parametrize(("noise", "least"), [(0.01, 4), (0.0, 5)])
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("fails", [young, together, lambda probe: young(probe) or together(probe)])
def test_few_trials_fail_and_the_steps_are_found(
    fails: Callable[[Probe], bool], anchored: bool, noise: float, least: int
) -> None:
    system = System(flags(8), STEPS, noise=noise)
    lost: list[Probe] = []

    def answer(probe: Probe) -> Observation:
        if not fails(probe):
            return system.observe(probe)
        lost.append(probe)
        at_anchor = anchored and fails(Probe(probe.configuration, 299))
        return Observation(probe, math.nan, anchor=0.0 if at_anchor else 1.0)

    found = told(search(system, answer=answer, trials=TRIALS))
    assert len(lost) <= 0.12 * TRIALS
    assert len(found & STEPS.keys()) >= least and found <= STEPS.keys()


def but(fails: Callable[[Probe], bool], system: System) -> Callable[[Probe], Observation]:
    """What a system answers, where nothing fails."""
    return lambda probe: Observation(probe, math.nan) if fails(probe) else system.observe(probe)


def by_chance(share: float, seed: int) -> Callable[[Probe], bool]:
    """Whatever it is, a trial fails with this probability."""
    rng = np.random.default_rng(seed)
    return lambda _: bool(rng.random() < share)


@pytest.mark.parametrize(
    ("share", "noise", "seed", "least"),
    [(0.03, 0.01, 0, 4), (0.1, 0.01, 1, 4), (0.1, 0.0, 3, 5), (0.1, 0.0, 18, 5)],
)
def test_what_fails_by_chance_hides_no_steps(share: float, noise: float, seed: int, least: int) -> None:
    system = System(flags(8), STEPS, noise=noise)
    found = search(system, answer=but(by_chance(share, seed), system), trials=TRIALS)
    hits = {(at, t) for at, t in STEPS for p in found if p.term == t and p.interval[0] <= at <= p.interval[1]}
    assert len(hits) >= least and len(found) == len(hits)


@pytest.mark.parametrize("pairs", [[(0, 4)], [(1, 6), (3, 6)], [(2, 7), (4, 5)]], ids=str)
def test_without_noise_steps_of_options_that_fail_together_are_all_found(
    pairs: Sequence[tuple[int, int]],
) -> None:
    system = System(flags(8), STEPS)

    def fails(probe: Probe) -> bool:
        return any(probe.configuration[a] and probe.configuration[b] for a, b in pairs)

    assert told(search(system, answer=but(fails, system), trials=TRIALS)) == STEPS.keys()


NEEDED: Steps = {(60, ("o0",)): 0.4, (120, ("o1",)): 0.3, (180, ("o2", "o5")): 0.5, (240, ("o6",)): 0.4}


def lacking(probe: Probe) -> bool:
    """Nothing works without `o7`, `o6` not without `o4`, and `o5` not without `o3`."""
    on = probe.configuration
    return not on[7] or bool(on[6] and not on[4]) or bool(on[5] and not on[3])


def whole(term: Term) -> Term:
    """A term with all that it does not work without: one of several names of it."""
    needed = {"o6": "o4", "o5": "o3"}
    return tuple(sorted({"o7", *term, *(needed[option] for option in term if option in needed)}))


@pytest.mark.parametrize(("noise", "least"), [(0.01, 3), (0.0, 4)])
def test_where_nothing_works_without_one_option_and_others_need_others_steps_are_found(
    noise: float, least: int
) -> None:
    system = System(flags(8), NEEDED, noise=noise)
    found = {(at, whole(t)) for at, t in told(search(system, answer=but(lacking, system), trials=TRIALS))}
    true = {(at, whole(t)) for at, t in NEEDED}
    assert found <= true and len(found) >= least


def test_options_that_nothing_needs_are_left_out_of_the_emptiest_configuration() -> None:
    system = System(flags(8), NEEDED)
    search(system, answer=but(lacking, system), trials=TRIALS)
    emptiest = tuple(i == 7 for i in range(8))
    assert {probe.revision for probe in system.asked if probe.configuration == emptiest} >= {0, 299}


def test_where_hardly_any_configuration_works_one_that_does_is_looked_for() -> None:
    system, wanted = System(flags(8), {(120, ("o1",)): 0.3}), {0: True, 2: False, 3: True, 5: False, 7: True}

    def fails(probe: Probe) -> bool:
        return any(probe.configuration[i] is not value for i, value in wanted.items())

    (point,) = search(system, answer=but(fails, system), trials=TRIALS)
    assert point.revision == 120 and "o1" in point.term


@pytest.mark.parametrize("noise", [0.01, 0.0])
@pytest.mark.parametrize("exactly", [False, True])
def test_where_one_of_two_options_is_needed_what_either_of_them_changed_is_found(
    exactly: bool, noise: float
) -> None:
    """As an option for each format of its output: without any of them the program says so and ends."""
    system = System(flags(8), {(100, ("o0",)): 0.4, (180, ("o1",)): 0.3, (240, ("o2",)): 0.3}, noise=noise)

    found = told(search(system, answer=but(needs_one_of(2, exactly), system), trials=TRIALS))
    assert {(at, canonical(term)) for at, term in found} == {(100, "o0"), (180, "o1"), (240, "o2")}


def needs_one_of(count: int, exactly: bool) -> Callable[[Probe], bool]:
    """Which trials fail of a program that needs one of its first options, or exactly one of them."""

    def fails(probe: Probe) -> bool:
        given = probe.configuration[:count].count(True)
        return given != 1 if exactly else given == 0

    return fails


def canonical(term: Term) -> str:
    """With `!o0` for `o1`, which are the same where exactly one is given."""
    (level,) = term
    return {"!o0": "o1", "!o1": "o0"}.get(level, level)


@pytest.mark.parametrize("exactly", [False, True])
def test_where_one_of_three_options_is_needed_what_each_of_them_changed_is_found(exactly: bool) -> None:
    steps: Steps = {(100, ("o0",)): 0.5, (180, ("o1",)): 0.3, (240, ("o2",)): 0.2}
    system = System(flags(8), steps, noise=0.01)

    found = search(system, answer=but(needs_one_of(3, exactly), system), trials=TRIALS)
    assert told(found) == steps.keys()
