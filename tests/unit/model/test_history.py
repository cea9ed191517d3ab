"""Measurements: recorded, selected and put together without changing what they mean."""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pytest

from bot.model.history import (
    NO_EXIT_CODE,
    NO_METRIC,
    NO_PAIR,
    Measurements,
    known_options,
    program_fingerprint,
    told,
)
from bot.model.recording import Recorder
from bot.model.report import History, RevisionRef
from bot.model.subject import Subject
from bot.model.trials import Pair, Trial, Wish
from tests.adapters.stores.samples import SPACE, meaning, record, run, same, sides


def subject(**more: object) -> Subject:
    program = {"run": "./xz {options}", "build": "make", **more}
    return Subject.model_validate({"program": program, "options": {"extreme": {"flag": "-e"}}})


def test_a_failed_trial_is_a_row_without_metric_and_value() -> None:
    part = run()
    assert part.metric[-1] == NO_METRIC and math.isnan(part.value[-1]) and part.exit_code[-1] == NO_EXIT_CODE
    assert part.second[-1] and part.pair[-1] == 2


def test_a_cut_pair_is_neither_a_measurement_nor_a_failure() -> None:
    recorder = Recorder()
    good, cut = Trial("ok", {"cpu": 1.0}), Trial("cut")
    recorder.pair(Pair(Wish(SPACE.default), good, cut, 1.0), sides(), SPACE)  # type: ignore[arg-type]
    recorder.trial(cut, sides()["base"], {})
    assert len(recorder) == 0 and len(recorder.measurements(record())) == 0


def test_a_trial_alone_belongs_to_no_pair() -> None:
    recorder = Recorder()
    recorder.trial(Trial("ok", {"cpu": 1.0}), sides()["base"], {"level": 6})
    assert recorder.measurements(record()).pair[0] == NO_PAIR


def test_the_order_of_options_does_not_make_another_configuration() -> None:
    recorder = Recorder()
    for values in ({"a": True, "b": 1}, {"b": 1, "a": True}, {"a": 1, "b": 1}):
        recorder.trial(Trial("ok", {"cpu": 1.0}), sides()["base"], values)
    assert list(recorder.measurements(record()).configuration) == [0, 0, 1]


def test_putting_together_keeps_every_rows_meaning() -> None:
    parts = [run(0, pairs=5), Measurements.empty(), run(1), run(7, pairs=2)]
    joined = Measurements.concatenated(parts)
    assert meaning(joined) == [row for part in parts for row in meaning(part)]
    assert len(joined.configurations) == len({repr(sorted(c.items())) for c in joined.configurations})
    assert len(joined.revisions) == len(set(joined.revisions)) == 5  # runs 0 and 1 share one
    assert joined.newest == record(7).started


def test_nothing_put_together_is_empty() -> None:
    assert len(Measurements.concatenated([])) == 0 and Measurements.empty().newest is None


def test_two_segments_with_the_same_run_keep_their_trials_apart() -> None:
    joined = Measurements.concatenated([run(), run()])
    assert len(set(zip(joined.run.tolist(), joined.trial.tolist(), strict=True))) == 12


def test_parts_of_one_segment_are_one_run() -> None:
    whole = run()
    first = np.arange(len(whole)) < 4
    joined = Measurements.concatenated([whole.where(first), whole.where(~first)])
    assert same(joined, whole) and len(joined.runs) == 1


def test_options_are_kept_as_they_were() -> None:
    known = known_options(SPACE)
    assert known["check"].values == ("none", "64") and known["level"].default == 6.5
    assert known["extreme"].kind == "flag"


@pytest.mark.parametrize(
    ("change", "comparable"),
    [
        ({"timeout": "5s"}, True),
        ({"setup": "apt-get install gcc"}, True),
        ({"build": "make -O3"}, False),
        ({"run": "./xz -k {options}"}, False),
        ({"env": {"LC_ALL": "C"}}, False),
    ],
)
def test_runs_are_comparable_when_the_program_is_built_and_started_alike(
    change: dict[str, object], comparable: bool
) -> None:
    assert (program_fingerprint(subject()) == program_fingerprint(subject(**change))) is comparable


def test_another_option_leaves_runs_comparable() -> None:
    more = Subject.model_validate(
        {"program": {"run": "./xz {options}", "build": "make"}, "options": {"fast": {"flag": "-f"}}}
    )
    assert program_fingerprint(more) == program_fingerprint(subject())


def test_machines_differ_by_processor_and_not_by_load() -> None:
    here = record()
    busy = here.model_copy(update={"environment": here.environment.model_copy(update={"load": (0.1, 9.0)})})
    other = here.model_copy(update={"environment": here.environment.model_copy(update={"cpu": "another"})})
    assert here.machine == busy.machine != other.machine


def test_a_report_says_how_old_and_how_large_the_history_is() -> None:
    found = told("branch", run(), record().started + timedelta(days=2, hours=12))
    assert found == History(
        source="branch", measurements=len(run()), newest="2024-01-02T03:04:05+00:00", age_days=2.5
    )
    assert told(None, Measurements.empty(), record().started) == History()
    assert told("branch", Measurements.empty(), record().started) == History(source="branch")


def test_revisions_keep_their_first_label() -> None:
    recorder = Recorder()
    for label in ("v1", "main"):
        recorder.trial(Trial("ok", {"cpu": 1.0}), RevisionRef(revision="a", label=label), {})
    assert recorder.measurements(record()).revisions == (RevisionRef(revision="a", label="v1"),)
