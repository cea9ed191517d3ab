"""Where all configurations were counted: the fewest steps that describe a release; what was found of them."""

from __future__ import annotations

import numpy as np

from benchmarks.releases.fewest import described
from benchmarks.releases.scoring import score_described
from bot.model.space import Term
from tests.benchmarks.test_releases import SPACE, counted, example, point

FIRST, SECOND = described(SPACE, counted(example))


def test_a_release_is_described_by_its_large_steps_alone() -> None:
    assert set(FIRST.ratios) == {(), ("a", "b")}
    assert set(SECOND.ratios) == {("d",)}
    assert np.isclose(FIRST.ratios[()], 1.1, atol=0.03)
    assert np.isclose(SECOND.ratios[("d",)], 0.9, atol=1e-3)
    assert FIRST.left < 0.05


def test_the_same_saving_for_everybody_is_one_step_even_if_some_run_twice_as_long() -> None:
    first, second = described(
        SPACE, counted(lambda r, c: (2.0 if c[0] else 1.0) - (0.2 if r != "1.0" else 0.0))
    )
    assert list(first.ratios) == [()]
    assert not second.ratios


def test_other_words_count_only_if_each_is_needed_and_its_direction_is_right() -> None:
    pieces: dict[Term, float] = {(): 1.1, ("a", "b"): 1.2, ("c",): 1.03}
    assert FIRST.says(pieces)
    assert SECOND.says({("d",): 0.9})
    assert SECOND.says({(): 0.9, ("!d",): 1.1})
    assert not SECOND.says({(): 1.1, ("!d",): 1.1})
    assert not SECOND.says({("d",): 0.9, ("a",): 1.02})
    assert not FIRST.says({(): 1.1})


def test_found_reworded_missed_and_wrong_change_points_are_told_apart() -> None:
    told = [
        point("1.1", (), 1.12),
        point("1.1", ("d", "e"), 1.2),
        point("1.2", (), 0.9),
        point("1.2", ("!d",), 1.1),
    ]
    scored = score_described([FIRST, SECOND], [p | {"shape": "step"} for p in told])
    found = {(s["release"], s["term"]): s for s in scored["steps"]}
    assert found["1.1", ()]["off"] == 0
    assert found["1.1", ("a", "b")]["off"] is None
    assert found["1.2", ("d",)]["reworded"]
    assert [(o["term"], o["real"]) for o in scored["others"]] == [(("d", "e"), False)]
