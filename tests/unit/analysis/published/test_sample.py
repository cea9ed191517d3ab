from __future__ import annotations

import math

from bot.analysis.published.sample import Sample
from bot.model.change_points import Observation, Probe

ON, OFF = (True,), (False,)


def test_repeated_trials_are_averaged_and_failed_ones_only_remembered() -> None:
    sample = Sample()
    for revision, value in ((7, 2.0), (3, 1.0), (3, 3.0), (5, math.nan)):
        assert sample.add(Observation(Probe(ON, revision), value)) == 0
    commits, values = sample.history(0)
    assert commits.tolist() == [3, 7]
    assert values.tolist() == [2.0, 2.0]
    assert sample.tried(0).tolist() == [3, 5, 7]
    assert [r.tolist() for r in sample.repeated()] == [[1.0, 3.0]]
    assert ON in sample
    assert OFF not in sample


def test_a_revision_that_cannot_be_built_counts_as_tried_everywhere() -> None:
    sample = Sample()
    sample.add(Observation(Probe(ON, 1), 1.0))
    assert sample.add(Observation(Probe(OFF, 4), math.nan, built=False)) is None
    assert sample.tried(0).tolist() == [1, 4]
    assert OFF not in sample


def test_a_configuration_that_always_failed_has_an_empty_history() -> None:
    sample = Sample()
    sample.add(Observation(Probe(ON, 1), math.nan))
    commits, values = sample.history(0)
    assert not len(commits)
    assert not len(values)
    assert sample.measured().tolist() == [False]


def test_two_values_make_a_configuration_measured() -> None:
    sample = Sample()
    for configuration, revision, value in ((ON, 1, 1.0), (ON, 2, 1.0), (OFF, 1, 1.0), (OFF, 2, math.nan)):
        sample.add(Observation(Probe(configuration, revision), value))
    assert sample.measured().tolist() == [True, False]
