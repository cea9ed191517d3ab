"""The program's cost from trials of nights, whose machines and revisions differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bot.analysis.influences.costs import CostTable
from bot.analysis.influences.trial_costs import trial_costs
from bot.model.history import Measurements
from bot.model.recording import Recorder
from bot.model.report import RevisionRef
from bot.model.space import Configuration
from bot.model.trials import Trial
from tests.profiled import SPACE, drawn, record, shop


def cost(configuration: Configuration) -> float:
    return sum(shop(SPACE.as_dict(configuration)).values())


def night(
    number: int,
    sample: Sequence[Configuration],
    *,
    machine: float = 1.0,
    extra: float = 0.0,
    metric: str = "cpu",
) -> Measurements:
    """Trials at a tip, two of each configuration; fewer at an older revision, where all costs double."""
    recorder = Recorder()
    tip, old = (RevisionRef(revision=f"{number}{side}", label=side) for side in ("tip", "old"))
    for i, configuration in enumerate(sample):
        seconds = machine * (cost(configuration) + extra * i)
        options = SPACE.as_dict(configuration)
        if i:
            recorder.trial(Trial("ok", {metric: 2 * seconds}), old, options)
        recorder.trial(Trial("ok", {metric: seconds}), tip, options)
        recorder.trial(Trial("ok", {metric: seconds}), tip, options)
    recorder.trial(Trial("exit"), tip, SPACE.as_dict(SPACE.default))
    return recorder.measurements(record(number))


def table(*nights: Measurements) -> CostTable:
    found = trial_costs(SPACE, Measurements.concatenated(nights), "cpu")
    assert found is not None
    return found


def test_the_revision_with_most_configurations_counts() -> None:
    found = table(night(0, drawn(9)))
    assert found.means("seconds")[:, 0] == pytest.approx([cost(c) for c in found.configurations])
    assert len(found.configurations) == 9 and found.quantities["seconds"].shape[2] == 2


def test_an_older_night_of_a_slower_machine_counts_in_the_newest_nights_seconds() -> None:
    sample = drawn(20)
    found = table(night(0, sample[:15], machine=3.0), night(1, sample[10:]))
    assert len(found.configurations) == 20
    assert found.means("seconds")[:, 0] == pytest.approx([cost(c) for c in found.configurations])


@pytest.mark.parametrize("shared", [1, 5])
def test_an_older_night_that_cannot_be_compared_is_left_out(shared: int) -> None:
    sample = drawn(20)
    found = table(night(0, sample[: 10 + shared], extra=0.2), night(1, sample[10:]))
    assert set(found.configurations) == set(sample[10:])


def test_without_trials_of_the_metric_there_is_no_table() -> None:
    assert trial_costs(SPACE, night(0, drawn(9)), "wall") is None
    assert trial_costs(SPACE, Measurements.empty(), "cpu") is None


def test_no_cost_is_invented_where_a_configuration_was_measured_less_often() -> None:
    sample = drawn(4)
    both = table(night(0, sample[:3]), night(1, [sample[0], sample[1], *sample]))
    values = both.quantities["seconds"][:, 0, :]
    assert np.isfinite(values[0]).all() and np.isnan(values).any()
