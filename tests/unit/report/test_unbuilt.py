"""What a person is told to do where nothing could be built."""

from __future__ import annotations

import pytest

from bot.model.report import BuildFailure
from bot.report import unbuilt
from bot.report.media import markdown
from bot.report.suspects import logs
from tests.unit.report import builders
from tests.unit.report.ranges import builders as ranges

FULL = BuildFailure(
    side="head",
    step="checkout",
    reason="The checkout of head could not be completed: No space left on device (0 MiB are free in /x).",
    log="",
)


@pytest.mark.parametrize(
    ("sides", "action"),
    [
        (("base",), "base is the code before this pull request: repair `build` there."),
        (("head",), "repair what this pull request broke in `build`; the log is below."),
        (("base", "head"), "check `build` in `.github/suspects.yml`; the logs are below."),
    ],
)
def test_whose_build_failed_decides_what_to_do(sides: tuple[str, ...], action: str) -> None:
    told = unbuilt.of_pull_request(builders.unbuilt(*sides))
    assert told.tone == "broken" and markdown(told.action or "") == action


def test_a_full_disk_is_nobodys_code_to_repair() -> None:
    report = builders.unbuilt("head").model_copy(update={"build_failures": (FULL,)})
    remedy = "make room for its files, and run again: nobody's command has run."
    for told in (unbuilt.of_pull_request(report), unbuilt.of_range(FULL)):
        assert "No space left on device" in markdown(told.lead[0])
        assert markdown(told.action or "") == remedy


def test_a_workload_that_no_side_has_is_no_failed_build() -> None:
    failures = [
        BuildFailure(side=side, step="workloads", reason=f"Workload text: there is no a.txt at {side}.")
        for side in ("base", "head")
    ]
    report = builders.unbuilt("base", "head").model_copy(update={"build_failures": tuple(failures)})
    told = unbuilt.of_pull_request(report)
    assert markdown(told.title) == "Nothing was measured: there is no workload"
    assert [markdown(line) for line in told.lead] == [
        "Base (`v5.16.6`): Workload text: there is no a.txt at base.",
        "Head (`pull request 1347`): Workload text: there is no a.txt at head.",
    ]
    assert markdown(told.action or "").startswith("commit it where `workloads` says, or mend that; `suspects")
    assert logs(report) is None
    ranged = unbuilt.of_range(failures[0])
    assert ranged.title == told.title and markdown(ranged.lead[0]) == str(failures[0].reason)
    assert markdown(ranged.action or "").endswith("or let the range end at a revision that has it.")


def test_a_range_without_a_build_names_the_step_to_check() -> None:
    (failure,) = ranges.unbuilt().build_failures
    told = markdown(unbuilt.of_range(failure).action or "")
    assert told == "check `build` in `.github/suspects.yml`; the log is below."
