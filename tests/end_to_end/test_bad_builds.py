"""Builds that fail, hang, talk too much or leave something running: an outcome with its log, exit code 3."""

from __future__ import annotations

import re

import pytest

from tests.end_to_end.builders import CONFIG, NOT_ROOT, ROOT, STEADY, STEADY_TOO, Ended, Place, config


def built(place: Place, command: str, **program: object) -> Ended:
    """One pull request with this build command."""
    place.pull_request(text=config(program={"build": command, **program}))
    return place.pr()


def unbuilt(ended: Ended, *sides: str) -> list[dict[str, str]]:
    """The failures of exactly these sides; never green."""
    assert ended.code == 3, ended.said
    assert ended.report is not None and ended.report["verdict"] == "inconclusive"
    found: list[dict[str, str]] = ended.report["build_failures"]
    assert sorted(f["side"] for f in found) == sorted(sides)
    return found


def test_a_build_that_fails_on_both_sides_shows_its_log(place: Place) -> None:
    failures = unbuilt(built(place, "echo line one; echo 'no rule to make' >&2; exit 2"), "base", "head")
    assert all("exit code 2" in f["reason"] and "no rule to make" in f["log"] for f in failures)


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_build_that_fails_on_one_side_names_the_side(place: Place, side: str) -> None:
    text = config(program={"build": "sh ./make.sh"})
    codes = {"base": "exit 0\n", "head": "exit 0\n", side: "echo broken; exit 1\n"}
    place.commit({CONFIG: text, "program.sh": STEADY, "make.sh": codes["base"]})
    place.commit({"program.sh": STEADY_TOO, "make.sh": codes["head"]})
    failures = unbuilt(place.pr(), side)
    assert "broken" in failures[0]["log"]


def test_a_build_that_hangs_is_stopped(place: Place) -> None:
    failures = unbuilt(built(place, "sleep 1000", build_timeout="1s"), "base", "head")
    assert all("longer than" in f["reason"] for f in failures)


def test_a_hanging_build_that_ignores_signals_and_has_children_is_stopped(place: Place) -> None:
    command = "trap '' TERM INT HUP; (setsid sleep 1000 &); while :; do sleep 1; done"
    unbuilt(built(place, command, build_timeout="1s"), "base", "head")


def test_megabytes_of_log_are_cut_to_their_end(place: Place) -> None:
    ended = built(place, "yes 'warning: something' | head -c 20000000; echo the very end; exit 1")
    failures = unbuilt(ended, "base", "head")
    assert all("the very end" in f["log"] and len(f["log"]) < 100_000 for f in failures)
    assert len(ended.out) < 60_000


def test_a_log_of_one_endless_line_is_cut(place: Place) -> None:
    failures = unbuilt(built(place, "head -c 5000000 /dev/zero | tr '\\0' x; exit 1"), "base", "head")
    assert all(len(f["log"]) < 1000 for f in failures)


def test_escapes_in_a_log_are_disarmed(place: Place) -> None:
    ended = built(place, r"printf '\033[2J\033]0;t\007```\n</details><script>alert(1)</script>\n'; exit 1")
    unbuilt(ended, "base", "head")
    assert "\x1b" not in ended.out and "\x07" not in ended.out
    # Markdown between fences is shown as it is: the fence must be longer than what the log holds.
    assert re.search(r"^(`{4,})text\n.*</details><script>.*^\1$", ended.out, re.MULTILINE | re.DOTALL)


def test_processes_that_a_build_leaves_are_ended(place: Place) -> None:
    ended = built(place, "setsid sleep 1000 & (trap '' TERM; sleep 1000) & exit 0")
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0


def test_a_build_command_that_does_not_exist_is_told(place: Place) -> None:
    failures = unbuilt(built(place, "no-such-compiler --all"), "base", "head")
    assert all("no-such-compiler" in f["log"] for f in failures)


def test_a_failed_setup_is_told(place: Place) -> None:
    place.pull_request(text=config(program={"setup": "echo no network; exit 9"}))
    ended = place.pr()
    assert ended.code == 3 and ended.report is not None
    assert all(f["step"] == "setup" and "no network" in f["log"] for f in ended.report["build_failures"])


def test_a_workload_that_is_missing_or_cannot_be_prepared_is_told(place: Place) -> None:
    workloads = {"text": {"path": "made.txt", "prepare": "echo cannot >&2; exit 4"}}
    place.pull_request(text=config("./program.sh {options} {workload}", workloads=workloads))
    failures = unbuilt(place.pr(), "base", "head")
    assert all(f["step"] == "prepare" and "cannot" in f["log"] for f in failures)


@pytest.mark.skipif(not ROOT, reason="without root builds run under our own account")
def test_a_build_cannot_reach_the_other_side_or_the_repository(place: Place) -> None:
    command = f"(echo x > {place.repository}/mark); (echo x > ../../mark); (echo x > {place.out}/mark); true"
    ended = built(place, command)
    assert ended.code == 0
    assert not list(place.folder.rglob("mark"))


def test_a_build_that_links_to_files_of_others_is_refused(place: Place) -> None:
    ended = built(place, "ln -s /etc/passwd link && ln ../../../../.git/config hard 2>&1; true")
    assert ended.code in (0, 3)
    assert "root:" not in ended.said


def test_a_failed_build_is_not_taken_from_the_cache(place: Place) -> None:
    marker = place.folder / "fixed"
    place.pull_request(text=config(program={"build": f"test -e {marker}"}))
    unbuilt(place.pr(), "base", "head")
    marker.touch()
    ended = place.pr()
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["builds"] == 2


def test_a_required_sandbox_without_root_is_one_line(place: Place) -> None:
    place.pull_request(text=config(sandbox="required"))
    place.pr(before=NOT_ROOT).refused("sandbox: required", "root")


def test_without_root_it_runs_under_our_own_account_and_says_so(place: Place) -> None:
    place.pull_request()
    ended = place.pr(before=NOT_ROOT)
    assert ended.code == 0 and "not root" in ended.notes
