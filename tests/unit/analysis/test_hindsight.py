"""What earlier runs measured, condensed: noise, failures, configurations of old."""

import numpy as np
import pytest

from bot.analysis.hindsight import condensed, configurations, failures
from bot.model.history import KnownOption, Measurements
from bot.model.recording import Recorder
from bot.model.space import Option, Space
from bot.model.trials import Trial
from tests.unit.analysis.pasts import nights, places, record, revision
from tests.unit.analysis.worlds import flags, sample

SPACE = flags(6)


@pytest.mark.parametrize("duets", [True, False])
def test_noise_is_that_of_a_pairs_log_ratio_in_each_configuration(duets: bool) -> None:
    rng = np.random.default_rng(1)
    chosen = sample(SPACE, 32, rng)
    sd = np.where(np.arange(32) % 2, 0.005, 0.02)
    changes = {3: (("a",), 0.1)}
    found = condensed(
        nights(SPACE, chosen, changes, count=10, rng=rng, noise=sd, duets=duets, repeats=8), "cpu", SPACE, {}
    )
    told = np.array([found.noise[c][0] for c in chosen])
    assert np.median(told / (np.sqrt(2.0) * sd)) == pytest.approx(1.0, abs=0.1)
    assert (told[1::2] < told[::2].min()).all()
    assert all(count >= 60 for _, count in found.noise.values())


def test_a_revision_beside_itself_shows_the_noise_without_a_repetition() -> None:
    rng = np.random.default_rng(1)
    recorder = Recorder()
    chosen = sample(SPACE, 32, rng)
    for pair, configuration in enumerate(chosen):
        for second in (False, True):
            trial = Trial("ok", {"cpu": float(np.exp(rng.normal(0.0, 0.01)))})
            recorder.trial(trial, revision(3), SPACE.as_dict(configuration), pair=pair, second=second)
    found = condensed(recorder.measurements(record(SPACE, 0)), "cpu", SPACE, places(5))
    assert [count for _, count in found.noise.values()] == [1] * 32
    # Of one value each: 1.4826 times its size.
    assert np.median([sd for sd, _ in found.noise.values()]) == pytest.approx(0.0141, rel=0.4)


def test_values_are_compared_within_a_run_and_weigh_by_their_repetitions() -> None:
    rng = np.random.default_rng(1)
    chosen = sample(SPACE, 8, rng)
    few = condensed(nights(SPACE, chosen, {}, count=2, rng=rng, repeats=2), "cpu", SPACE, places(3))
    many = condensed(nights(SPACE, chosen, {}, count=2, rng=rng, repeats=20), "cpu", SPACE, places(3))
    assert len(few) == len(many) == 2 * 2 * 8  # nights, revisions, configurations
    assert len(set(few.group.tolist())) == 2 * 8
    assert many.variance.mean() < few.variance.mean() / 2


def test_only_the_most_measured_configurations_are_kept_when_there_are_too_many() -> None:
    rng = np.random.default_rng(1)
    chosen = sample(SPACE, 8, rng)
    past = Measurements.concatenated(
        [
            nights(SPACE, chosen[:3], {}, count=3, rng=rng),
            nights(SPACE, chosen, {}, count=1, rng=rng),
        ]
    )
    kept = condensed(past, "cpu", SPACE, places(4)).narrowed(3)
    assert kept.configurations == tuple(chosen[:3])
    assert set(kept.configuration.tolist()) == {0, 1, 2} and len(kept) == 3 * 4 * 2


def test_failed_trials_are_counted_for_their_configuration() -> None:
    recorder = Recorder()
    working, broken = (False,) * 6, (True,) * 6
    for _ in range(3):
        recorder.trial(Trial("ok", {"cpu": 1.0, "wall": 1.0}), revision(0), SPACE.as_dict(working))
        recorder.trial(Trial("timeout"), revision(0), SPACE.as_dict(broken))
    past = recorder.measurements(record(SPACE, 0))
    assert failures(past, SPACE) == {working: (3, 0), broken: (3, 3)}
    assert not condensed(past, "rss", SPACE, places(1)).noise


def test_configurations_of_old_are_read_in_todays_space() -> None:
    now = Space((Option("kept", "flag", (False, True), False), Option("new", "choice", ("x", "y"), "y")))
    gone = {"gone": KnownOption(kind="flag", values=(False, True), default=False)}
    recorder = Recorder()
    for options in (
        {"kept": True},
        {"kept": True, "gone": False},
        {"kept": True, "gone": True},
        {"new": "z"},
    ):
        recorder.trial(Trial("ok", {"cpu": 1.0}), revision(0), options)
    found, codes = configurations(recorder.measurements(record(now, 0, options=gone)), now)
    assert found[0] == (True, "y")
    assert codes.tolist()[:4] == [0, 0, -1, -1]
