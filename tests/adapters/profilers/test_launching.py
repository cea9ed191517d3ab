"""Tools around a trial's command start in its place and are bounded; what they read is hostile."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.processes.process import PATH
from bot.adapters.profilers import launching
from bot.adapters.profilers.evidence import folder_for, lines, open_file, read_file
from bot.adapters.profilers.launching import ask, launch
from bot.model.profiles import Target
from tests.accounts import OWN

ACCOUNT = OWN["base"]


@pytest.fixture
def target(open_path: Path) -> Target:
    scratch = open_path / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    return Target(
        ("true",),
        {"PATH": PATH, "MARK": "here"},
        open_path,
        open_path,
        scratch,
        account=ACCOUNT,
        timeout=20.0,
    )


def test_a_launch_has_the_targets_place_and_environment_and_what_the_tool_adds(target: Target) -> None:
    launched = launch(target, ["sh", "-c", "pwd; env | sort; id -u"], env={"ADDED": "too"})
    lines = launched.ended.log.split("\n")
    assert lines[0] == str(target.cwd)
    assert {"ADDED=too", "MARK=here"} < set(lines)
    assert lines[-1] == str(os.geteuid() if ACCOUNT is None else ACCOUNT.uid)
    assert launched.outcome == "ok"


def test_all_of_a_launch_may_share_one_core_and_only_it(target: Target) -> None:
    mine = os.sched_getaffinity(0)
    assert launch(target, ["nproc"], one_core=True).ended.log == "1"
    assert os.sched_getaffinity(0) == mine
    assert launch(target, ["nproc"]).ended.log == str(len(mine))


def test_standard_input_is_the_targets(target: Target) -> None:
    given = target.root / "given file"
    given.write_text("the input")
    assert launch(replace(target, stdin=given), ["cat"]).ended.log == "the input"
    assert launch(target, ["cat"]).ended.log == ""


@pytest.mark.parametrize(
    ("command", "allowed", "outcome"),
    [
        ("exit 0", (0,), "ok"),
        ("exit 3", (0,), "exit"),
        ("exit 3", (0, 3), "ok"),
        ("exit 0", (3,), "exit"),
        ("kill -SEGV $$", (0,), "signal"),
        ("exec /no/such/thing", (0,), "exit"),
    ],
)
def test_the_outcome_is_that_of_a_trial(
    target: Target, command: str, allowed: tuple[int, ...], outcome: str
) -> None:
    assert launch(replace(target, ok_exit=allowed), ["sh", "-c", command]).outcome == outcome


def test_a_missing_command_was_not_started(target: Target) -> None:
    assert launch(target, ["no-such-command"]).outcome == "not-started"


def test_a_tool_may_lengthen_a_trial_by_its_factor(target: Target) -> None:
    command = ["sh", "-c", "sleep 0.4"]
    assert launch(replace(target, timeout=0.2), command).outcome == "timeout"
    assert launch(replace(target, timeout=0.2), command, slowdown=50).outcome == "ok"


def test_cpu_seconds_are_those_of_all_processes_of_the_command(target: Target) -> None:
    spin = ["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done & wait"]
    assert launch(target, spin).cpu > 10 * launch(target, ["true"]).cpu


def test_a_reading_tool_answers_as_the_targets_account(target: Target) -> None:
    assert ask(target, ["sh", "-c", "cat; id -u"], b"x\n", lines) == [
        "x",
        str(os.geteuid() if ACCOUNT is None else ACCOUNT.uid),
    ]
    assert list(target.scratch.iterdir()) == []


def test_a_reading_tool_cannot_fill_disk_or_memory(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "MOST_ANSWER", 1 << 16)
    with pytest.raises(OSError, match="SIGXFSZ"):
        ask(target, ["yes"], b"", lines)
    with pytest.raises(OSError, match="exit code"):
        ask(target, ["sh", "-c", "python3 -c 'bytearray(5 << 30)'"], b"", lines)
    monkeypatch.setattr(launching, "READING_SECONDS", 0.2)
    with pytest.raises(OSError, match="longer than"):
        ask(target, ["sleep", "50"], b"", lines)


def test_evidence_is_a_regular_file_of_bounded_size(target: Target) -> None:
    folder = folder_for(target, "test")
    (folder / "file").write_bytes(b"12345")
    (folder / "link").symlink_to(folder / "file")
    (folder / "circle").symlink_to(folder / "circle")
    os.mkfifo(folder / "pipe")
    assert read_file(folder / "file", most=5) == b"12345"
    for name, reason in [
        ("link", "symbolic"),
        ("pipe", "regular"),
        ("none", "No such"),
        ("circle", "symbolic"),
    ]:
        with pytest.raises(OSError, match=reason):
            read_file(folder / name, most=5)
    with pytest.raises(OSError, match="not a regular"):
        read_file(folder, most=5)
    with pytest.raises(OSError, match="larger than 0 MiB"):
        read_file(folder / "file", most=4)
    with open_file(folder / "link", most=5, links=True) as file:
        assert file.read() == b"12345"


@pytest.mark.skipif(ACCOUNT is None, reason="only root can give files away")
def test_the_account_may_write_in_its_folder_of_evidence(target: Target) -> None:
    folder = folder_for(target, "test")
    assert launch(target, ["touch", str(folder / "written")]).outcome == "ok"
    assert (folder / "written").stat().st_uid == (ACCOUNT.uid if ACCOUNT else -1)
