"""What a night asks for, without measuring much."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from bot.analysis.change_points.steps import Step
from bot.flows.nights.log import NightLog
from bot.flows.nights.search import NightSearch
from bot.flows.nights.telling import Telling
from bot.flows.nights.window import Window
from bot.model.change_points import Observation, Probe
from bot.model.revisions import Revision
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(n, "flag", (False, True), False) for n in "abcdef"))
SOLVER = ConstraintSolver(SPACE)
OFF, ON = (False,) * 6, (True,) * 6


def search(window: Window, **more: object) -> NightSearch:
    return NightSearch(SPACE, window, SOLVER, rng=np.random.default_rng(1), **more)  # type: ignore[arg-type]


def answered(night: NightSearch, rounds: int, seed: int = 2, noise: float = 0.01) -> list[list[Probe]]:
    """The next rounds of wishes, answered by a program that does not change."""
    rng = np.random.default_rng(seed)
    asked = []
    for _ in range(rounds):
        wishes = list(night.wishes())
        asked.append(wishes)
        night.partial_fit([Observation(p, float(rng.normal(1.0, noise))) for p in wishes])
    return asked


def test_a_night_begins_with_the_anchor_then_the_tip_then_the_reference() -> None:
    asked = answered(search(Window(30, reference=10, previous=20)), 4)
    assert [{p.revision for p in wishes} for wishes in asked] == [{0}, {29}, {10}, {10, 29}]
    assert {p.configuration for p in asked[0]} == {OFF, ON}


def slowed(night: NightSearch, level: str) -> None:
    """Trials at both ends of a night in which everything at a level became 20 % slower at revision 20."""
    rng, choose = np.random.default_rng(5), np.random.default_rng(6)
    held = SPACE.level_of[level]
    probes = [
        Probe(c, r)
        for _ in range(40)
        for c in [tuple(bool(x) for x in choose.random(6) < 0.5)]
        for r in (10, 29)
    ]
    night.log_.add(
        [
            Observation(
                p,
                float(rng.normal(1.0, 0.01))
                * (1.2 if p.revision >= 20 and SPACE.holds(held, p.configuration) else 1.0),
            )
            for p in probes
        ]
    )
    night.log_.scale = 0.01


def test_what_took_the_place_of_others_and_was_not_confirmed_is_unclear() -> None:
    night = search(Window(30, reference=10, previous=20))
    slowed(night, "a")
    term = (SPACE.level_of["a"],)
    night.model_.steps.append(Step(term, 20, 11, 29, settled=True))
    night.model_.fit()
    assert not night.change_points_ and [step.term for step in night.unclear_] == [term]


def test_a_small_open_step_does_not_hide_a_large_one_that_no_question_settled() -> None:
    night = search(Window(30, reference=10, previous=20), threshold=0.05)
    slowed(night, "a")
    small = Step((SPACE.level_of["b"],), 5, 1, 9)
    night.model_.steps.append(small)
    night.model_.fit()
    assert [step.term for step in night.unclear_] == [(SPACE.level_of["a"],)]


def test_asking_twice_gives_the_same_wishes() -> None:
    night = search(Window(30, reference=10, previous=20))
    assert night.wishes() == night.wishes()


def test_without_an_older_revision_only_the_anchor_is_measured() -> None:
    night = search(Window(1))
    asked = answered(night, 3)
    assert {p.revision for p in asked[0]} == {0} and asked[2] == []


def test_configurations_are_compared_at_both_ends_and_are_fresh() -> None:
    asked = answered(search(Window(30, reference=10, previous=20)), 5, noise=0.05)
    blocks = asked[3:]
    for block in blocks:
        tip = [p.configuration for p in block if p.revision == 29]
        assert tip == [p.configuration for p in block if p.revision == 10] and len(set(tip)) == 8
    first, second = ({p.configuration for p in block} for block in blocks)
    assert not first & second and not first & {OFF, ON}


def test_a_table_is_only_asked_for_what_it_has() -> None:
    known = [OFF, ON, (True, False) * 3, (False, True) * 3]
    asked = answered(search(Window(30, reference=10), candidates=known), 6)
    assert {p.configuration for wishes in asked for p in wishes} <= set(known)


def test_what_earlier_nights_measured_is_no_level_of_tonight() -> None:
    log = NightLog(SPACE, SPACE.levels)
    log.add_night([Observation(Probe(OFF, 0), 1.0), Observation(Probe(OFF, 9), 1.0)])
    log.add([Observation(Probe(OFF, 0), 1.5), Observation(Probe(OFF, 9), 1.5)])
    assert len(log.configurations) == 2 and list(log.means()) == [1.0, 1.5]


def test_repeated_trials_of_all_nights_say_how_noisy_an_option_makes_a_configuration() -> None:
    log, rng = NightLog(SPACE, SPACE.levels), np.random.default_rng(3)
    for _ in range(3):
        drawn = [tuple(bool(x) for x in row) for row in rng.integers(0, 2, (8, 6))]
        night = [Probe(c, r) for c in drawn for r in (10, 29) for _ in range(3)]
        log.add_night(
            [Observation(p, float(rng.normal(1.0, 0.05 if p.configuration[0] else 0.01))) for p in night]
        )
    log.learn_scale()
    fresh = [(on, False, True, True, False, True) for on in (False, True)]
    log.add([Observation(Probe(c, 10), 1.0) for c in fresh])
    c, _, _, sd = log.columns()
    quiet, noisy = (float(sd[c == log.row(configuration)][0]) for configuration in fresh)
    assert noisy > 2.0 * quiet
    log.learn_scale()  # they are known now, by no repetition
    c, _, _, sd = log.columns()
    assert float(sd[c == log.row(fresh[1])][0]) > 2.0 * float(sd[c == log.row(fresh[0])][0])


def test_earlier_nights_are_brought_to_tonights_seconds() -> None:
    night = search(Window(30, reference=10, previous=20))
    night.remember(
        [
            [Observation(Probe(OFF, 0), 1.0), Observation(Probe(ON, 9), 3.0)],
            [Observation(Probe(ON, 9), 3.0)],  # nothing at the anchor: left as it is
        ]
    )
    night.partial_fit([Observation(p, 1.5) for p in night.wishes()])
    levels = dict(zip(night.log_.configurations, night.log_.means(), strict=True))
    assert night.log_.configurations[2:] == [OFF, ON, ON] and levels[OFF] == pytest.approx(1.5)
    np.testing.assert_allclose(night.log_.means()[2:], [1.5, 4.5, 3.0])


def test_the_smallest_visible_change_shrinks_with_trials_and_is_infinite_before() -> None:
    night = search(Window(30, reference=10, previous=20))
    answered(night, 1)
    assert set(night.slow_downs().values()) == {float("inf")}
    answered(night, 2, seed=3)
    early = night.slow_downs()[("a",)]
    answered(night, 3, seed=4)
    assert 0.0 < night.slow_downs()[("a",)] < early < 1.0


def test_a_night_that_ends_before_it_looked_at_its_noise_claims_to_have_seen_no_small_change() -> None:
    night, rng = search(Window(30, reference=10, previous=20)), np.random.default_rng(7)
    while len(night.compared_) < 2:  # nothing works at the anchor, of which the noise is learned else
        wishes = night.wishes()
        values = [rng.normal(1.0, 0.02) if p.revision else float("nan") for p in wishes]
        night.partial_fit([Observation(p, float(v)) for p, v in zip(wishes, values, strict=True)])
    cut = list(night.wishes())[:-1]
    night.partial_fit([Observation(p, float(rng.normal(1.0, 0.02))) for p in cut])
    assert night.slow_downs()[()] > 0.01


def exactly(night: NightSearch, levels: dict[str, float], since: int = 6) -> list[Observation]:
    """All of a night's trials, answered without noise by a program of which a level costs more since then."""
    every: list[Observation] = []
    while wishes := night.wishes():
        chosen = [dict(zip("abcdef", p.configuration, strict=True)) | {"": True} for p in wishes]
        ratios = [
            np.prod([ratio for level, ratio in levels.items() if c[level]]) if p.revision >= since else 1.0
            for p, c in zip(wishes, chosen, strict=True)
        ]
        every += (new := [Observation(p, 0.3 * float(r)) for p, r in zip(wishes, ratios, strict=True)])
        night.partial_fit(new)
    return every


