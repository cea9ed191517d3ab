"""A probe has both sides of every level, where a draw can have them."""

import numpy as np
import pytest

from bot.analysis.influences.levels import SIDES, main_levels, probe_rows
from bot.model.space import Option, Space
from tests.unit.analysis.influences.programs import SPACE, drawn

FLAGS = Space(
    tuple(Option(name, "flag", (False, True), False) for name in ("alpha", "beta", "gamma", "delta"))
)


@pytest.mark.parametrize("seed", range(20))
def test_a_small_probe_has_two_configurations_on_each_side_of_every_flag(seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = list(dict.fromkeys(drawn(60, rng, FLAGS)))[:10]
    rows = probe_rows(FLAGS, asked, 5, rng=rng)
    assert len(set(rows.tolist())) == 5
    for level in main_levels(FLAGS):
        on = sum(FLAGS.holds(level, asked[i]) for i in rows)
        either = sum(FLAGS.holds(level, c) for c in asked)
        if min(either, len(asked) - either) > SIDES:
            assert SIDES <= on <= 5 - SIDES


def test_a_probe_that_cannot_have_both_sides_is_drawn_all_the_same() -> None:
    rng = np.random.default_rng(0)
    rows = probe_rows(SPACE, [SPACE.default] * 6, 3, rng=rng)
    assert rows.tolist() == sorted(set(rows.tolist())) and len(rows) == 3


def test_probes_of_other_seeds_are_others() -> None:
    asked = drawn(40, np.random.default_rng(0), SPACE)
    probes = {tuple(probe_rows(SPACE, asked, 12, rng=np.random.default_rng(seed))) for seed in range(5)}
    assert len(probes) == 5
