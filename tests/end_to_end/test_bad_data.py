"""Tables and callables with mistakes: one line with the place; odd but valid ones are decided."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from tests.end_to_end.builders import Ended, Place

ROWS = ["commit,a,b,perf", "0,0,0,1.0", "0,1,0,1.1", "0,0,1,1.2", "1,0,0,1.0", "1,1,0,1.1", "1,0,1,1.2"]
GOOD = """\
import numpy as np
RNG = np.random.default_rng(1)
def seconds(revision, configurations):
    base = 1.0 + 0.2 * configurations[:, 0]
    if revision == 4:
        base = base * (1 + 0.3 * configurations[:, 1])
    return base * np.exp(RNG.normal(0, 0.005, len(configurations)))
"""


def table(place: Place, rows: Sequence[str], *arguments: str, base: str = "0", head: str = "1") -> Ended:
    """`pr` on a table."""
    (place.out / "perf.csv").write_text("\n".join(rows) + "\n")
    program = {"table": "perf.csv", "revision": "commit", "metric": "perf"}
    return simulated(place, program, *arguments, base=base, head=head)


def function(place: Place, code: str, *arguments: str, base: str = "3", head: str = "4") -> Ended:
    """`pr` on a callable."""
    (place.out / "model.py").write_text(code)
    return simulated(place, {"callable": "model:seconds", "revisions": 5}, *arguments, base=base, head=head)


def simulated(place: Place, program: Mapping[str, object], *arguments: str, base: str, head: str) -> Ended:
    options = {"a": {"flag": "-a"}, "b": {"flag": "-b"}}
    path = place.out / "suspects.yml"
    path.write_text(json.dumps({"program": program, "options": options}))
    words = ["pr", "--config", str(path), "--base", base, "--head", head, "--budget", "300s"]
    return place.suspects(*words, "--json", str(place.out / "report.json"), *arguments, cwd=place.out)


def test_a_callable_with_a_regression_is_decided_and_fails_on_demand(place: Place) -> None:
    ended = function(place, GOOD, "--fail-on", "regression")
    assert ended.code == 1 and ended.report is not None
    assert ended.report["suspects"]["options"][0]["term"] == ["b"]
    assert function(place, GOOD, "--fail-on", "violation").code == 0


def test_a_callable_without_a_change_is_green(place: Place) -> None:
    ended = function(place, GOOD, "--fail-on", "regression", base="2", head="3")
    assert ended.code == 0 and ended.report is not None and ended.report["verdict"] == "none"


@pytest.mark.parametrize(("base", "head"), [("5", "4"), ("0", "5"), ("-1", "1"), ("x", "1"), ("0", "")])
def test_a_revision_that_a_callable_does_not_have_is_named(place: Place, base: str, head: str) -> None:
    function(place, GOOD, base=base, head=head).refused("no revision", "0 to 4")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def seconds(r, c): raise RuntimeError('bad\\nday')", ["RuntimeError: bad day", "model:seconds"]),
        ("def seconds(r, c): raise SystemExit(5)", ["SystemExit"]),
        ("def seconds(r, c): return 'soon'", ["must return seconds of shape (1,), not str"]),
        ("def seconds(r, c): return [1.0, 2.0]", ["shape (2,)"]),
        ("def seconds(r, c): return None", ["must return seconds"]),
        ("def seconds(r): return [1.0]", ["TypeError"]),
        ("def other(r, c): return [1.0]", ["no function 'seconds'"]),
        ("seconds = 5", ["no function 'seconds'"]),
        ("import no_such_module_anywhere", ["importing model.py failed", "no_such_module_anywhere"]),
        ("def seconds(:", ["importing model.py failed", "SyntaxError"]),
        ("import sys; sys.exit(9)", ["importing model.py failed", "SystemExit"]),
    ],
)
def test_a_wrong_callable_is_one_line(place: Place, code: str, words: list[str]) -> None:
    function(place, code + "\n").refused(*words)


def test_a_missing_module_is_named(place: Place) -> None:
    program = {"callable": "nowhere:seconds", "revisions": 5}
    simulated(place, program, base="0", head="1").refused("program.callable", "nowhere")


@pytest.mark.parametrize("value", ["float('nan')", "0.0", "-1.0", "float('inf')"])
def test_a_callable_without_any_measurement_is_never_green(place: Place, value: str) -> None:
    ended = function(place, f"def seconds(r, c): return [{value}]\n")
    assert ended.code == 3 and ended.report is not None
    assert ended.report["verdict"] == "inconclusive" and ended.report["spent"]["pairs"] == 0


def test_a_table_without_a_change_is_green(place: Place) -> None:
    ended = table(place, ROWS)
    assert ended.code == 0 and ended.report is not None
    assert ended.report["verdict"] in ("none", "inconclusive")
    assert ended.report["suspects"]["options"] == []


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], ["perf.csv", "column commit is missing"]),
        (["commit,a,perf", "0,0,1.0"], ["column b is missing"]),
        (["commit,a,b", "0,0,0"], ["column perf is missing"]),
        (["commit,a,a,b,perf", "0,0,0,0,1.0"], ["column a is there twice"]),
        (ROWS[:1], ["no measurement"]),
        ([*ROWS, "1,0,0"], ["perf.csv:8", "3 cells instead of 4"]),
        ([*ROWS, "1,0,maybe,1.0"], ["perf.csv:8", "b is 'maybe'"]),
        ([*ROWS, "1,0,0,fast"], ["perf.csv:8", "perf is 'fast'"]),
        ([ROWS[0], "0,0,0,", "1,0,0,"], ["perf", "no measurement"]),
        ([ROWS[0], "0,0,0,1.0", "1,1,1,1.0"], ["no configuration was measured at both 0 and 1"]),
    ],
)
def test_a_wrong_table_is_one_line(place: Place, rows: list[str], words: list[str]) -> None:
    table(place, rows).refused(*words)


def test_a_table_without_the_revision_is_refused(place: Place) -> None:
    table(place, ROWS, head="5").refused("no revision '5'", "0 to 1")


def test_repeated_rows_are_repetitions(place: Place) -> None:
    noisy = [f"{r},{a},{b},{1 + 0.001 * i}" for r in "01" for a in "01" for b in "01" for i in range(5)]
    ended = table(place, [ROWS[0], *noisy])
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["failed_trials"] == 0


def test_a_table_of_one_noisy_value_each_without_a_change_alarms_nobody_and_says_what_to_do(
    place: Place,
) -> None:
    rng = np.random.default_rng(4)
    rows = [
        f"{r},{a},{b},{1 + 0.2 * a + 0.03 * rng.normal()}" for r in (0, 1) for a in (0, 1) for b in (0, 1)
    ]
    ended = table(place, [ROWS[0], *rows], "--markdown", str(place.out / "comment.md"))
    assert ended.code == 0 and ended.report is not None
    assert (ended.report["verdict"], ended.report["spent"]["pairs"]) == ("inconclusive", 4)
    assert any("one value of each configuration and revision" in note for note in ended.report["notes"])
    said = (place.out / "comment.md").read_text()
    assert "values of each configuration and revision in the table (repeated rows) would settle it" in said
    assert "rerun" not in said and "base against base spreads" not in said


def test_an_option_that_never_changes_is_told_as_not_exercised(place: Place) -> None:
    ended = table(place, [row for row in ROWS if row.split(",")[2] != "1"])
    assert ended.code == 0 and ended.report is not None
    assert "b" in ended.report["visible"]["levels_not_exercised"]


def test_a_head_without_any_value_is_never_green(place: Place) -> None:
    rows = [row if row[0] != "1" else row.rpartition(",")[0] + "," for row in ROWS]
    ended = table(place, rows)
    assert ended.code == 3 and ended.report is not None and ended.report["spent"]["pairs"] == 0


def test_a_missing_table_is_named(place: Place) -> None:
    program = {"table": "nowhere.csv", "revision": "commit", "metric": "perf"}
    simulated(place, program, base="0", head="1").refused("program.table", "nowhere.csv")


def test_the_action_refuses_data_and_functions(place: Place) -> None:
    place.commit({"a": "1"})
    (place.repository / "model.py").write_text(GOOD)
    path = place.repository / "suspects.yml"
    program = {"callable": "model:seconds", "revisions": 5}
    path.write_text(json.dumps({"program": program, "options": {"a": {"flag": "-a"}, "b": {"flag": "-b"}}}))
    sha = place.git("rev-parse", "HEAD")
    ended = place.finish(place.action(sha, sha, env={"INPUT_CONFIG": str(path)}))
    assert ended.code == 2 and "for evaluation" in ended.said
