"""The search of short ranges on a machine that spoils trials."""

from __future__ import annotations

from benchmarks.change_points.stalls import STEPS, stalling


def test_trials_that_a_stalling_machine_spoils_hide_no_step_and_name_nobody_in_five_of_six_searches() -> None:
    told = [{(p.term, p.revision) for p in stalling(seed=s, share=0.1, most=150)} for s in range(6)]
    assert all(one >= STEPS for one in told)
    assert sum(one == STEPS for one in told) >= 5
