"""`suspects bisect` of real repositories: the exact revision, a kill, signals, ranges that are wrong."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.end_to_end.builders import CONFIG, STEADY, Ended, Place, config, loop, shell


class Line:
    """A range of revisions whose program does its work once more for each flag that became slower."""

    def __init__(self, place: Place, slower: Mapping[str, int], *, turns: int = 2000) -> None:
        self.place, self.slower, self.turns = place, slower, turns
        self.ids: list[str] = []
        self.marks = place.folder / "marks"
        """Where every run of the program leaves a line."""
        self.marks.touch()
        self.marks.chmod(0o666)

    def grow(
        self, count: int, *, broken: Sequence[int] = (), merged: Sequence[int] = (), **keys: Any
    ) -> None:
        """Commits so many revisions on the first-parent line; some do not build, some come by a merge."""
        for revision in range(count):
            files = {
                CONFIG: config(program={"build": "sh ./build.sh", **keys}),
                "program.sh": self.program(revision),
                "build.sh": f"{'exit 1' if revision in broken else 'true'} # {revision}\n",
            }
            if revision in merged:
                self.place.git("checkout", "--quiet", "-b", "side")
                self.place.commit({"side": "1"})
            self.place.commit(files)
            if revision in merged:
                self.place.git("checkout", "--quiet", "main")
                self.place.git("merge", "--quiet", "--no-ff", "--message", "merge side", "side")
            self.ids.append(self.place.git("rev-parse", "HEAD"))

    def program(self, revision: int) -> str:
        work = loop(str(self.turns))
        more = [
            f"case \" $* \" in *' --{flag} '*) {work};; esac"
            for flag, since in self.slower.items()
            if revision >= since
        ]
        return shell(f'echo "{revision} $*" >> {self.marks}', *more, turns=str(self.turns))

    def asking(self, *arguments: str) -> list[str]:
        report = str(self.place.out / "report.json")
        return ["bisect", f"{self.ids[0]}..{self.ids[-1]}", "--json", report, *arguments]

    def bisected(self, *arguments: str, **how: Any) -> Ended:
        return self.place.suspects(*self.asking(*arguments), **how)

    def killed(self, number: signal.Signals, *arguments: str) -> subprocess.Popen[str]:
        """A bisection that gets a signal once some trials are in its journal."""
        process = self.place.start(*self.asking(*arguments))
        while len(self.journal()) < 6:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        return process

    def journal(self) -> list[dict[str, Any]]:
        """The whole lines of the only journal."""
        found = [
            path.read_text() for path in (self.place.repository / ".suspects" / "bisect").glob("*.jsonl")
        ]
        return [json.loads(line) for text in found for line in text.splitlines() if line.endswith("}")]

    def runs(self) -> int:
        """How often the program was run."""
        return len(self.marks.read_text().splitlines())


@pytest.fixture
def line(place: Place) -> Line:
    """Twice as slow with `beta` from the fifth revision on."""
    return Line(place, {"beta": 4})


def measured(ended: Ended) -> dict[str, Any]:
    assert ended.code == 0 and ended.report is not None, ended.said
    return ended.report


def test_steps_are_found_at_their_revision_or_around_the_one_that_does_not_build(place: Place) -> None:
    line = Line(place, {"beta": 5, "gamma": 9})
    line.grow(12, broken=[9], merged=[5])
    report = measured(line.bisected("--trials", "600"))
    points = {tuple(point["term"]): point for point in report["change_points"]}
    assert set(points) == {("beta",), ("gamma",)}, report["change_points"]
    assert points["beta",]["interval"] == [line.ids[5]] * 2 and points["beta",]["subject"] == "merge side"
    _, first, last = points["gamma",]["places"]
    assert 9 <= first <= 10 <= last <= 11
    assert report["verdict"] == "regression" and report["spent"]["trials"] <= 600
    assert "1 of 12 revisions could not be built" in "\n".join(report["notes"])
    assert report["spent"]["builds"] <= 12  # once each; not those that nothing was asked of
    assert report["spent"]["failed_trials"] == 0


def test_a_killed_bisection_goes_on_and_measures_nothing_twice(line: Line) -> None:
    line.grow(8)
    line.killed(signal.SIGKILL, "--trials", "40").communicate()
    kept, runs = line.journal(), line.runs()
    report = measured(line.bisected("--trials", "40"))
    lines = line.journal()
    new = [(entry["revision"], json.dumps(entry["options"])) for entry in lines[len(kept) :]]
    assert lines[: len(kept)] == kept and len(lines) == 20 and new
    assert report["spent"]["trials"] == 2 * len(new)
    warm_ups = set(new) | {(line.ids[-1], options) for _, options in new}
    # The same pair on several cores at once warms up on each.
    assert 2 * len(new) + len(warm_ups) <= line.runs() - runs <= 4 * len(new)
    runs = line.runs()
    again = measured(line.bisected("--trials", "40"))
    assert line.runs() == runs and again["spent"]["trials"] == 0
    assert again["change_points"] == report["change_points"] and again["series"] == report["series"]
    listed = line.place.suspects("history", "list", "--json", "-")
    (segment,) = json.loads(listed.out)["segments"]
    assert (segment["rows"], segment["run"]["mode"]) == (2 * len(lines), "bisect")  # the killed run's, too


def test_each_run_of_a_search_adds_what_it_measured_where_it_is_told_to(line: Line) -> None:
    line.grow(8)
    for trials, rows in (("16", 16), ("32", 32)):
        ended = line.bisected("--trials", trials, "--history", "directory:kept")
        assert "Added to the history (directory)" in ended.notes
        listed = line.place.suspects("history", "list", "--history", "directory:kept", "--json", "-")
        segments = json.loads(listed.out)["segments"]
        assert sum(segment["rows"] for segment in segments) == rows
    assert len(segments) == 2 and not (line.place.repository / ".suspects" / "history").exists()


def test_a_range_beside_what_is_checked_out_is_not_remembered(line: Line) -> None:
    line.grow(3)
    line.place.git("checkout", "--quiet", "HEAD~1")
    ended = line.bisected("--trials", "8")
    assert "is not in the history of what is checked out: the bisection is not remembered" in ended.notes
    assert not (line.place.repository / ".suspects" / "history").exists()


def test_a_signal_ends_in_a_partial_report_that_can_go_on(line: Line) -> None:
    line.grow(6)
    ended = line.place.finish(line.killed(signal.SIGINT))
    report = measured(ended)
    assert report["interrupted"] == "signal" and report["spent"]["trials"] >= 12
    assert "cut short" in ended.notes and "goes on from here" in ended.notes


def test_a_range_whose_end_does_not_build_is_compared_with_another_revision(line: Line) -> None:
    line.grow(5, broken=[4])
    ended = line.bisected("--trials", "16")
    report = measured(ended)
    assert report["spent"]["trials"] <= 16 and report["spent"]["failed_trials"] == 0
    assert "cannot be built: all were compared with" in ended.notes
    assert all(point["place"] != 4 for series in report["series"] for point in series["points"])


def test_a_range_where_nothing_builds_is_not_green(line: Line) -> None:
    line.grow(4, broken=range(4))
    ended = line.bisected()
    assert ended.code == 3 and ended.report is not None and ended.report["verdict"] == "inconclusive"
    (failure,) = ended.report["build_failures"]
    assert "ended with exit code 1" in failure["reason"] and ended.report["spent"]["trials"] == 0


def test_a_program_that_waits_is_compared_by_the_clock(place: Place) -> None:
    place.commit({CONFIG: config(metrics=["cpu"]), "program.sh": shell("sleep 0.1", turns="10")})
    place.commit({"program.sh": shell("sleep 0.1 # again", turns="10")})
    arguments = ("--json", str(place.out / "report.json"), "--trials", "8")
    ended = place.suspects("bisect", "HEAD~1..HEAD", *arguments)
    assert measured(ended)["primary_metric"] == "wall" and "in turn" in ended.notes


def test_equal_trees_are_not_measured(line: Line) -> None:
    line.grow(1)
    line.place.commit({})
    line.ids.append("HEAD")
    ended = line.bisected()
    assert measured(ended)["verdict"] == "none" and line.runs() == 0
    assert "same tree" in ended.notes


def test_tags_are_coarse_revisions_and_the_file_may_be_the_bad_end_s(line: Line) -> None:
    line.grow(6)
    line.place.git("tag", "v1", "HEAD~3")
    folder = line.place.repository / "below"
    folder.mkdir()
    ended = line.bisected("--tags", "--trials", "8", cwd=folder)
    assert measured(ended)["revisions"] == 3 and "3 of 6 commits are tagged" in ended.notes


def test_releases_from_before_the_file_and_its_benchmark_are_bisected_and_the_told_command_works(
    line: Line,
) -> None:
    line.grow(3)
    line.place.commit({CONFIG: None})
    line.ids.append(line.place.git("rev-parse", "HEAD"))
    program = {"build": "sh ./build.sh"}
    line.place.commit({CONFIG: config(program=program, overlay=["bench"]), "bench/input": "1\n"})
    ended = line.bisected("--trials", "8")
    assert "`overlay` is not at " in ended.notes
    assert measured(ended)["config"] == CONFIG  # without it the told command would find none at its revisions
    ends = ("--base", line.ids[0], "--head", line.ids[-1], "--exact-base")
    assert line.place.suspects("pr", *ends, "--config", CONFIG, "--budget", "2s").code == 0


def test_where_old_releases_have_no_workload_the_told_command_takes_that_of_the_range(line: Line) -> None:
    line.grow(6)
    program = {"build": "sh ./build.sh", "run": "./program.sh {options} {workload}"}
    told = config(program=program, workloads={"text": {"path": "text"}})
    line.place.commit({CONFIG: told, "text": "1\n"})
    line.ids.append(line.place.git("rev-parse", "HEAD"))
    ended = line.bisected("--trials", "60")
    assert [point["term"] for point in measured(ended)["change_points"]] == [["beta"]]
    (command,) = (x for x in ended.out.splitlines() if x.startswith("suspects pr "))
    assert command.endswith(f" --overlay-from {line.ids[-1]}")
    report = line.place.out / "report.json"
    checked = line.place.suspects(*shlex.split(command)[1:], "--budget", "60s", "--json", str(report))
    assert measured(checked)["verdict"] == "regression"
    without = line.place.suspects(*shlex.split(command)[1:-2], "--budget", "4s")
    assert without.code == 3 and "there is no text at base" in without.out


@pytest.mark.parametrize(
    ("range_", "words"),
    [
        ("HEAD..HEAD", ["one commit"]),
        ("HEAD~1...HEAD", ["not a range"]),
        ("other..HEAD", ["no common history"]),
    ],
)
def test_a_wrong_range_is_one_line(place: Place, range_: str, words: list[str]) -> None:
    place.pull_request()
    place.git("checkout", "--quiet", "--orphan", "other")
    place.commit({"z": "z"})
    place.git("checkout", "--quiet", "main")
    place.suspects("bisect", range_).refused(*words)


def test_one_trial_is_too_few_and_no_file_is_told(place: Place) -> None:
    place.commit({"program.sh": STEADY})
    place.commit({"a": "1"})
    place.suspects("bisect", "HEAD~1..HEAD").refused(CONFIG, "suspects init")
    place.commit({CONFIG: config()})
    place.suspects("bisect", "HEAD~1..HEAD", "--trials", "1").refused("--trials 1", "takes 2")


def test_a_wrong_estimator_is_told_before_anything_is_built(line: Line) -> None:
    line.grow(2, broken=[0, 1])
    line.bisected("--estimator", "best").refused("--estimator best", "ours or published")


def test_a_signal_while_the_first_revision_is_built_is_not_green(line: Line) -> None:
    line.grow(2, build=f"echo building >> {line.marks}; sleep 1000")
    process = line.place.start(*line.asking())
    while not line.runs():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    ended = line.place.finish(process)
    assert ended.code == 3 and ended.report is not None and ended.report["interrupted"] == "signal"
    assert "stopped with the run" in ended.report["build_failures"][0]["reason"]


def test_a_journal_that_another_run_writes_is_left_to_it(line: Line) -> None:
    line.grow(4)
    process = line.place.start(*line.asking())
    while not line.journal():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)  # it may not end before the other one has asked
    _, said = line.place.start(*line.asking()).communicate()
    process.send_signal(signal.SIGCONT)
    assert "running already" in said.splitlines()[-1] and "Traceback" not in said
    process.send_signal(signal.SIGINT)
    measured(line.place.finish(process))


def test_the_action_bisects_the_range_it_was_given(line: Line) -> None:
    line.grow(3)
    event = line.place.out / "event.json"
    event.write_text(json.dumps({"ref": "refs/heads/main", "repository": {"default_branch": "main"}}))
    given = {
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_WORKSPACE": str(line.place.repository),
        "GITHUB_OUTPUT": str(line.place.out / "outputs"),
        "INPUT_RANGE": f"{line.ids[0]}..{line.ids[-1]}",
        "INPUT_BUDGET": "60s",
    }
    ended = line.place.finish(line.place.start("action", env=given), clean=False)
    assert ended.code == 0, ended.said
    report = json.loads((line.place.repository / "suspects-report" / "report.json").read_text())
    assert report["mode"] == "bisect" and report["revisions"] == 3 and report["spent"]["trials"] > 0
    assert "suspects-report/report.json" in (line.place.out / "outputs").read_text()


def test_the_published_search_bisects_a_repository_too(place: Place) -> None:
    line = Line(place, {"beta": 10})
    line.grow(20, broken=[3])
    report = measured(line.bisected("--estimator", "published", "--trials", "900"))
    points = {tuple(point["term"]): point for point in report["change_points"]}
    assert ("beta",) in points, (report["change_points"], report["notes"])
    _, first, last = points["beta",]["places"]
    assert first <= 10 <= last and points["beta",]["ratio"] > 1.5
    assert report["spent"]["trials"] <= 900
