"""A pull request that reads a history: what it expects, what it says, and what cannot go wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np
import pytest

from bot.flows.history.accepting import Accepted
from bot.flows.history.experience import NO_HISTORY, Memory, recall
from bot.flows.ports import Solver
from bot.flows.pull_request import pull_request, rules
from bot.flows.run.job import Job
from bot.model.accepted import AcceptedChange
from bot.model.duration_history import DurationTable
from bot.model.errors import HistoryError
from bot.model.history import EVERYTHING, Measurements, Segment, Selection, program_fingerprint
from bot.model.machines import FingerprintTable
from bot.model.profile_history import ProfileTable
from bot.model.recording import Recorder
from bot.model.report import Environment
from bot.model.space import Term
from bot.model.trials import Trial
from bot.sampling.probation import in_order
from tests.fakes import FakeBench, RecordingProgress, job_of
from tests.flows.test_pull_request import bench, subject
from tests.unit.analysis.pasts import FIRST, nights, record, revision
from tests.unit.analysis.worlds import sample

SUBJECT = subject()
SPACE = SUBJECT.space
PROGRAM = program_fingerprint(SUBJECT)
OFTEN: Mapping[int, tuple[Term, float]] = {at: (("extreme",), 0.06 * (-1) ** at) for at in range(1, 9)}


@dataclass
class FakeStore:
    """A history in memory; `broken`: it cannot be read."""

    parts: Sequence[Measurements] = ()
    broken: bool = False
    source: str | None = "directory"
    asked: list[Selection] = field(default_factory=list)

    def append(self, run: Measurements) -> str:
        raise AssertionError("a pull request never writes")

    def append_profiles(self, profiles: ProfileTable) -> str:
        raise AssertionError("a pull request never writes")

    def profiles(self, wanted: Selection = EVERYTHING) -> Iterator[ProfileTable]:
        return iter(())

    def append_durations(self, durations: DurationTable) -> str:
        raise AssertionError("a pull request never writes")

    def durations(self, wanted: Selection = EVERYTHING) -> Iterator[DurationTable]:
        return iter(())

    def append_fingerprints(self, fingerprints: FingerprintTable) -> str:
        raise AssertionError("a pull request never writes")

    def fingerprints(self, wanted: Selection = EVERYTHING) -> Iterator[FingerprintTable]:
        return iter(())

    def segments(self) -> Sequence[Segment]:
        raise AssertionError("not asked for")

    def scan(self, wanted: Selection = EVERYTHING) -> Iterator[Measurements]:
        self.asked.append(wanted)
        if self.broken:
            raise HistoryError("the branch suspects-history is out of reach")
        for part in reversed(self.parts):
            if part.runs[0].program == wanted.program:
                yield part

    def read(self, wanted: Selection = EVERYTHING) -> Measurements:
        return Measurements.concatenated(list(self.scan(wanted)))

    def notes(self) -> Sequence[str]:
        return () if self.parts else ("History is empty: nothing is stored in directory h.",)


def past(
    changes: Mapping[int, tuple[Term, float]], *, count: int = 10, program: str = PROGRAM
) -> Measurements:
    rng = np.random.default_rng(1)
    return nights(SPACE, sample(SPACE, 24, rng), changes, count=count, rng=rng, program=program)


def remembering(store: FakeStore, run: FakeBench, *, line: int = 11) -> Job:
    ids = [revision(place).revision for place in range(line)]
    return replace(job_of(SUBJECT, run), memory=Memory(store, lambda: ids, FIRST))


def slower_with_extreme(configuration: tuple[object, ...]) -> float:
    return 1.03 if configuration[0] else 1.0


def test_the_report_tells_prior_and_posterior_and_where_the_history_came_from() -> None:
    store = FakeStore([past(OFTEN)])
    report = pull_request(remembering(store, bench(truth={"cpu": slower_with_extreme})))
    found = report.suspects.options[0]
    assert found.term == ("extreme",)
    assert found.prior is not None and 0.01 < found.prior < 0.3 < 0.9 < found.probability
    assert all(effect.prior is not None for effect in report.effects)
    assert report.history.source == "directory" and report.history.measurements == len(past(OFTEN))
    assert report.history.newest is not None and report.history.age_days is not None
    assert NO_HISTORY not in report.notes
    assert store.asked[0].metrics == frozenset(rule.name for rule in rules(SUBJECT))


def test_what_history_expects_is_likelier_before_and_after_the_run() -> None:
    def told(changes: Mapping[int, tuple[Term, float]]) -> tuple[float, float]:
        run = bench(truth={"cpu": slower_with_extreme}, budget=14.0, noise=0.02)
        report = pull_request(remembering(FakeStore([past(changes)]), run))
        effect = next(iter(e for e in report.effects if e.term == ("extreme",)), None)
        return (effect.prior or 0.0, effect.probability) if effect else (0.0, 0.0)

    elsewhere: Mapping[int, tuple[Term, float]] = {at: (("keep",), size) for at, (_, size) in OFTEN.items()}
    assert told(OFTEN)[0] > 3 * told(elsewhere)[0]
    assert told(OFTEN)[1] >= told(elsewhere)[1]


def test_a_misleading_history_raises_no_alarm_on_an_unchanged_program() -> None:
    for seed in range(8):
        run = bench(rng=np.random.default_rng(seed), noise=0.02)
        assert pull_request(remembering(FakeStore([past(OFTEN)]), run)).verdict == "none"


def test_a_base_that_history_knows_to_be_worse_is_said_so_until_somebody_undoes_it() -> None:
    def notes(changes: Mapping[int, tuple[Term, float]], line: int = 11) -> str:
        return "\n".join(pull_request(remembering(FakeStore([past(changes)]), bench(), line=line)).notes)

    said = notes({4: (("check",), 0.06)})
    assert "base is 6." in said or "base is 5." in said
    assert "worse in cpu (check) since `v4`" in said
    assert "base is" not in notes({4: (("check",), 0.06), 7: (("check",), -0.06)})
    assert "base is" not in notes({4: (("check",), 0.06)}, line=4)  # base is older than that


def test_a_commit_that_no_run_measured_is_told_by_its_short_id() -> None:
    ids = [revision(place).revision for place in range(11)]
    ids.insert(4, "c" * 40)
    memory = Memory(FakeStore([past({4: (("check",), 0.06)})]), lambda: ids, FIRST)
    notes = pull_request(replace(job_of(SUBJECT, bench()), memory=memory)).notes
    assert any("(check) since one of `cccccccccc` to `v4`" in note for note in notes)


def test_an_accepted_slow_down_of_base_is_its_new_level() -> None:
    job = remembering(FakeStore([past({4: (("check",), 0.06)})]), bench())
    entry = AcceptedChange(term="check", metric="cpu", until=date(2099, 1, 1))
    for until, said in ((date(2099, 1, 1), False), (date(2020, 1, 1), True)):
        accepted = Accepted(date(2026, 1, 1), (entry.model_copy(update={"until": until}),))
        notes = pull_request(replace(job, accepted=accepted)).notes
        assert any("base is" in note for note in notes) is said


def test_an_empty_history_and_one_of_another_program_are_told() -> None:
    empty = pull_request(remembering(FakeStore(source=None), bench()))
    assert "History is empty: nothing is stored in directory h." in empty.notes and NO_HISTORY in empty.notes
    assert empty.history.source is None and all(effect.prior is None for effect in empty.effects)
    other = pull_request(remembering(FakeStore([past(OFTEN, program="another")]), bench()))
    assert "The history (directory) has no measurement of this program." in other.notes
    assert NO_HISTORY in other.notes


def test_a_history_out_of_reach_is_a_note_and_the_run_goes_on() -> None:
    report = pull_request(remembering(FakeStore([past(OFTEN)], broken=True), bench()))
    assert "the branch suspects-history is out of reach." in report.notes and NO_HISTORY in report.notes
    assert report.verdict == "none"


def test_a_history_of_revisions_that_are_not_in_bases_line_only_teaches_noise() -> None:
    known = recall(Memory(FakeStore([past(OFTEN)]), lambda: ["x"], FIRST), SUBJECT, rules(SUBJECT), solver())
    assert known.experience is not None
    assert not known.experience.metrics["cpu"].changes and len(known.experience.metrics["cpu"].noise) == 24
    assert any("base's line" in note for note in known.notes)


def solver() -> Solver:
    return job_of(SUBJECT, bench()).solver


def test_what_never_worked_is_tried_last_and_the_default_first() -> None:
    recorder = Recorder()
    chosen = sample(SPACE, 6, np.random.default_rng(1))
    for configuration, times in ((chosen[0], 3), (chosen[2], 3), (chosen[3], 1)):
        for _ in range(times):
            recorder.trial(Trial("timeout"), revision(0), SPACE.as_dict(configuration))
    for configuration in sample(SPACE, 30, np.random.default_rng(2)):
        if configuration not in chosen:
            recorder.trial(Trial("ok", {"cpu": 1.0}, exit_code=0), revision(0), SPACE.as_dict(configuration))
    memory = Memory(FakeStore([recorder.measurements(record(SPACE, 0, program=PROGRAM))]), list, FIRST)
    known = recall(memory, SUBJECT, rules(SUBJECT), solver())
    order = list(in_order(chosen, known.doubted(chosen), lambda _c: False))
    assert order == [c for c in chosen if c != chosen[2]] + [chosen[2]]


def test_an_option_that_failed_in_all_nights_and_works_now_is_measured() -> None:
    recorder = Recorder()
    for configuration in sample(SPACE, 40, np.random.default_rng(2)):
        trial = Trial("timeout") if configuration[0] else Trial("ok", {"cpu": 1.0}, exit_code=0)
        for _ in range(3):
            recorder.trial(trial, revision(0), SPACE.as_dict(configuration))
    store = FakeStore([recorder.measurements(record(SPACE, 0, program=PROGRAM))])
    report = pull_request(remembering(store, bench(truth={"cpu": slower_with_extreme})))
    assert [effect.term for effect in report.suspects.options] == [("extreme",)]


@pytest.mark.parametrize(("cpu", "told"), [("another", True), ("fake", False), ("", False)])
def test_another_machine_than_the_historys_is_named(cpu: str, told: bool) -> None:
    measured = past({})
    newest = measured.runs[-1].model_copy(update={"environment": Environment(cpu=cpu)})
    changed = replace(measured, runs=(*measured.runs[:-1], newest))
    notes = pull_request(remembering(FakeStore([changed]), bench())).notes
    assert any("The environment is another one" in note for note in notes) == told


def test_without_a_history_the_stage_of_reading_is_not_shown() -> None:
    job = job_of(SUBJECT, bench())
    pull_request(job)
    assert isinstance(job.progress, RecordingProgress) and "reading the history" not in job.progress.stages


def answers(changes: Mapping[int, tuple[Term, float]], now: float) -> list[str]:
    """What a pull request that multiplies the time of `check` is told of history."""
    run = bench(truth={"cpu": lambda c: now if c[SPACE.index["check"]] else 1.0})
    notes = pull_request(remembering(FakeStore([past(changes)]), run)).notes
    return [n for n in notes if "this pull request" in n]


def test_a_pull_request_that_undoes_what_history_knows_is_told_so() -> None:
    slower: Mapping[int, tuple[Term, float]] = {4: (("check",), 0.1)}
    (whole,) = answers(slower, 0.905)
    assert "takes back what made base" in whole and "worse in cpu (check) since `v4`" in whole
    (part,) = answers(slower, 0.95)
    assert "takes back a part of what made base" in part


def test_a_slow_down_on_top_of_a_known_one_is_told_as_a_further_one() -> None:
    (told,) = answers({4: (("check",), 0.1)}, 1.08)
    assert "since `v4` already; what this pull request adds comes on top" in told


@pytest.mark.parametrize(("changes", "verdict"), [({4: (("check",), 0.1)}, "regression"), ({}, "none")])
def test_a_slow_down_on_top_of_an_accepted_one_is_not_accepted(
    changes: Mapping[int, tuple[Term, float]], verdict: str
) -> None:
    run = bench(truth={"cpu": lambda c: 1.08 if c[SPACE.index["check"]] else 1.0})
    entry = AcceptedChange(term="check", metric="cpu", at_most="14%", until=date(2099, 1, 1))
    job = replace(remembering(FakeStore([past(changes)]), run), accepted=Accepted(date(2026, 1, 1), (entry,)))
    assert pull_request(job).verdict == verdict


def test_a_pull_request_that_does_again_what_was_undone_is_told_so() -> None:
    (told,) = answers({4: (("check",), 0.1), 7: (("check",), -0.1)}, 1.1)
    assert "since `v4`, until `v7` took that back; this pull request makes it worse there again" in told


def test_every_term_in_which_base_is_worse_is_named() -> None:
    changes: Mapping[int, tuple[Term, float]] = {
        at: ((name,), 0.06 + 0.02 * at) for at, name in zip((2, 4, 6, 8), SPACE.names[:4], strict=True)
    }
    notes = "\n".join(pull_request(remembering(FakeStore([past(changes)]), bench())).notes)
    assert notes.count("base is") == 4
    assert all(term[0] in notes for term, _ in changes.values())


@pytest.mark.parametrize(("line", "said"), [(11, False), (80, True)])
def test_a_history_that_ends_long_before_base_says_so(line: int, said: bool) -> None:
    job = remembering(FakeStore([past({4: (("check",), 0.06)})]), bench(), line=line)
    notes = pull_request(job).notes
    assert (
        "History ends at `v10`, 69 revisions before base: what changed since is not known." in notes
    ) is said
