"""The methods behind a flagged configuration are named, or the report says why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bot.flows.history.experience import Memory
from bot.flows.methods import suspects
from bot.flows.methods.proof import Proof, prove
from bot.flows.ports import Bench
from bot.flows.pull_request import pull_request
from bot.flows.run.job import Job
from bot.model.profiles import Method
from bot.model.report import ConfigurationChange, Report
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import Side
from tests.fakes import FakeBench, FakeProfiles, job_of
from tests.flows.nights import MemoryStore
from tests.profiled import BEGAN, SUBJECT, drawn, night

NAMES = ["extreme", "check", "sparse", "verbose"]
Costs = Callable[[Side, Configuration], Mapping[str, float]]


def slower(configuration: Configuration) -> float:
    return 1.2 if configuration[0] else 1.0


def find_is_slower(side: Side, configuration: Configuration) -> Mapping[str, float]:
    """A fifth of the program, where `extreme` is on, is new in `find`."""
    more = 0.2 if side == "head" and configuration[0] else 0.0
    return {"find": 0.3 + more, "write": 0.5, "read": 0.2}


def job(
    costs: Costs = find_is_slower, *, truth: Callable[[Configuration], float] = slower, **more: Any
) -> tuple[Job, FakeProfiles]:
    options = {name: {"flag": f"--{name}"} for name in NAMES}
    subject = Subject.model_validate({"program": {"run": "./xz {options}"}, "options": options})
    bench = FakeBench(np.random.default_rng(1), budget=60.0, truth={"cpu": truth})
    profiles = FakeProfiles(bench, costs, **more)
    return replace(job_of(subject, bench), open_profiles=lambda: profiles), profiles


def named(report: Report) -> list[str]:
    return [suspect.method for suspect in report.suspects.methods]


def test_the_guilty_method_is_named_with_its_share_and_place() -> None:
    made, _ = job()
    report = pull_request(made)
    (suspect,) = report.suspects.methods
    assert (suspect.method, suspect.file, suspect.line, suspect.change) == ("find", "find.py", 1, "slower")
    assert suspect.share_of_change == pytest.approx(1.0, abs=0.15)
    assert suspect.options["extreme"] is True
    flagged, control = report.profiles
    assert (flagged.control, control.control) == (False, True)
    assert control.options["extreme"] is False
    assert flagged.unexplained == pytest.approx(1.0 - suspect.share_of_change)
    assert {node.method for node in flagged.flame} == {"find", "write", "read"}


@pytest.mark.parametrize(("runtime", "said"), [("python", "called"), ("native", "perhaps inlined")])
def test_a_method_that_is_called_at_one_side_only_is_known_to_stand_at_both(runtime: str, said: str) -> None:
    def another(side: Side, configuration: Configuration) -> Mapping[str, float]:
        slow = side == "head" and configuration[0]
        return {"write": 0.5, "read": 0.2, **({"careful": 0.5} if slow else {"quick": 0.3})}

    made, _ = job(another, text="def careful(): return 1")
    made = replace(made, subject=with_runtime(made.subject, runtime))
    assert {s.method: s.stands for s in pull_request(made).suspects.methods}["careful"] == said
    made, _ = job(another)
    assert {s.stands for s in pull_request(made).suspects.methods} == {""}


def with_runtime(subject: Subject, runtime: str) -> Subject:
    return subject.model_copy(update={"program": subject.program.model_copy(update={"runtime": runtime})})


def test_nothing_is_profiled_when_nothing_changed() -> None:
    made, profiles = job(truth=lambda _c: 1.0)
    report = pull_request(made)
    assert not profiles.asked and not report.profiles and not named(report)


def test_profiles_take_at_most_a_third_of_the_budget_and_the_budget_holds() -> None:
    made, profiles = job(takes=7.0)
    report = pull_request(made)
    assert 0 < len(profiles.asked) * 7.0 <= 20.0
    assert report.spent.seconds <= 60.0


def test_a_profile_that_takes_too_long_is_said_and_nothing_is_named() -> None:
    made, _ = job(takes=50.0)
    report = pull_request(made)
    assert not named(report)
    assert any("was not finished" in note for note in report.notes)
    assert any("A larger --budget" in note for note in report.notes)


def test_a_missing_profiler_is_said_and_nothing_is_profiled() -> None:
    made, profiles = job(lacking=("`valgrind` is not installed.",))
    report = pull_request(made)
    assert not profiles.asked
    assert {"`valgrind` is not installed.", "Methods were not profiled."} <= set(report.notes)


def test_a_program_that_crashes_under_the_profiler_is_said_once_and_not_tried_again() -> None:
    made, profiles = job(outcome="signal")
    report = pull_request(made)
    assert not named(report)
    assert len(profiles.asked) == 2  # the flagged configuration, and the control
    assert any("failed under fake" in note for note in report.notes)


def test_what_only_the_profile_of_the_control_lacks_is_told_as_its_own() -> None:
    def lacks(configuration: Configuration) -> tuple[str, ...]:
        both = "Only 7 samples."
        return (both,) if configuration[0] else (both, "Calls are not counted.")

    made, _ = job(notes=lacks)
    notes = pull_request(made).notes
    assert {"Only 7 samples.", "Of the control's profile: Calls are not counted."} <= set(notes)
    assert not {"Of the control's profile: Only 7 samples.", "Calls are not counted."} & set(notes)


def test_a_subject_without_methods_is_decided_as_before() -> None:
    made, _ = job()
    report = pull_request(replace(made, open_profiles=None))
    assert report.verdict == "regression" and not named(report)


def test_each_term_has_a_configuration_of_its_own() -> None:
    def both(side: Side, configuration: Configuration) -> Mapping[str, float]:
        head = side == "head"
        return {
            "find": 0.3 + 0.2 * (head and bool(configuration[0])),
            "pack": 0.3 + 0.3 * (head and bool(configuration[1])),
            "write": 0.4,
        }

    made, _ = job(both, truth=lambda c: (1.2 if c[0] else 1.0) * (1.3 if c[1] else 1.0))
    report = pull_request(made)
    assert set(named(report)) == {"find", "pack"}


def under_two_options(configuration: Configuration) -> float:
    return 1.1 if configuration[0] and configuration[1] else 1.0


def busy(truth: Callable[[Configuration], float], *, seed: int = 5) -> tuple[Job, FakeProfiles]:
    """A hundred noisy pairs of 16 configurations, and profiles that take five seconds, in five minutes."""
    options = {f"o{number}": {"flag": f"--o{number}"} for number in range(10)}
    subject = Subject.model_validate({"program": {"run": "./xz {options}"}, "options": options})
    rng = np.random.default_rng(seed)
    bench = FakeBench(rng, budget=300.0, truth={"cpu": truth}, seconds=2.6, noise=0.05)

    def costs(side: Side, configuration: Configuration) -> Mapping[str, float]:
        more = truth(configuration) - 1.0 if side == "head" else 0.0
        return {"find": 0.3 + more, "write": 0.5, "read": 0.2}

    profiles = FakeProfiles(bench, costs, takes=5.0)
    made = replace(job_of(subject, bench), open_profiles=lambda: profiles, rng=np.random.default_rng(seed))
    return made, profiles


def test_a_change_that_few_configurations_show_leaves_time_for_methods_and_a_control() -> None:
    made, profiles = busy(under_two_options)
    report = pull_request(made)
    assert named(report) == ["find"]
    assert [profile.control for profile in report.profiles] == [False, True]
    assert len(profiles.asked) >= 8
    assert report.spent.seconds <= 300.0


def test_with_little_time_left_one_flagged_configuration_is_profiled_which_is_said() -> None:
    made, _ = busy(under_two_options, seed=3)
    report = pull_request(made)
    assert named(report) == ["find"]
    assert len([profile for profile in report.profiles if not profile.control]) == 1
    assert suspects.SHORT in report.notes


def test_pairs_have_all_the_time_where_nothing_is_to_be_explained() -> None:
    made, profiles = busy(lambda _configuration: 1.0)
    other, _ = busy(lambda _configuration: 1.0)
    report = pull_request(made)
    assert report.spent.pairs == pull_request(replace(other, open_profiles=None)).spent.pairs
    assert not profiles.asked


def test_the_terms_that_drive_a_method_come_from_the_nights() -> None:
    def costs(side: Side, configuration: Configuration) -> Mapping[str, float]:
        fancy = 0.3 if side == "head" else 0.2
        return {"shop:main": 0.6, "shop.ui:draw": fancy if configuration[1] else 0.0}

    store = MemoryStore()
    store.append_profiles(night(0, drawn(60), noise=0.02))
    memory = Memory(store, lambda: [], BEGAN)
    bench = FakeBench(np.random.default_rng(1), budget=60.0, truth={"cpu": lambda c: 1.2 if c[1] else 1.0})
    profiles = FakeProfiles(bench, costs)
    made = replace(job_of(SUBJECT, bench), open_profiles=lambda: profiles, memory=memory)
    (suspect,) = pull_request(made).suspects.methods
    assert (suspect.method, suspect.terms) == ("shop.ui:draw", (("fancy",),))


def test_shares_and_the_unexplained_rest_sum_to_one_however_many_methods_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(suspects, "METHODS", 4)

    def costs(side: Side, configuration: Configuration) -> Mapping[str, float]:
        more = 0.02 if side == "head" and configuration[0] else 0.0
        return {f"part{number}": 0.1 + more * number / 7 for number in range(14)} | {"rest": 2.0}

    made, _ = job(costs, truth=lambda c: 1.0765 if c[0] else 1.0)
    report = pull_request(made)
    assert len(named(report)) == 4
    rest = report.profiles[0].unexplained
    assert rest is not None and rest > 0.1
    assert sum(s.share_of_change for s in report.suspects.methods) + rest == pytest.approx(1.0)


class Proving:
    """Reverting `find` restores `share` of the change."""

    def __init__(self, share: float, *, budget: float = 10.0) -> None:
        self.share, self.budget = share, budget
        self.asked: list[tuple[Method, float]] = []

    def __call__(self, method: Method, seconds: float) -> tuple[Bench | None, str]:
        self.asked.append((method, seconds))
        ratio = 1.2**self.share
        truth = {"cpu": lambda _c: ratio}
        return FakeBench(np.random.default_rng(2), budget=self.budget, truth=truth), ""


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_reverting_the_method_proves_its_share(share: float) -> None:
    made, _ = job()
    proving = Proving(share)
    report = pull_request(replace(made, open_reverted=proving))
    (suspect,) = report.suspects.methods
    assert suspect.restored == pytest.approx(share, abs=0.12)
    assert suspect.restored_interval is not None
    assert suspect.restored_interval[0] < share < suspect.restored_interval[1]
    ((method, seconds),) = proving.asked
    assert method == Method("find", "find.py") and 0 < seconds <= 20.0


def test_of_a_method_whose_text_is_the_same_there_is_nothing_to_revert() -> None:
    made, _ = job(text="int find(void) { return 1; }")
    proving = Proving(1.0)
    report = pull_request(replace(made, open_reverted=proving))
    (suspect,) = report.suspects.methods
    assert (suspect.method, suspect.same_text, suspect.restored) == ("find", True, None)
    assert not proving.asked


@pytest.mark.parametrize("note", ["It does not build.", ""])
def test_a_revert_that_is_not_possible_proves_nothing(note: str) -> None:
    made, _ = job()
    report = pull_request(replace(made, open_reverted=lambda _method, _seconds: (None, note)))
    (suspect,) = report.suspects.methods
    assert suspect.restored is None
    assert (note in report.notes) == bool(note)


def known_from(interval: tuple[float, float]) -> Proof:
    """The proof of a method whose revert restores all of a change of 20 %, of which this is known."""
    made, _ = job()
    configuration = made.subject.space.default
    change = ConfigurationChange(
        options=made.subject.space.as_dict(configuration),
        metric="cpu",
        ratio=1.2,
        interval=interval,
        pairs=1,
        state="slower",
    )
    reverted = replace(made, open_reverted=Proving(1.0))
    return prove(reverted, Method("find", "find.py"), configuration, change=change, seconds=20.0)


def test_what_a_revert_restores_is_known_no_better_than_the_change_itself() -> None:
    vague, exact = known_from((1.12, 1.29)), known_from((1.199, 1.201))
    assert vague.interval is not None and exact.interval is not None
    assert exact.restored == pytest.approx(vague.restored)
    width = [high - low for low, high in (vague.interval, exact.interval)]
    assert width[0] > 0.7 > 3 * width[1]


def test_of_a_change_that_is_hardly_known_no_share_is_told_to_be_restored() -> None:
    proof = known_from((1.02, 1.40))
    assert proof.restored is None
    assert "larger --budget" in proof.note


def test_a_revert_without_time_for_pairs_proves_nothing_and_is_said() -> None:
    made, _ = job()
    report = pull_request(replace(made, open_reverted=Proving(1.0, budget=0.15)))
    assert report.suspects.methods[0].restored is None
    assert any("no time to measure head without" in note for note in report.notes)