@pytest.mark.parametrize("levels", [{"": 1.1}, {"b": 2.0}, {"": 1.03, "c": 1.2}])
def test_without_noise_a_step_that_most_configurations_share_is_no_noise(levels: dict[str, float]) -> None:
    night = search(Window(11))
    exactly(night, levels)
    found = {"".join(point.term): point.ratio for point in night.change_points_ if point.revision == 6}
    assert found == pytest.approx(levels, rel=0.01)


def test_without_noise_a_night_without_a_step_ends_and_says_what_it_would_have_seen() -> None:
    night = search(Window(4))
    assert len(exactly(night, {})) < 50 and night.enough_
    assert max(night.slow_downs().values()) < 0.01


@pytest.mark.parametrize("seed", range(10))
def test_without_noise_an_amount_that_is_added_is_one_change_however_much_the_rest_costs(seed: int) -> None:
    space = Space(tuple(Option(n, "flag", (False, True), False) for n in "abcdefgh"))
    rng = np.random.default_rng(seed)
    costs, trials = rng.lognormal(-2.0, 1.0, 8), 0
    night = NightSearch(space, Window(11), ConstraintSolver(space), rng=rng)
    while wishes := night.wishes():
        trials += len(wishes)
        more = [0.3 * (p.revision >= 6 and bool(p.configuration[2])) for p in wishes]
        levels = [3.0 + float(costs @ np.array(p.configuration)) for p in wishes]
        night.partial_fit([Observation(p, a + b) for p, a, b in zip(wishes, levels, more, strict=True)])
    assert [(p.term, p.revision) for p in night.change_points_] == [(("c",), 6)] and trials < 100


