"""What `suspects check` finds out about the budget."""

from __future__ import annotations

import numpy as np

from bot.flows.check import check_flow
from bot.flows.job import Job
from bot.model.subject import Subject
from tests.fakes import FakeBench, job_of


def job(seconds: float, *, options: int = 6) -> Job:
    names = [f"option{number}" for number in range(options)]
    subject = Subject.model_validate(
        {"program": {"run": "./xz {options}"}, "options": {name: {"flag": f"--{name}"} for name in names}}
    )
    bench = FakeBench(
        rng=np.random.default_rng(1),
        budget=40.0,
        truth={"cpu": lambda _c: 1.0},
        seconds=seconds,
    )
    return job_of(subject, bench)


def test_a_budget_that_holds_few_configurations_is_said_to_want_more_time() -> None:
    found = check_flow(job(2.0))
    assert found.count is not None and found.count < 16
    assert found.wanted is not None and found.wanted > 40.0


def test_a_budget_that_holds_enough_wants_nothing_nor_does_a_small_space() -> None:
    assert check_flow(job(0.01)).wanted is None
    assert check_flow(job(1.0, options=1)).wanted is None
