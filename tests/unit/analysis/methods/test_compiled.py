"""Runtimes that compile beside the program: what the program's own threads ran tells who moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.methods.blame import Blame, Compared, blame
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile
from tests.unit.analysis.methods.profiled import TOOL

SAMPLES = 1500
RUN = {"main": 0.15, "hot": 0.2, "warm": 0.2, "leaf": 0.05, "rest": 0.1}
"""Seconds that the program's threads run; compilers and collectors take as much."""
CHURN = 0.4
"""Relative deviation between trials of what compilers do for a method."""


def f(name: str) -> Method:
    return Method(name, "a.js")


def trial(run: Mapping[str, float], rng: np.random.Generator) -> Profile:
    """One trial of which samples, and seconds with what compilers did, are known."""
    true = np.array([*run.values()]) * np.exp(0.02 * rng.standard_normal(len(run)))
    seen = rng.multinomial(SAMPLES, true / true.sum())
    compiling = np.array([RUN[name] for name in run]) * np.exp(CHURN * rng.standard_normal(len(run)))
    own = true + compiling
    costs = {
        f(name): MethodCost(seconds / own.sum(), seconds, running_share=hits / SAMPLES)
        for name, seconds, hits in zip(run, own, seen, strict=True)
    }
    return Profile(TOOL, "ok", float(own.sum()), costs, samples=SAMPLES)


def profile(run: Mapping[str, float], rng: np.random.Generator, *, trials: int = 3) -> Profile:
    """Several trials in one profile, with calls."""
    each = [trial(run, rng) for _ in range(trials)]
    calls = {
        method: replace(
            cost,
            self_share=float(np.mean([one.methods[method].self_share for one in each])),
            self_seconds=float(np.mean([one.methods[method].self_seconds or 0.0 for one in each])),
            calls=100,
        )
        for method, cost in each[0].methods.items()
    }
    edges = {(f("main"), f(name)): EdgeCost(None, 0.1) for name in run if name != "main"}
    edges[f("warm"), f("leaf")] = EdgeCost(None, 0.1)
    return Profile(TOOL, "ok", each[0].seconds, calls, edges, samples=trials * SAMPLES, trials=each)


def found(more: Mapping[str, float], *rewritten: str, seed: int, claimed: float | None = None) -> Blame:
    """Who is blamed for more seconds of some methods, when the texts of some changed."""
    rng = np.random.default_rng(seed)
    head = {name: seconds + more.get(name, 0.0) for name, seconds in RUN.items()}
    total = 2.0 * sum(RUN.values())
    ratio = 1.0 + (sum(more.values()) / total if claimed is None else claimed)
    texts = [{f(name): name + side * (name in rewritten) for name in RUN} for side in ("", " = 1;")]
    before, after = ([profile(run, rng) for _ in range(2)] for run in (RUN, head))
    interval = (ratio - 0.01, ratio + 0.01)
    return blame(Compared(before, after, (total, total * ratio), interval, (texts[0], texts[1])))


def test_what_compilers_did_for_a_method_does_not_name_it() -> None:
    claims = [(seed, claimed) for seed in range(20) for claimed in (0.05, -0.05)]
    named = [found({}, "hot", "leaf", seed=seed, claimed=claimed).changes for seed, claimed in claims]
    assert sum(map(bool, named)) <= 6, "of 40: the texts of two of five methods changed"


def test_who_runs_longer_is_named_and_explains_the_change() -> None:
    told = [found({"leaf": 0.2}, "leaf", "hot", seed=seed).changes for seed in range(20)]
    assert all(changes[0].method == f("leaf") for changes in told)
    assert sum(abs(changes[0].share - 1.0) <= 0.15 for changes in told) >= 18


def test_two_rewritten_methods_share_the_change() -> None:
    told = [found({"leaf": 0.15, "hot": 0.1}, "leaf", "hot", seed=seed).changes for seed in range(20)]
    shares = [{change.method.name: change.share for change in changes} for changes in told]
    near = [abs(s.get("leaf", 0.0) - 0.6) <= 0.15 and abs(s.get("hot", 0.0) - 0.4) <= 0.15 for s in shares]
    assert sum(near) >= 14


def test_what_an_unchanged_caller_costs_more_counts_to_the_callee_that_changed() -> None:
    (change,) = found({"leaf": 0.2, "warm": 0.15}, "leaf", seed=1).changes
    assert change.method == f("leaf") and change.share == pytest.approx(1.0, abs=0.15)


def test_an_unchanged_method_that_runs_much_longer_by_itself_is_named_all_the_same() -> None:
    (change,) = found({"rest": 0.4}, "hot", seed=2).changes
    assert change.method == f("rest")


def test_trials_of_a_profile_tell_how_much_methods_vary() -> None:
    rng = np.random.default_rng(3)
    lone = [profile(RUN, rng, trials=1) for _ in range(2)]
    wild = [replace(one, trials=[*one.trials, trial({**RUN, "hot": 0.6}, rng)]) for one in lone]
    head = profile({**RUN, "hot": 0.35}, rng, trials=1)
    asked = Compared(lone, [head], (1.4, 1.55), (1.1, 1.115))
    assert [change.method for change in blame(asked).changes] == [f("hot")]
    assert blame(replace(asked, base=wild)).changes == ()
