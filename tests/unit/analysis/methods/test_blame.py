"""Methods are named for a change when their own cost moved, and only then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.methods.blame import Compared, blame
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile
from tests.unit.analysis.methods.profiled import KINDS, TOOL, Kind, Program, compared, program

SIMPLE = Program(
    {"main": 0.1, "hot": 0.5, "warm": 0.3, "leaf": 0.1},
    {"main": 1, "hot": 1000, "warm": 500, "leaf": 2000},
    {("main", "hot"): 1000, ("main", "warm"): 500, ("hot", "leaf"): 2000},
)


def f(name: str) -> Method:
    return Method(name, "a.c")


@pytest.mark.parametrize("kind", KINDS)
def test_the_method_that_got_dearer_is_first_and_explains_the_change(kind: Kind) -> None:
    rng = np.random.default_rng(1)
    found = blame(compared(SIMPLE, SIMPLE.changed("warm", seconds=0.2), kind, rng))
    first = found.changes[0]
    assert (first.method, first.change, first.was) == (f("warm"), "slower", None)
    assert first.share == pytest.approx(1.0, abs=0.2)
    assert first.interval[0] < first.share < first.interval[1]
    assert first.callers == (f("main"),)
    assert first.self_seconds == pytest.approx((0.3, 0.5), abs=0.08)


def test_the_path_to_a_method_is_over_who_calls_it_more_than_before() -> None:
    head = replace(
        SIMPLE.changed("leaf", seconds=0.2, calls=500), edges={**SIMPLE.edges, ("warm", "leaf"): 500}
    )
    ways: list[tuple[Kind, str]] = [("python", "warm"), ("sampled", "hot")]
    for kind, last in ways:  # samples know no calls: the hottest
        found = blame(compared(SIMPLE, head, kind, np.random.default_rng(1)))
        assert found.changes[0].callers == (f("main"), f(last))


def test_a_method_outside_of_the_repository_has_the_nearest_caller_in_it_as_owner() -> None:
    found = blame(compared(SIMPLE, SIMPLE.changed("leaf", seconds=0.2), "python", np.random.default_rng(1)))
    ours = found.changes[0]
    outside = replace(ours, method=Method("memcpy", None), callers=(*ours.callers, Method("strdup", None)))
    assert ours.owner is None and outside.owner == f("hot")
    assert replace(outside, callers=(Method("start", None),)).owner is None


@pytest.mark.parametrize("kind", KINDS)
def test_planted_methods_are_first_in_most_programs(kind: Kind) -> None:
    right, near = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        base = program(rng)
        guilty = rng.choice([name for name, s in base.seconds.items() if s > 0.003])
        found = blame(compared(base, base.changed(guilty, seconds=rng.uniform(0.05, 0.3)), kind, rng))
        right += bool(found.changes) and found.changes[0].method == f(guilty)
        near += bool(found.changes) and abs(found.changes[0].share - 1.0) <= 0.15
    assert right >= (54 if kind == "sampled" else 58)
    assert near >= (42 if kind == "sampled" else 54)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_named_when_nothing_changed_though_a_change_was_measured(kind: Kind) -> None:
    silent = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        base = program(rng)
        same = compared(base, base, kind, rng)
        ratio = 1.0 + float(rng.choice([-1.0, 1.0])) * 0.02
        found = blame(replace(same, seconds=(1.0, ratio), interval=(ratio - 0.01, ratio + 0.01)))
        assert found.unexplained is not None
        silent += not found.changes
    assert silent >= 95


def test_a_change_that_may_be_none_is_blamed_on_nobody_but_counts_are_noted() -> None:
    rng = np.random.default_rng(2)
    head = SIMPLE.changed("leaf", seconds=0.0, calls=500)
    found = blame(replace(compared(SIMPLE, head, "sampled", rng), interval=(0.99, 1.02)))
    assert (found.changes, found.unexplained) == ((), None)
    assert "`leaf` is called 2,500 instead of 2,000 times." in found.notes


def test_everything_slower_alike_is_nobody_in_particular() -> None:
    rng = np.random.default_rng(3)
    base = program(rng)
    slower = replace(base, seconds={name: 1.1 * s for name, s in base.seconds.items()})
    found = blame(compared(base, slower, "sampled", rng))
    assert (found.changes, found.unexplained) == ((), 1.0)


def test_equal_instructions_that_take_longer_are_seen_by_time() -> None:
    rng = np.random.default_rng(4)
    counts = {name: round(3e9 * s) for name, s in SIMPLE.seconds.items()}
    base = replace(SIMPLE, instructions=counts)
    found = blame(compared(base, base.changed("warm", seconds=0.25), "native", rng))
    assert found.changes[0].method == f("warm")
    assert found.changes[0].instructions == (counts["warm"], counts["warm"])


def test_a_renamed_method_is_told_with_its_old_name() -> None:
    rng = np.random.default_rng(5)
    head = replace(SIMPLE, seconds={("tepid" if n == "warm" else n): s for n, s in SIMPLE.seconds.items()})
    body = "int {}(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += i; return s; }}"
    bodies = ({f("warm"): body.format("warm")}, {f("tepid"): body.format("tepid")})
    change = compared(SIMPLE, head.changed("tepid", seconds=0.2), "native", rng)
    first = blame(replace(change, bodies=bodies)).changes[0]
    assert (first.method, first.was, first.change) == (f("tepid"), f("warm"), "slower")


@pytest.mark.parametrize("kind", ["native", "instructions"])
def test_a_method_that_became_inlined_is_not_blamed(kind: Kind) -> None:
    rng = np.random.default_rng(6)
    head = Program({"main": 0.1, "hot": 0.6, "warm": 0.5}, SIMPLE.calls, {("main", "hot"): 1000})
    found = blame(compared(SIMPLE, head, kind, rng))
    assert [change.method for change in found.changes] == [f("warm")]
    assert any("`hot` and `leaf`" in note for note in found.notes)


def test_a_method_that_is_new_is_named_as_new() -> None:
    rng = np.random.default_rng(7)
    found = blame(compared(SIMPLE, SIMPLE.changed("extra", seconds=0.2, calls=9), "native", rng))
    assert (found.changes[0].method, found.changes[0].change) == (f("extra"), "new")
    assert found.changes[0].calls == (0, 9)


def test_a_method_that_is_gone_is_named_as_vanished() -> None:
    rng = np.random.default_rng(8)
    head = replace(SIMPLE, seconds={n: s for n, s in SIMPLE.seconds.items() if n != "warm"})
    found = blame(compared(SIMPLE, head, "python", rng))
    assert (found.changes[0].method, found.changes[0].change) == (f("warm"), "vanished")
    assert found.changes[0].share == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("rewritten", [True, False])
def test_who_calls_more_is_named_and_is_first_when_its_text_changed(rewritten: bool) -> None:
    rng = np.random.default_rng(9)
    head = replace(
        SIMPLE.changed("leaf", seconds=0.2, calls=4000),
        edges={("main", "hot"): 1000, ("main", "warm"): 500, ("hot", "leaf"): 6000},
    )
    texts = {f(name): f"{name} body" for name in SIMPLE.seconds}
    after = {**texts, f("hot"): "hot body, three times"} if rewritten else texts
    found = blame(replace(compared(SIMPLE, head, "python", rng), bodies=(texts, after)))
    names = [change.method.name for change in found.changes[:2]]
    assert names == (["hot"] if rewritten else ["leaf", "hot"])  # the rewritten one stands for what it calls
    assert any("`hot` makes the additional calls" in note for note in found.notes)


def test_who_calls_more_and_costs_no_more_by_itself_is_not_called_slower() -> None:
    head = replace(
        SIMPLE.changed("leaf", seconds=0.2, calls=4000),
        edges={("main", "hot"): 1000, ("main", "warm"): 500, ("hot", "leaf"): 6000},
    )
    found = blame(compared(SIMPLE, head, "python", np.random.default_rng(9)))
    kinds = {change.method.name: change.change for change in found.changes}
    assert kinds == {"leaf": "slower", "hot": "calls"}
    texts = {f(name): f"{name} body" for name in SIMPLE.seconds}
    bodies = (texts, {**texts, f("hot"): "hot body, three times"})
    found = blame(replace(compared(SIMPLE, head, "python", np.random.default_rng(9)), bodies=bodies))
    first = found.changes[0]  # told with what it calls, and that is slower
    assert (first.method.name, first.change, first.with_callees) == ("hot", "slower", True)


@pytest.mark.parametrize("parts", [(1.0,), (0.7, 0.3)])
def test_who_calls_a_library_that_was_not_called_before_is_first(parts: tuple[float, ...]) -> None:
    print_, below = Method("printf"), [Method(f"format{n}") for n in range(len(parts))]
    base = SIMPLE.profile("instructions", np.random.default_rng(0))
    costs = {**base.methods, print_: MethodCost(0.01, None, None, 500, 10**7)}
    edges = {**base.edges, (f("warm"), print_): EdgeCost(500, 6e8)}
    for method, part in zip(below, parts, strict=True):
        costs[method] = MethodCost(0.2 * part, None, None, 500, int(6e8 * part))
        edges[print_, method] = EdgeCost(500, 6e8 * part)
    head = replace(base, methods=costs, edges=edges)
    found = blame(Compared([base, base], [head], (1.0, 1.2), (1.19, 1.21)))
    assert [change.method for change in found.changes[: 1 + len(parts)]] == [f("warm"), *below]


def test_of_two_methods_that_moved_the_one_with_another_text_is_first() -> None:
    rng = np.random.default_rng(10)
    head = SIMPLE.changed("warm", seconds=0.1).changed("hot", seconds=0.12)
    texts = {f(name): f"{name} body" for name in SIMPLE.seconds}
    bodies = (texts, {**texts, f("warm"): "warm body now"})
    found = blame(replace(compared(SIMPLE, head, "native", rng), bodies=bodies))
    assert [change.method.name for change in found.changes] == ["warm", "hot"]


def test_of_a_method_whose_text_is_known_to_be_the_same_it_is_said_so() -> None:
    rng = np.random.default_rng(10)
    head = SIMPLE.changed("warm", seconds=0.1).changed("hot", seconds=0.12)
    texts = {f(name): f"{name} body" for name in SIMPLE.seconds}
    bodies = (texts, {**texts, f("warm"): "warm body now"})
    change = compared(SIMPLE, head, "native", rng)
    found = blame(replace(change, bodies=bodies))
    assert {c.method.name: c.same_text for c in found.changes} == {"warm": False, "hot": True}
    assert not any(c.same_text for c in blame(change).changes)  # no text is known


def test_unfinished_profiles_are_not_used() -> None:
    rng = np.random.default_rng(11)
    change = compared(SIMPLE, SIMPLE.changed("warm", seconds=0.2), "native", rng)
    killed = [replace(profile, outcome="timeout") for profile in change.head]
    found = blame(replace(change, head=killed))
    assert (found.changes, found.unexplained) == ((), 1.0)
    assert found.notes == ("There is no finished profile of both builds.",)


def test_profiles_of_different_quantities_are_not_compared() -> None:
    counted = Profile(TOOL, "ok", 1.0, {f("a"): MethodCost(1.0, instructions=10)})
    sampled = Profile(TOOL, "ok", 1.0, {f("a"): MethodCost(1.0)}, samples=500)
    found = blame(Compared([counted, counted], [sampled], (1.0, 1.2), (1.15, 1.25)))
    assert (found.changes, found.unexplained) == ((), 1.0)


def anything(rng: np.random.Generator) -> Profile:
    """A profile that no tool would write: zeros, giants, gaps."""

    def number(*, known: float) -> float | None:
        return float(rng.choice([0.0, 1e-300, 1.0, rng.uniform(), 1e9])) if known > rng.random() else None

    known = rng.choice([0.0, 0.7, 1.0], 3)
    names = [Method(name, file) for name in "abcdef" for file in ("x.c", None) if rng.random() < 0.5]
    costs = {}
    for method in names:
        seconds, calls, counted = (number(known=k) for k in known)
        whole = [None if value is None else int(value) for value in (calls, counted)]
        costs[method] = MethodCost(number(known=1.0) or 0.0, seconds, None, *whole)
    ends = [(a, b) for a in names for b in names if rng.random() < 0.2]
    edges = {
        edge: EdgeCost(int(n) if (n := number(known=known[1])) else None, rng.uniform()) for edge in ends
    }
    samples = int(rng.choice([0, 1, 1000])) if rng.random() < 0.5 else None
    return Profile(TOOL, "ok" if rng.random() < 0.9 else "exit", 1.0, costs, edges, samples=samples)


def test_whatever_profiles_say_shares_and_the_rest_sum_to_one() -> None:
    named = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        sides = [[anything(rng) for _ in range(rng.integers(0, 4))] for _ in range(2)]
        seconds = float(rng.choice([0.0, 1e-9, 1.0, 100.0])), float(rng.choice([0.0, 1.1, 1e6]))
        low = float(rng.choice([0.0, 0.9, 1.05, 20.0]))
        found = blame(Compared(sides[0], sides[1], seconds, (low, low + float(rng.choice([0.0, 0.1, 1e6])))))
        assert np.isfinite([v for change in found.changes for v in (change.share, *change.interval)]).all()
        assert len({change.method for change in found.changes}) == len(found.changes)
        named += len(found.changes)
        if found.unexplained is None:
            assert not found.changes
        else:
            assert sum(c.share for c in found.changes) + found.unexplained == pytest.approx(1.0)
    assert named


def test_a_hundred_thousand_methods_are_compared() -> None:
    rng = np.random.default_rng(12)
    seconds = np.full(100_000, 1e-5)
    base = Program({f"f{i}": float(s) for i, s in enumerate(seconds)})
    found = blame(compared(base, base.changed("f5", seconds=0.2), "native", rng))
    assert found.changes[0].method == f("f5")


def test_what_moved_against_the_change_is_not_named_for_it() -> None:
    rng = np.random.default_rng(12)
    parts = {f"part{number}": 0.1 for number in range(14)}
    base = Program({**parts, "rest": 2.0})
    head = Program({name: 1.2 * seconds for name, seconds in parts.items()} | {"rest": 2.0})
    found = blame(compared(base, head, "sampled", rng, base_trials=3, head_trials=3))
    assert not any(change.method.name == "rest" for change in found.changes)
    assert sum(change.share for change in found.changes) + (found.unexplained or 0.0) == pytest.approx(1.0)


def test_a_machine_that_was_slower_while_it_profiled_makes_no_share_that_cannot_be() -> None:
    kernel = 0.3  # seconds that a trial spends where the sampler does not see it
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        base = replace(program(rng), instructions={})
        base = replace(base, instructions={name: round(3e9 * s) for name, s in base.seconds.items()})
        assert base.instructions is not None
        more = {**base.instructions, "f7": base.instructions["f7"] + 10**9}
        head = replace(base.changed("f7", seconds=0.25), instructions=more)
        ratio = (head.total + kernel) / (base.total + kernel)
        blamed = blame(
            Compared(
                [slowed(base, rng), slowed(base, rng)],
                [slowed(head, rng)],
                (base.total + kernel, head.total + kernel),
                (ratio * 0.995, ratio * 1.005),
            )
        )
        found.append(blamed.changes[0])
    assert {change.method for change in found} == {f("f7")}
    for change in found:
        base_seconds, head_seconds = change.self_seconds
        assert head_seconds - base_seconds == pytest.approx(0.25 * change.share)
    assert sum(change.interval[0] <= 1.0 <= change.interval[1] for change in found) >= 18


def slowed(program: Program, rng: np.random.Generator) -> Profile:
    """Profiled while the machine took a third longer for everything."""
    profile = program.profile("native", rng)
    costs = {
        method: replace(cost, self_seconds=1.3 * program.total * cost.self_share)
        for method, cost in profile.methods.items()
    }
    return replace(profile, methods=costs)


def test_a_few_samples_are_no_evidence_against_a_method_with_the_same_text_calls_and_instructions() -> None:
    base, head = ({"hot": 0.75, "warm": 0.2, "cool": 0.05}, {"hot": 1.0, "warm": 0.2, "cool": 0.015})
    counts = dict.fromkeys(base, 10**9)
    before = Program(base, instructions=counts)
    after = Program(head, instructions={**counts, "hot": 2 * 10**9})
    same = {f(name): "same" for name in base}
    named = set()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        few = replace(
            compared(before, after, "native", rng),
            base=[before.profile("native", rng, samples=150) for _ in range(3)],
            head=[after.profile("native", rng, samples=150) for _ in range(3)],
            bodies=(same, {**same, f("hot"): "other"}),
        )
        named |= {change.method for change in blame(few).changes}
    assert named == {f("hot")}


def test_a_caller_whose_own_cost_moved_by_chance_takes_nothing_from_the_method_that_it_calls() -> None:
    def profile(hot: float, extra: float = 0.0) -> Profile:
        rng = np.random.default_rng(13)
        one = SIMPLE if not extra else SIMPLE.changed("extra", seconds=extra, calls=9000)
        one = replace(one, edges={**SIMPLE.edges, ("hot", "extra"): 9000} if extra else SIMPLE.edges)
        seen = one.profile("python", rng)
        costs = dict(seen.methods)
        costs[f("hot")] = replace(costs[f("hot")], self_seconds=hot)
        return replace(seen, methods=costs)

    found = blame(Compared([profile(0.5), profile(0.62)], [profile(0.47, 0.03)], (1.0, 1.03), (1.02, 1.04)))
    assert [(c.method.name, c.change) for c in found.changes] == [("extra", "new"), ("hot", "calls")]
    assert found.changes[0].share == pytest.approx(1.0, abs=0.35)
    assert found.changes[1].share == 0.0
    assert found.unexplained == pytest.approx(1.0 - found.changes[0].share)