def test_without_noise_steps_are_named_alike_whatever_earlier_nights_measured() -> None:
    earlier = exactly(search(Window(4)), {})
    night = search(Window(11, previous=3)).remember([earlier])
    exactly(night, {"b": 2.0})
    assert [(p.term, p.revision, round(p.ratio, 6)) for p in night.change_points_] == [(("b",), 6, 2.0)]


def told(night: NightSearch) -> set[tuple[int, tuple[str, ...]]]:
    return {(point.revision, point.term) for point in night.change_points_}


def played(night: NightSearch, seconds: Callable[[Probe], float], most: int = 800) -> int:
    """A whole night; how many trials it took."""
    trials = 0
    while trials < most and (wishes := night.wishes()):
        night.partial_fit([Observation(p, seconds(p)) for p in wishes])
        trials += len(wishes)
    return trials


CHANGES = {12: ("b", 0.15), 21: ("", -0.1), 25: ("e", 0.2)}


def level(probe: Probe) -> float:
    """Seconds of a program that changed three times."""
    on = dict(zip("abcdef", probe.configuration, strict=True)) | {"": True}
    moved = sum(more for at, (option, more) in CHANGES.items() if probe.revision >= at and on[option])
    return 1.0 + 0.1 * probe.configuration.count(True) + moved


@pytest.mark.parametrize(("noise", "most"), [(0.0, 150), (0.01, 500)])
@pytest.mark.parametrize("seed", range(3))
def test_changes_of_one_night_are_told_apart_where_each_trial_repeats_its_value(
    noise: float, most: int, seed: int
) -> None:
    rng, record = np.random.default_rng(seed), dict[Probe, float]()
    night = search(Window(31))
    trials = played(night, lambda p: record.setdefault(p, level(p) * float(rng.lognormal(0.0, noise))))
    expected = {(at, (option,) if option else ()) for at, (option, _) in CHANGES.items()}
    assert told(night) == expected and not night.unclear_ and trials < most


def test_a_record_in_which_nothing_changes_tells_nothing() -> None:
    rng, record = np.random.default_rng(5), dict[Probe, float]()
    night = search(Window(31))
    played(night, lambda p: record.setdefault(p, float(rng.lognormal(0.0, 0.02))))
    assert not night.change_points_ and not night.unclear_ and night.enough_


class Restless:
    """Counts of the same program, of which each commit moves everything and each option by .1 %."""

    def __init__(self, seed: int) -> None:
        self.own = np.random.default_rng(seed).normal(0.0, 0.001, (41, 7)).cumsum(axis=0)

    def __call__(self, probe: Probe) -> float:
        own = self.own[probe.revision]
        return level(probe) + float(own[0] + own[1:] @ np.array(probe.configuration))


@pytest.mark.parametrize("seed", range(4))
def test_counts_that_move_with_every_commit_hide_no_change_and_look_like_none(seed: int) -> None:
    night = search(Window(31))
    trials = played(night, Restless(seed))
    assert told(night) == {(12, ("b",)), (21, ()), (25, ("e",))} and trials < 400


def test_a_night_does_not_ask_again_about_what_is_smaller_than_its_threshold() -> None:
    def seconds(probe: Probe) -> float:
        return 1.0 + 0.004 * (probe.revision >= 6)

    earlier = [Observation(Probe(c, r), seconds(Probe(c, r))) for c in (OFF, ON) for r in (0, 0, 9)]
    night = search(Window(31, reference=9, previous=20)).remember([earlier])
    asked = set()
    while wishes := night.wishes():
        asked |= {p.revision for p in wishes}
        night.partial_fit([Observation(p, seconds(p)) for p in wishes])
    assert asked == {0, 9, 30} and not night.unclear_


