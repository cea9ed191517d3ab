"""The judge's regression finds what is built into counts, and the scores say what was found of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.releases.judge import Counts, configurations
from benchmarks.releases.scoring import score
from benchmarks.releases.seconds import Ratios
from benchmarks.releases.sizes import sizes, steps_in_seconds
from benchmarks.releases.steps import fit, steps
from benchmarks.releases.table import written
from bot.model.space import Configuration, Option, Space

SPACE = Space(tuple(Option(n, "flag", (False, True), default=False) for n in "abcdef"))
RELEASES = ("1.0", "1.1", "1.2")


def counted(factor: Callable[[str, Configuration], float | None]) -> Counts:
    """Counts of three releases that differ from a million by a factor; None: failed."""
    factors = {(r, c): factor(r, c) for c in product((False, True), repeat=6) for r in RELEASES}
    return {key: None if f is None else round(1e6 * f) for key, f in factors.items()}


def example(release: str, configuration: Configuration) -> float | None:
    """1.1: everything +10 %, a and b together +20 %, c +3 %; 1.2: d -10 %. f fails before 1.2."""
    a, b, c, d, _, f = configuration
    if f and release != "1.2":
        return None
    return (
        (1.0 if release == "1.0" else 1.1 * (1.2 if a and b else 1.0) * (1.03 if c else 1.0))
        * (0.9 if d and release == "1.2" else 1.0)
        * (1.5 if a else 1.0)
    )


def point(release: str, term: Sequence[str], ratio: float, **more: Any) -> dict[str, Any]:
    return {"label": release, "term": list(term), "aliases": [], "ratio": ratio, "probability": 0.9, **more}


def test_the_set_has_the_default_each_option_alone_all_and_no_duplicates() -> None:
    chosen = configurations(SPACE)
    assert chosen[0] == (False,) * 6
    assert [sum(bool(v) for v in c) for c in chosen[1:8]] == [1, 1, 1, 1, 1, 1, 6]
    assert len(set(chosen)) == len(chosen) > 13


def test_steps_are_found_at_their_release_with_their_term_and_ratio() -> None:
    found = steps(SPACE, counted(example))
    assert [(s.release, s.term) for s in found] == [("1.1", ()), ("1.1", ("a", "b")), ("1.2", ("d",))]
    assert np.allclose([s.ratio for s in found], [1.1, 1.2, 0.9], atol=1e-4)
    assert np.isclose(found[2].plain, 0.9, atol=1e-4)
    assert found[0].has_work


def test_the_same_saving_is_no_work_of_the_option_that_doubles_the_run() -> None:
    counts = counted(lambda r, c: (1.0 if r == "1.0" else 0.8) + (1.0 if c[0] else 0.0))
    found = steps(SPACE, counts)
    assert [(s.release, s.term, s.has_work) for s in found] == [("1.1", (), True), ("1.1", ("a",), False)]
    assert np.allclose([s.own for s in found], [0.8, 1.0])
    assert np.isclose(found[1].plain, 0.9)


def test_what_all_but_one_option_have_is_that_options_absence() -> None:
    counts = counted(
        lambda r, c: (0.9 if r == "1.1" and not c[4] else 1.0) * (0.8 if r == "1.1" and c[0] else 1.0)
    )
    found = [s for s in steps(SPACE, counts) if s.release == "1.1"]
    assert [s.term for s in found] == [("!e",), ("a",)]
    assert np.allclose([s.ratio for s in found], [0.9, 0.8])


def test_a_smaller_change_is_no_step_but_known() -> None:
    first = fit(SPACE, counted(example))[0]
    assert np.isclose(first.ratios["c",], 1.03, atol=1e-4)
    assert ("f",) not in first.ratios
    assert first.spread < 1e-6


def scored(counts: Counts, points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    judged = {(f.release, term): ratio for f in fit(SPACE, counts) for term, ratio in f.ratios.items()}
    return score(steps(SPACE, counts), judged, RELEASES, points)


def test_found_missed_displaced_and_wrong_change_points_are_told_apart() -> None:
    counts = counted(example)
    reported = [
        point("1.1", [], 1.09),
        point("1.1", ["x"], 0.9, aliases=[["d"]]),
        point("1.1", ["c"], 1.04),
        point("1.2", ["a"], 1.06),
    ]
    told = scored(counts, reported)
    off = {tuple(s["term"]): s["off"] for s in told["steps"]}
    assert off == {(): 0, ("a", "b"): None, ("d",): -1}
    assert [(o["term"], o["real"]) for o in told["others"]] == [(["c"], True), (["a"], False)]


def test_a_change_in_the_other_direction_is_not_the_step() -> None:
    counts = counted(example)
    told = scored(counts, [point("1.2", ["d"], 1.1)])
    assert [s["off"] for s in told["steps"]] == [None, None, None]
    assert not told["others"][0]["real"]


def test_steps_are_sized_in_seconds_from_noisy_pairs() -> None:
    rng = np.random.default_rng(0)
    counts = counted(example)
    found = steps(SPACE, counts)
    pairs: Ratios = {cell: [n / 1e6 * rng.lognormal(0, 0.03)] if n else [None] for cell, n in counts.items()}
    sized = sizes(SPACE, pairs, found, RELEASES)
    for step in found:
        ratio, error = sized[step.release, step.term]
        assert error < 0.03
        assert abs(np.log(ratio / step.ratio)) < 2 * error
    assert sizes(SPACE, {}, found, RELEASES) == {}
    slow = steps_in_seconds(sized, found, RELEASES)
    assert [(s.release, s.term) for s in slow] == [(s.release, s.term) for s in found]
    assert all(s.has_work for s in slow)


def test_the_table_names_what_was_missed_and_what_was_wrong() -> None:
    counts = counted(example)
    told = scored(counts, [point("1.1", [], 1.1), point("1.2", ["a"], 1.06)])
    run = {
        "kind": "cpu",
        "noise": 0.0,
        "share": 0.1,
        "seed": 7,
        "trials": 9,
        "exhaustive": len(counts),
        **told,
    }
    text = written(steps(SPACE, counts), counts, [run])
    assert "| 7 | 9 |" in text
    assert "| 1 of 3 | 1 | 1 of " in text
    assert "| 0 | 1 |" in text
    assert "| 1.1 a + b | +20.0% | missed |" in text
    assert "| 1.1 everything | +10.0% | +10.0% |" in text
    assert "1.2 a +6.0% (judge: " in text


def test_many_runs_of_a_case_are_counted_together() -> None:
    counts = counted(example)
    told = scored(counts, [point("1.1", [], 1.1), point("1.2", ["a"], 1.06)])
    run = {"kind": "table", "noise": 0.0, "share": 0.15, "trials": 9, "exhaustive": len(counts), **told}
    text = written(steps(SPACE, counts), counts, [run | {"seed": seed} for seed in (3, *range(7, 14))])
    assert "8 runs (seeds 3, 7-13)" in text and "**8 of 24** steps found, 8 at the exact release" in text
    assert "every step in **0 of 8** runs; 0 others are real, 8 wrong" in text
    assert "| 1.1 everything | +10.0% | 8 of 8 | +10.0% |" in text
    assert "| 1.1 a + b | +20.0% | 0 of 8 |  |" in text
