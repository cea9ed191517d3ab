"""Earlier nights as the history has them: trials in today's words, the anchor, the reference."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from bot.flows.nights.past import (
    FARTHEST,
    FIRST_REACH,
    NIGHTS,
    Night,
    anchor_of,
    configuration_of,
    newest,
    nights,
    window,
)
from bot.flows.nights.window import Window
from bot.model.change_points import Observation, Probe
from bot.model.history import KnownOption, Measurements, RunRecord
from bot.model.recording import Recorder
from bot.model.report import RevisionRef
from bot.model.revisions import Revision
from bot.model.space import Option, Space
from bot.model.trials import Trial

SPACE = Space(
    (Option("fast", "flag", (False, True), True), Option("level", "number", (0, 1, 6), 6)),
)
IDS = [f"id{i}" for i in range(50)]
REVISIONS = [Revision(i, i) for i in IDS]


def record(number: int) -> RunRecord:
    started = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
    return RunRecord(id=f"night-{number}", mode="nightly", started=started)


def measured(number: int, places: list[int], value: float = 1.0) -> Measurements:
    recorder = Recorder()
    for place in places:
        ref = RevisionRef(revision=IDS[place], label=IDS[place])
        recorder.trial(Trial("ok", {"cpu": value, "max_rss": 5e6}), ref, {"fast": True, "level": 6})
    return recorder.measurements(record(number))


def test_a_trial_comes_back_as_it_was_recorded() -> None:
    recorder = Recorder()
    ref = RevisionRef(revision="id7", label="v7")
    recorder.trial(Trial("ok", {"cpu": 2.5, "wall": 9.0}), ref, {"fast": False, "level": 1})
    recorder.trial(Trial("timeout"), ref, {"fast": True, "level": 0})
    (found,) = nights(recorder.measurements(record(0)), SPACE, REVISIONS, "cpu")
    first, second = found.observations
    assert first == Observation(Probe((False, 1), 7), 2.5)
    assert second.probe == Probe((True, 0), 7) and math.isnan(second.value) and second.built


def test_a_pair_comes_back_as_the_ratio_to_its_first_trial() -> None:
    recorder = Recorder()
    beside, other = (RevisionRef(revision=i, label=i) for i in ("id40", "id7"))
    recorder.trial(Trial("ok", {"cpu": 2.0}), beside, {"fast": True, "level": 6}, pair=0)
    recorder.trial(Trial("ok", {"cpu": 3.0}), other, {"fast": True, "level": 6}, pair=0, second=True)
    (found,) = nights(recorder.measurements(record(0)), SPACE, REVISIONS, "cpu")
    assert found.observations == (Observation(Probe((True, 6), 7), 1.5, anchor=2.0),)


def test_of_an_option_that_is_gone_the_trials_with_its_default_stay() -> None:
    recorder, ref = Recorder(), RevisionRef(revision="id1", label="id1")
    for old in (0, 1):
        recorder.trial(Trial("ok", {"cpu": 2.0 + old}), ref, {"fast": True, "level": 6, "old": old})
    option = KnownOption(kind="number", values=(0, 1), default=0)
    run = record(0).model_copy(update={"options": {"old": option}})
    (found,) = nights(recorder.measurements(run), SPACE, REVISIONS, "cpu")
    assert [(o.probe.configuration, o.value) for o in found.observations] == [((True, 6), 2.0)]


def test_trials_of_other_revisions_and_of_options_that_are_gone_are_left_out() -> None:
    recorder = Recorder()
    elsewhere, here = (RevisionRef(revision=i, label=i) for i in ("gone", "id1"))
    recorder.trial(Trial("ok", {"cpu": 1.0}), elsewhere, {"fast": True, "level": 6})
    recorder.trial(Trial("ok", {"cpu": 1.0}), here, {"fast": True, "level": 6, "old": 1})
    assert nights(recorder.measurements(record(0)), SPACE, REVISIONS, "cpu") == ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"fast": False, "level": 0}, (False, 0)),
        ({"level": 1}, (True, 1)),
        ({"fast": True, "level": 6.0}, (True, 6)),
        ({"fast": True, "level": 3}, None),
        ({"fast": 1, "level": 0}, None),
        ({"fast": True, "level": 0, "more": True}, None),
    ],
)
def test_a_recorded_configuration_in_todays_space(
    options: dict[str, bool | int | float], expected: tuple[bool, int] | None
) -> None:
    assert configuration_of(options, SPACE) == expected


def test_a_first_night_begins_some_revisions_before_its_tip() -> None:
    assert anchor_of(Measurements.empty(), IDS) == len(IDS) - 1 - FIRST_REACH
    assert anchor_of(Measurements.empty(), IDS[:3]) == 0


def test_the_anchor_is_the_oldest_revision_of_the_last_night() -> None:
    past = Measurements.concatenated([measured(0, [3, 20]), measured(1, [5, 30])])
    assert anchor_of(past, IDS) == 5
    assert anchor_of(past, ["other", *IDS[15:31]]) == 16  # of a rewritten branch, what is still there


def test_an_anchor_that_is_too_old_is_given_up() -> None:
    line = [*IDS, *(f"new{i}" for i in range(FARTHEST))]
    past = Measurements.concatenated([measured(0, [3, 49])])
    assert anchor_of(past, line) == 49


def test_the_tip_is_compared_with_that_of_the_night_before_last() -> None:
    tips = [Night(record(i), (Observation(Probe((True, 6), tip), 1.0),)) for i, tip in enumerate((9, 20, 30))]
    found = window(45, tips)
    assert (found.reference, found.previous, found.tip) == (20, 30, 44)
    assert window(31, tips).reference == 9  # no new commits: the tip of the last night is this one
    assert window(45, tips[:1]) == Window(45, reference=0, previous=9)


def test_the_newest_nights_are_read_whole() -> None:
    past = Measurements.concatenated([measured(n, [n]) for n in (*range(5, NIGHTS + 5), *range(5))])
    found = newest(past)
    assert {past.runs[i].id for i in found.run.tolist()} == {f"night-{n}" for n in range(5, NIGHTS + 5)}
