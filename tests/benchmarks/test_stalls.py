"""The search of short ranges on a machine that spoils trials."""

from __future__ import annotations

import pytest

from benchmarks.change_points.stalls import STEPS, stalling
from tests.seeds import one_of


@pytest.mark.parametrize("searches", one_of(range(2, 4), range(6)), ids=str)
def test_trials_that_a_stalling_machine_spoils_hide_no_step_and_name_nobody_in_five_of_six_searches(
    searches: range,
) -> None:
    told = [{(p.term, p.revision) for p in stalling(seed=s, share=0.1, most=150)} for s in searches]
    assert all(one >= STEPS for one in told)
    assert sum(one == STEPS for one in told) >= len(searches) * 5 / 6
