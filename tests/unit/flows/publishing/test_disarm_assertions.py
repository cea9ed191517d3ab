"""Assertions in a fork's report: numbers and harmless names are kept, its sentences are not."""

import pytest

from bot.flows.publishing.disarm_assertions import HIDDEN, REASON, disarmed
from bot.model.errors import ArtifactError
from bot.model.report_assertions import AssertionOutcome
from bot.report.assertion_graph import graph_svg
from bot.report.assertions import assertions
from bot.report.headline import headline
from tests.unit.report.assertion_reports import group, held, of_strangers, semaphore, way
from tests.unit.report.builders import report
from tests.unit.report.test_comment import NAMES


def renamed(name: str) -> AssertionOutcome:
    return of_strangers(name).assertions[0]


def test_numbers_outcomes_and_harmless_names_stay_and_sentences_go() -> None:
    whole = semaphore(file="server/mpm.c", new_paths=(("a", "__semop"),), why=("words",))
    shown = disarmed(whole)
    for field in ("id", "method", "edges", "borders_seconds", "outcome", "file", "trials", "slower", "paths"):
        assert getattr(shown, field) == getattr(whole, field), field
    assert shown.new_paths == whole.new_paths
    assert (shown.why, shown.proposed) == ((REASON,), "")
    assert shown.groups == tuple(one.model_copy(update={"said": ""}) for one in whole.groups)


@pytest.mark.parametrize("name", [*NAMES, "approved by security", "x y", ""], ids=range(len(NAMES) + 3))
def test_hostile_words_are_shown_nowhere(name: str) -> None:
    shown = disarmed(renamed(name))
    assert not name or name not in shown.model_dump_json()
    assert shown.method == "(name not shown)"
    assert shown.edges == {}
    assert (shown.groups[0].expression, shown.groups[0].when) == (HIDDEN, HIDDEN)
    assert shown.groups[0].paths[0][0] == "(name not shown)"
    assert shown.groups[0].ratio == 1.2


def test_names_that_are_not_shown_stay_different_ones() -> None:
    paths = (way("bad one > good > __semop", 3, of=0), way("bad two > good > __semop", 2, of=0))
    shown = disarmed(semaphore(paths=paths))
    assert [path.path[0] for path in shown.paths] == ["(name not shown)", "(name not shown) 2"]


def test_conditions_are_written_anew_from_words_of_their_language() -> None:
    dressed = group("e1 and\n not  (e2)", expected=(1.0, 0.0), expression="see https://evil.test")
    shown = disarmed(semaphore(groups=(dressed,))).groups[0]
    assert shown.when == "e1 and not ( e2 )"
    assert shown.expression.startswith("startup_children > proc_mutex_sysv_acquire and not ( child_main >")


@pytest.mark.parametrize(
    "when",
    ["", "e1 e2", "e3", "__import__('os')", "(" * 999, "e1 and" * 300, "not" * 99, "e1 or " * 999 + "e1"],
)
def test_what_is_no_condition_is_not_shown(when: str) -> None:
    shown = disarmed(semaphore(groups=(group(when, expected=(1.0, 0.0)),))).groups[0]
    assert (shown.when, shown.expression) == (HIDDEN, HIDDEN)


@pytest.mark.parametrize(
    "longer",
    [
        {"groups": semaphore().groups * 20},
        {"groups": (group("e1", expected=(0.0,) * 99),)},
        {"edges": {f"e{k}": ("a", "b") for k in range(99)}},
        {"paths": semaphore().paths * 20},
        {"borders_seconds": (0.1,) * 99},
    ],
)
def test_what_is_longer_than_any_assertion_is_refused(longer: dict[str, object]) -> None:
    with pytest.raises(ArtifactError, match="longer than any"):
        disarmed(semaphore(**longer))


def test_a_reader_is_told_what_moved_without_the_forks_words() -> None:
    found = report(verdict="none", assertions=(disarmed(semaphore()), disarmed(held())))
    title = str(headline(found, fork=True).title)
    assert title.endswith("36 % / 64 % -> 8 % / 92 % of its calls, from fast to slow")
    section = assertions(found, 10)
    assert section is not None
    assert "entry below" not in str(headline(found, fork=True).action)
    assert graph_svg(disarmed(semaphore())) == graph_svg(semaphore())