@pytest.mark.parametrize("seed", range(4))
def test_what_stands_out_and_no_question_settles_is_never_nothing_however_much_was_seen(seed: int) -> None:
    rng, shifts = np.random.default_rng(seed), dict[Configuration, float]()

    def seconds(probe: Probe) -> float:
        own = shifts.setdefault(probe.configuration, float(rng.normal(0.0, 0.05)))
        return float(rng.lognormal(0.0, 0.005)) * (1.0 + own * (probe.revision >= 15))

    night = search(Window(31))
    played(night, seconds)
    assert night.enough_ and (night.unclear_ or night.change_points_)


class Disturbed:
    """The same program; of its trials two in a hundred take 60 % too long."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, probe: Probe) -> float:
        late = 0.6 if self.rng.random() < 0.02 else 0.0
        return level(probe) * float(self.rng.lognormal(0.0, 0.01)) * (1.0 + late)


def test_disturbed_trials_are_no_changes_and_hide_few() -> None:
    expected = {(at, (option,) if option else ()) for at, (option, _) in CHANGES.items()}
    found = 0
    for seed in range(6):
        night = search(Window(31))
        played(night, Disturbed(seed))
        assert told(night) <= expected and (told(night) == expected or night.unclear_)
        found += len(told(night))
    assert found >= 14


def test_a_night_that_was_disturbed_once_tells_nothing_for_ever_after() -> None:
    rng = np.random.default_rng(1)
    earlier = [
        Observation(Probe(c, r), float(rng.lognormal(0.0, 0.005))) for c in (OFF, ON) for r in (0, 9, 20)
    ]
    others = [(False, True, False, False, True, False), (True, False, True, True, False, False)]
    earlier += [
        Observation(Probe(c, r), 1.0 + 0.5 * (c is others[0] and r == 20)) for c in others for r in (9, 20)
    ]
    night = search(Window(31, reference=9, previous=20)).remember([earlier])
    played(night, lambda _: float(rng.lognormal(0.0, 0.005)))
    assert not night.change_points_ and not night.unclear_ and night.enough_


def test_a_contrast_that_nothing_lets_expect_is_made_again_at_once() -> None:
    rng, night = np.random.default_rng(3), search(Window(31))
    for _ in range(20):
        wishes = night.wishes()
        contrast = len({p.configuration for p in wishes}) == 1 and len({p.revision for p in wishes}) == 2
        late = 1.7 if contrast else 1.0
        seconds = [level(p) * float(rng.lognormal(0.0, 0.01)) for p in wishes]
        night.partial_fit(
            [Observation(p, s) for p, s in zip(wishes, [*seconds[:-1], late * seconds[-1]], strict=True)]
        )
        if contrast:
            break
    assert contrast and night.wishes() == wishes


@pytest.mark.parametrize("seed", [4, 5])
def test_what_two_nights_of_counts_did_not_settle_is_told_and_takes_no_later_night_its_budget(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    configurations = [OFF, ON, *(tuple(c) for c in (rng.random((12, 6)) < 0.5).tolist())]
    moved: dict[Configuration, float] = {}

    def counted(c: Configuration, r: int) -> Observation:
        own = moved.setdefault(c, float(rng.normal(0.0, 0.08)))
        return Observation(Probe(c, r), 1.0 + own * (r >= 8))

    earlier = [counted(c, r) for c in configurations for r in (0, 4, 12, 20)]
    night = search(Window(31, reference=20, previous=25)).remember([earlier])
    asked = set()
    while wishes := night.wishes():
        asked |= {p.revision for p in wishes}
        night.partial_fit([counted(p.configuration, p.revision) for p in wishes])
    assert asked == {0, 20, 30} and night.enough_ and not night.unclear_ and not night.change_points_
    assert night.rested_ and all(0 < step.low <= step.high <= 20 for step in night.rested_)
    line = [Revision(f"{i:040x}", f"v{i}") for i in range(31)]
    lists = {one.kind: one.items for one in Telling(night, line, "cpu").lists({})}
    assert len(lists["unclear"]) == len(night.rested_)
    assert all(
        item.endswith(": two nights did not settle it, and no later one asks.") for item in lists["unclear"]
    )
    assert "Nothing new moved" in lists["learnt"][0] and not any("Ask again" in i for i in lists["tomorrow"])


def test_pairs_of_levels_that_the_constraints_forbid_are_not_told_as_never_tried() -> None:
    space = Space(SPACE.options, constraints=("a implies b",))
    window = Window(30, reference=10, previous=20)
    night = NightSearch(space, window, ConstraintSolver(space), rng=np.random.default_rng(1))
    unseen = {term for term, least in night.slow_downs().items() if least == float("inf")}
    assert ("!b", "a") not in unseen and ("a", "b") in unseen


MANY = Space(tuple(Option(n, "flag", (False, True), False) for n in "abcdefghijklm"))
Cost = Callable[[set[str], int], float]


def of_many(seed: int) -> NightSearch:
    window, solver = Window(8, reference=0), ConstraintSolver(MANY)
    return NightSearch(MANY, window, solver, rng=np.random.default_rng(seed), threshold=0.02)


def noisy_night(
    cost: Cost, seed: int, before: Sequence[Observation] = (), trials: int = 220, noise: float = 0.02
) -> tuple[NightSearch, list[Observation]]:
    """A night of eight revisions and 13 options; a cost of NaN fails; before: the night before."""
    chance = np.random.default_rng(100 + seed)
    night = of_many(seed).remember([before] if before else [])
    answers: list[Observation] = []
    while len(answers) < trials and (wishes := night.wishes()):
        fresh = []
        for p in wishes:
            on = {o.name for o, v in zip(MANY.options, p.configuration, strict=True) if v}
            value = cost(on, p.revision) * float(chance.normal(1.0, noise))
            fresh.append(Observation(p, value, built=True, anchor=1.3))
        answers += fresh
        night.partial_fit(fresh)
    return night, answers


@pytest.mark.parametrize("seed", range(3))
def test_options_that_old_revisions_do_not_know_do_not_take_a_nights_trials(seed: int) -> None:
    def cost(on: set[str], revision: int) -> float:
        unknown = revision < 5 and on & set("ijklm")
        return float("nan") if unknown else 1.15 if revision >= 2 else 1.0

    night, answers = noisy_night(cost, seed)
    failed = [o for o in answers if np.isnan(o.value)]
    assert len(failed) < len(answers) / 6
    (found,) = night.change_points_
    assert (found.revision, found.term) == (2, ()) and found.ratio == pytest.approx(1.15, abs=0.03)
    # Nobody can tell everything from all but who has what was not there yet, and the next nights ask no more.
    (known,) = of_many(seed).remember([answers]).recalled()
    assert (known.revision, known.term) == (2, ()) and known.probability > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_a_program_that_became_ten_times_as_slow_is_one_change_whatever_its_options_cost(seed: int) -> None:
    night, _ = noisy_night(lambda on, r: (1.1 if "a" in on else 1.0) * (10.0 if r >= 2 else 1.0), seed)
    (found,) = night.change_points_
    assert (found.revision, found.term) == (2, ()) and found.ratio == pytest.approx(10.0, rel=0.06)


@pytest.mark.parametrize("broken", ["abc", "abcdef"])
@pytest.mark.parametrize("seed", range(3))
def test_options_with_which_nothing_works_hide_no_change_of_others(seed: int, broken: str) -> None:
    def cost(on: set[str], revision: int) -> float:
        return float("nan") if on & set(broken) else 1.2 if revision >= 6 and "m" in on else 1.0

    night, answers = noisy_night(cost, seed)
    (found,) = night.change_points_
    assert (found.revision, found.term) == (6, ("m",)) and found.ratio == pytest.approx(1.2, abs=0.04)
    assert [str(level) for level in night.log_.broken_levels()] == list(broken)
    assert len(answers) < 220  # it ends when it has seen enough of what works


@pytest.mark.parametrize("seed", range(3))
def test_what_was_broken_last_night_is_tried_by_itself_before_anything_else_that_holds_it(seed: int) -> None:
    def cost(on: set[str], revision: int) -> float:
        return float("nan") if on & set("abcdef") else 1.0

    _, first = noisy_night(cost, seed)
    night, second = noisy_night(cost, seed + 10, first)
    failed = [sum(np.isnan(o.value) for o in answers) for answers in (first, second)]
    assert failed[1] <= 12 < 18 < failed[0]
    assert [str(level) for level in night.log_.broken_levels()] == list("abcdef")


def test_what_was_broken_last_night_and_works_again_is_measured_as_ever() -> None:
    _, first = noisy_night(lambda on, _: float("nan") if on & set("abc") else 1.0, 1)
    night, second = noisy_night(lambda on, r: 1.2 if r >= 6 and "a" in on else 1.0, 2, first)
    (found,) = night.change_points_
    assert (found.revision, found.term) == (6, ("a",))
    assert not any(np.isnan(o.value) for o in second) and not night.log_.broken_levels()


@pytest.mark.parametrize("exclusive", [{"a", "b"}, {"a", "!b"}])
@pytest.mark.parametrize("seed", range(3))
def test_two_options_that_fail_together_do_not_take_a_nights_trials(seed: int, exclusive: set[str]) -> None:
    def cost(on: set[str], revision: int) -> float:
        levels = on | {f"!{name}" for name in "ab" if name not in on}
        return float("nan") if exclusive <= levels else 1.2 if revision >= 6 and "m" in on else 1.0

    night, answers = noisy_night(cost, seed)
    assert sum(np.isnan(o.value) for o in answers) < len(answers) / 5
    (found,) = night.change_points_
    assert (found.revision, found.term) == (6, ("m",)) and found.ratio == pytest.approx(1.2, abs=0.04)


@pytest.mark.parametrize("changed", ["m", "b", ""])
@pytest.mark.parametrize("seed", range(3))
def test_only_what_nothing_works_without_is_told_to_be_broken_where_options_need_others(
    seed: int, changed: str
) -> None:
    def cost(on: set[str], revision: int) -> float:
        return float("nan") if lacking(on) else 1.2 if revision >= 6 and set(changed) <= on else 1.0

    night, answers = noisy_night(cost, seed)
    (found,) = night.change_points_
    assert (found.revision, found.term) == (6, tuple(changed))
    assert [str(level) for level in night.log_.broken_levels()] == ["!k"]
    assert sum(np.isnan(o.value) for o in answers) < 22


def lacking(on: set[str]) -> bool:
    """Nothing works without `k`, `b` not without `c`, and `g` not without `h`."""
    return "k" not in on or ("b" in on and "c" not in on) or ("g" in on and "h" not in on)


@pytest.mark.parametrize("seed", range(3))
def test_a_night_begins_with_what_worked_in_the_last_one_where_the_emptiest_configuration_did_not(
    seed: int,
) -> None:
    def cost(on: set[str], revision: int) -> float:
        return float("nan") if lacking(on) else 1.2 if revision >= 6 and "m" in on else 1.0

    _, first = noisy_night(lambda on, _: float("nan") if lacking(on) else 1.0, seed)
    night, second = noisy_night(cost, seed + 10, first)
    failed = [sum(np.isnan(o.value) for o in answers) for answers in (first, second)]
    assert failed[1] < 12 < 14 < failed[0]
    assert [(p.revision, p.term) for p in night.change_points_] == [(6, ("m",))]
    assert [str(level) for level in night.log_.broken_levels()] == ["!k"]


def test_what_nothing_worked_without_last_night_is_measured_without_it_as_soon_as_that_works() -> None:
    _, first = noisy_night(lambda on, _: float("nan") if lacking(on) else 1.0, 1)
    night, second = noisy_night(lambda on, r: 1.2 if r >= 6 and "k" not in on else 1.0, 2, first)
    assert [(p.revision, p.term) for p in night.change_points_] == [(6, ("!k",))]
    assert not any(np.isnan(o.value) for o in second) and not night.log_.broken_levels()


@pytest.mark.parametrize("seed", range(3))
def test_a_night_without_noise_goes_on_beside_what_is_left_out_because_it_would_fail(seed: int) -> None:
    def cost(on: set[str], revision: int) -> float:
        return float("nan") if lacking(on) else 1.2 if revision >= 6 and "m" in on else 1.0

    night, _ = noisy_night(cost, seed, noise=0.0)
    assert [(p.revision, p.term) for p in night.change_points_] == [(6, ("m",))]


@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_where_one_of_two_options_is_needed_a_night_sees_what_either_of_them_changed(
    seed: int, exactly: bool
) -> None:
    def cost(on: set[str], revision: int) -> float:
        given = len(on & {"a", "b"})
        fails = given != 1 if exactly else given == 0
        return float("nan") if fails else 1.2 if revision >= 6 and "b" in on else 1.0

    night, _ = noisy_night(cost, seed)
    assert [(p.revision, p.term) for p in night.change_points_] == [(6, ("b",))]
    assert not night.log_.broken_levels()
