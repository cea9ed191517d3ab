"""What `suspects check` finds out about the budget."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from bot.flows.check import check_flow
from bot.flows.run.job import Job
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import Outcome
from tests.fakes import FakeBench, job_of


def subject_of(options: dict[str, object]) -> Subject:
    return Subject.model_validate({"program": {"run": "./xz {options}"}, "options": options})


def works(configuration: Configuration) -> Outcome | None:
    return None


def job(
    seconds: float,
    *,
    options: int = 6,
    subject: Subject | None = None,
    noise: float = 0.01,
    fails: Callable[[Configuration], Outcome | None] = works,
) -> Job:
    names = [f"option{number}" for number in range(options)]
    subject = subject or subject_of({name: {"flag": f"--{name}"} for name in names})
    bench = FakeBench(
        rng=np.random.default_rng(1),
        budget=40.0,
        truth={"cpu": lambda _c: 1.0, "wall": lambda _c: 1.0},
        seconds=seconds,
        noise=noise,
        fails=fails,
    )
    return job_of(subject, bench)


def test_a_budget_that_holds_few_configurations_is_said_to_want_more_time() -> None:
    found = check_flow(job(2.0))
    assert found.count is not None and found.count < 16
    assert found.wanted is not None and found.wanted > 40.0


def test_flags_that_stand_in_no_file_of_the_program_are_told_where_others_do() -> None:
    subject = subject_of(
        {
            "fast": {"flag": "--fast -x"},
            "going": {"flag": {"on": "--keep-going", "off": "--no-keep-going"}},
            "level": {"number": [1, 2], "flag": "--lvel={value}"},
            "check": {"choice": {"none": "", "crc": "--check=crc"}},
            "cache": {"choice": {"small": "--64k", "large": "--huge"}, "env": "CACHE"},
        }
    )
    asked: list[str] = []

    def without(*absent: str) -> Callable[[Collection[str]], Collection[str]]:
        def unmentioned(words: Collection[str]) -> Collection[str]:
            asked[:] = words
            return [word for word in words if word in absent]

        return unmentioned

    notes = check_flow(replace(job(0.01, subject=subject), unmentioned=without("lvel"))).notes
    assert asked == ["fast", "keep-going", "lvel", "check"]
    assert [note for note in notes if "`lvel`" in note and "know `--lvel`?" in note]
    elsewhere = check_flow(replace(job(0.01, subject=subject), unmentioned=without(*asked[:3]))).notes
    assert not any("know `--" in note for note in elsewhere)


def test_a_flag_with_a_number_is_known_where_its_word_stands_without_it() -> None:
    subject = subject_of(
        {
            "ecma": {"choice": {"old": "--ecma5", "new": "--ecma2020"}},
            "check": {"choice": {"a": "--crc32", "b": "--sha512"}},
        }
    )

    def notes(*known: str) -> list[str]:
        checked = check_flow(
            replace(job(0.01, subject=subject), unmentioned=lambda words: set(words) - {*known})
        )
        return [note for note in checked.notes if "know `--" in note]

    assert not notes("ecma", "crc32", "sha512")
    (note,) = notes("ecma", "crc32", "md")
    assert "`--sha512`" in note


def test_a_budget_that_holds_enough_wants_nothing_nor_does_a_small_space() -> None:
    assert check_flow(job(0.01)).wanted is None
    assert check_flow(job(1.0, options=1)).wanted is None


def test_a_program_is_run_again_to_tell_how_far_its_runs_differ() -> None:
    for noise in (0.01, 0.4):
        found = check_flow(job(0.01, noise=noise)).noise
        assert found is not None and found.metric == "cpu" and found.sd_percent is not None
        assert 50 * noise < found.sd_percent < 300 * noise
        assert found.unsteady is (noise > 0.1)


def test_a_program_that_takes_long_is_not_run_again_so_often() -> None:
    some, none = (check_flow(job(seconds)).noise for seconds in (4.0, 10.0))
    assert some is not None and some.pairs == 5
    assert none is None


def test_a_program_that_uses_many_cores_differs_in_the_time_that_passes() -> None:
    program = {"run": "./xz {options}", "parallel": True}
    subject = Subject.model_validate({"program": program, "options": {"a": {"flag": "-a"}}})
    found = check_flow(job(0.01, subject=subject)).noise
    assert found is not None and found.metric == "wall"


def test_each_level_is_tried_by_itself_and_what_fails_is_told_with_its_reason() -> None:
    subject = subject_of({"a": {"flag": "-a"}, "b": {"flag": "-b"}, "n": {"number": [1, 2, 3], "flag": "-n"}})
    found = check_flow(job(0.01, subject=subject, fails=lambda c: "exit" if c[1] else None)).alone
    assert found is not None and (found.tried, found.levels) == (4, 4)  # a, b, n at least 2, n at least 3
    assert [(str(level), reason) for level, reason in found.failed] == [("b", "exit code 3")]


def test_a_level_is_tried_with_what_constraints_make_it_need() -> None:
    program = {"run": "./xz {options}"}
    subject = Subject.model_validate(
        {
            "program": program,
            "options": {"a": {"flag": "-a"}, "b": {"flag": "-b"}},
            "constraints": ["b implies a"],
        }
    )

    def b_without_a(configuration: Configuration) -> Outcome | None:
        return "exit" if configuration == (False, True) else None

    found = check_flow(job(0.01, subject=subject, fails=b_without_a)).alone
    assert found is not None and found.tried == 2 and not found.failed


def test_levels_that_would_take_too_long_are_left_and_counted() -> None:
    found = check_flow(job(8.0)).alone
    assert found is not None and (found.tried, found.levels) == (4, 6)


def test_what_was_cut_off_is_no_failure() -> None:
    found = check_flow(job(0.01, fails=lambda c: "cut" if c[0] else None)).alone
    assert found is not None and not found.failed


def test_some_of_the_sample_are_tried_and_what_only_fails_together_is_told() -> None:
    found = check_flow(job(0.01, fails=lambda c: "exit" if c[0] and c[1] else None)).mixed
    assert found is not None and found.tried >= 12 and 3 <= len(found.failed) < found.tried
    assert all(c[0] and c[1] and reason == "exit code 3" for c, reason in found.failed)
    assert len(found.worked) == 7 + found.tried - len(found.failed)  # the default and six options, too
    assert not any(c[0] and c[1] for c in found.worked)


def test_a_sample_that_was_tried_level_by_level_is_not_tried_again() -> None:
    assert check_flow(job(0.01, options=1)).mixed is None


def test_what_fails_by_itself_does_not_hide_what_fails_together() -> None:
    found = check_flow(job(0.01, fails=lambda c: "exit" if c[5] or (c[0] and c[1]) else None)).mixed
    assert found is not None and len(found.failed) >= 3
    assert all(c[0] and c[1] and not c[5] for c, _ in found.failed)
