"""Resources are told in a line each where they explain the change, and by raw counts everywhere."""

from __future__ import annotations

import math

import pytest

from bot.model.report import Report
from bot.model.report_resources import ResourceCount
from bot.report.headline import headline
from bot.report.parts import Section, Table
from bot.report.render import comment, page
from bot.report.view import view
from tests.unit.report.builders import regression
from tests.unit.report.resource_reports import FAULTS, STILL, counted, of_faults, unexplained, untimed


def lead(report: Report) -> list[str]:
    return [str(sentence) for sentence in headline(report).lead]


def section(report: Report, rows: int = 20) -> Section:
    (found,) = [s for s in view(report, rows=rows).sections if s.key == "resources"]
    return found


def counts(found: Section) -> list[list[str]]:
    tables = [block for block in found.blocks if isinstance(block, Table)]
    return [[str(row[0]) for row in table.rows] for table in tables]


def test_a_named_feature_has_one_line_with_its_counts_and_its_part_of_the_time() -> None:
    assert "Page faults 1,204 → 9,870, about +4.3 ms of +5.1 ms a run." in lead(of_faults())


def test_a_feature_that_explains_little_is_not_told_above_the_fold_and_the_section_says_so() -> None:
    assert not any("faults" in sentence for sentence in lead(unexplained()))
    found = section(unexplained())
    assert not found.open and found.title == "Resources: what was counted does not explain the change"
    assert "4.8 % of it. The rest is no count: memory bandwidth" in str(found.blocks[0])


def test_counts_that_explain_nothing_are_not_told_as_zero_percent() -> None:
    for one, told in (
        (counted(FAULTS, explained=0.0004), "what moved explains none of it."),
        (counted(*STILL, explained=0.0), "nothing that was counted moved."),
        (
            counted(FAULTS.model_copy(update={"moved": False}), explained=0.0),
            "nothing that was counted surely moved.",
        ),
    ):
        found = section(unexplained().model_copy(update={"resources": (one,)}))
        assert told in str(found.blocks[0]) and "0 %" not in str(found.blocks[0])


@pytest.mark.parametrize(
    ("base", "head", "told"), [(2.0, 2.0, ("2", "0.0 %")), (2.5, 1.5, ("2.5 → 1.5", "-40 %"))]
)
def test_counts_that_round_to_the_same_are_not_one_number_beside_a_change(
    base: float, head: float, told: tuple[str, str]
) -> None:
    still = STILL[0].model_copy(update={"base": base, "head": head})
    found = section(unexplained().model_copy(update={"resources": (counted(still, explained=0.0),)}))
    (table,) = [block for block in found.blocks if isinstance(block, Table)]
    assert tuple(map(str, table.rows[0][1:3])) == told


def test_a_rest_that_could_not_be_counted_is_not_said_to_be_something_else() -> None:
    whole = unexplained()
    partly = whole.resources[0].model_copy(update={"complete": False})
    found = section(whole.model_copy(update={"resources": (partly,)}))
    assert found.title == "Resources: not all could be counted"
    assert "bandwidth" not in str(found.blocks[0])


def test_counts_without_a_time_effect_are_folded_and_cost_nothing() -> None:
    found = section(untimed())
    assert not found.open and "without a time effect" in str(found.blocks[0])
    assert not any("faults" in sentence for sentence in lead(untimed()))


def test_what_moved_comes_first_and_what_never_happened_is_left_out() -> None:
    (shown,) = counts(section(of_faults()))
    assert shown == ["page faults", "file system calls", "instructions", "mispredicted branches"]


def test_a_comment_has_the_first_configuration_and_a_page_all() -> None:
    assert len(counts(section(of_faults()))) == 1
    assert len(counts(section(of_faults(), rows=1000))) == 2
    assert "file system calls" in page(of_faults())


def test_a_run_that_counted_nothing_has_no_section() -> None:
    assert all(s.key != "resources" for s in view(regression(resources=(counted(),))).sections)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0, 1e308])
def test_figures_that_are_none_break_nothing(bad: float) -> None:
    hostile = ResourceCount(
        count="page_faults", feature="vm", base=bad, head=bad, estimated_seconds=bad, moved=True
    )
    found = regression(resources=(counted(hostile, FAULTS, change_seconds=bad, explained=bad),))
    assert "Resources" in comment(found) and len(comment(found)) < 20_000
