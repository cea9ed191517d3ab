"""Ended by a signal at any moment: a partial honest report or nothing, and the next run works."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.end_to_end.builders import NOT_ROOT, ROOT, STEADY, STEADY_TOO, Place, config, left, shell
from tests.end_to_end.builders import wait_for_line as wait
from tests.nursery import CODE

BUILDING, MEASURING = "building base and head", "measuring"
BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
SECONDS = 5.0
"""About how long a run takes here; later than its end is a moment too."""


@pytest.fixture(scope="module")
def nursery() -> None:
    """There is none: these tests are about how the command starts and ends."""


def open_file(place: Place, name: str) -> Path:
    """A file in which trials can leave a mark: they cannot make any outside of their scratch."""
    path = place.folder / name
    path.touch()
    path.chmod(0o666)
    return path


@BOTH
def test_a_signal_while_building_ends_in_a_report_of_nothing(place: Place, number: signal.Signals) -> None:
    place.pull_request(text=config(program={"build": "setsid sleep 1000 & sleep 1000"}))
    process = place.start(*place.asking("--fail-on", "regression"))
    wait(process, BUILDING)
    process.send_signal(number)
    ended = place.finish(process)
    assert ended.code == 3 and ended.report is not None
    assert ended.report["verdict"] == "inconclusive"
    assert any("stopped" in failure["reason"] for failure in ended.report["build_failures"])


@BOTH
def test_a_signal_while_measuring_ends_in_a_partial_report(place: Place, number: signal.Signals) -> None:
    marks = open_file(place, "marks")
    program = shell(f"echo >> {marks}", "sleep 1000 &")
    place.pull_request(program, f"{program}# head\n")
    comment = place.out / "report.md"
    process = place.start(*place.asking("--markdown", str(comment), budget="600s"))
    wait(process, MEASURING)
    while marks.stat().st_size < 60:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    ended = place.finish(process)
    assert ended.code == 0 and ended.report is not None
    assert ended.report["interrupted"] == "signal" and ended.report["spent"]["pairs"] > 0
    assert ended.report["verdict"] in ("inconclusive", "none")
    assert "stopped" in comment.read_text().lower() or "interrupted" in comment.read_text().lower()


@BOTH
def test_a_signal_before_the_first_pair_ends_is_not_green(place: Place, number: signal.Signals) -> None:
    started = open_file(place, "started")
    program = shell(f"echo here >> {started}", "sleep 1000")
    place.pull_request(program, f"{program}#\n")
    process = place.start(*place.asking(budget="600s"))
    while not started.stat().st_size:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    ended = place.finish(process)
    assert ended.code == 3 and ended.report is not None
    assert ended.report["interrupted"] == "signal" and ended.report["spent"]["pairs"] == 0


def test_a_second_signal_ends_at_once_without_a_traceback(place: Place) -> None:
    place.pull_request(text=config(program={"build": "sleep 1000"}))
    process = place.start(*place.asking())
    wait(process, BUILDING)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    ended = place.finish(process)
    assert ended.code in (130, 3)


def test_a_signal_while_modules_are_loaded_leaves_no_traceback(place: Place) -> None:
    place.pull_request()
    (place.out / "typer.py").write_text("raise KeyboardInterrupt\n")
    ended = place.suspects("--version", env={"PYTHONPATH": f"{place.out}:{CODE}"})
    assert ended.code == 130 and ended.said == ""


def test_a_closed_pipe_keeps_exit_code_and_files(place: Place) -> None:
    place.pull_request()
    process = place.start(*place.asking())
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "BrokenPipe" not in err and "Exception ignored" not in err
    assert (place.out / "report.json").exists()


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_no_harm(place: Place, closed: str) -> None:
    place.pull_request()
    ended = place.pr(before=["sh", "-c", f'exec "$@" {closed}', "sh"])
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0


def workers(place: Place) -> list[int]:
    """Processes of a run that start trials."""
    return [
        pid for pid, words in left(place.folder, patience=0).items() if "bot.adapters.trials.duet" in words
    ]


def test_a_worker_that_is_killed_is_replaced(place: Place) -> None:
    marks = open_file(place, "marks")
    program = shell(f"echo >> {marks}")
    place.pull_request(program, f"{program}#\n")
    process = place.start(*place.asking(budget="6s"))
    while marks.stat().st_size < 20:
        assert process.poll() is None
        time.sleep(0.02)
    for pid in workers(place):
        subprocess.run(["kill", "-9", str(pid)], capture_output=True)
    ended = place.finish(process)
    assert ended.code == 0 and ended.report is not None
    spent = ended.report["spent"]
    assert spent["pairs"] > 0 and spent["failed_trials"] <= spent["trials"] / 2


def kill_again_and_again(place: Place, moments: list[float], numbers: list[signal.Signals]) -> None:
    """Runs that are killed at these seconds; afterwards one that is not."""
    build = "(setsid sleep 1000 &); sleep 0.5; echo built > built"
    program = shell("setsid sleep 1000 &")
    place.pull_request(program, f"{program}#\n", text=config(program={"build": build}))
    for moment, number in zip(moments, numbers, strict=True):
        process = place.start(*place.asking())
        time.sleep(moment)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        assert left(place.folder, patience=20) == {}, (moment, number)
        assert "internal error" not in err, (moment, number, err)
        if "Traceback" in err:  # only Python's own start, before any line of ours, may show one
            assert "bot" not in err, (moment, number, err)
        report = place.out / "report.json"
        if report.exists():
            report.unlink()
        assert not list(place.out.glob("*.part")) or number == signal.SIGKILL
    ended = place.pr()  # `finish` looks for folders of the killed runs
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0
    (built,) = (place.folder / ".cache" / "suspects" / "builds").iterdir()
    assert {path.suffix for path in built.iterdir()} <= {"", ".json", ".lock"}
    assert {path.name for path in built.iterdir() if path.is_dir()} == {p.stem for p in built.glob("*.json")}


@pytest.mark.parametrize("part", range(2))
def test_killed_at_any_moment_nothing_stays_and_the_next_run_works(place: Place, part: int) -> None:
    moments = np.random.default_rng(part).uniform(0, SECONDS, 5).tolist()
    kill_again_and_again(place, moments, [signal.SIGKILL] * len(moments))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_any_signal_at_very_many_moments(place: Place, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    chosen = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], 20)
    kill_again_and_again(place, rng.uniform(0, SECONDS, 20).tolist(), [signal.Signals(n) for n in chosen])


@pytest.mark.skipif(not ROOT, reason="the other tests run without root then")
def test_killed_without_root_nothing_stays_either(place: Place) -> None:
    program = shell("setsid sleep 1000 &")
    place.pull_request(program, f"{program}#\n")
    process = place.start(*place.asking(budget="600s"), before=NOT_ROOT)
    wait(process, MEASURING)
    time.sleep(2)
    process.kill()
    process.communicate()
    assert left(place.folder, patience=20) == {}


def test_two_runs_at_once_do_not_disturb_each_other(place: Place) -> None:
    place.pull_request(STEADY, STEADY_TOO, text=config(program={"build": "sleep 0.5"}))
    other = place.out / "other.json"
    first = place.start(*place.asking())
    second = place.start("pr", "--base", "HEAD~1", "--head", "HEAD", "--budget", "3s", "--json", str(other))
    second.communicate(timeout=120)
    ended = place.finish(first)
    assert ended.code == second.returncode == 0 and other.exists()
    assert ended.report is not None and ended.report["spent"]["failed_trials"] == 0
