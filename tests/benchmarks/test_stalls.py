"""The search of short ranges on a machine that spoils trials."""

from __future__ import annotations

from benchmarks.change_points.stalls import STEPS, stalling


def test_trials_that_a_stalling_machine_spoils_name_nobody() -> None:
    told = [{(p.term, p.revision) for p in stalling(seed=s, share=0.1, most=150)} for s in range(3)]
    assert all(one <= STEPS for one in told)
    assert set().union(*told) == STEPS
