from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from bot.adapters.processes import confine

SCRIPT = str(Path(confine.__file__))
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change accounts")
CONNECT = "import socket; socket.socket(socket.AF_UNIX); s = socket.socket(); s.connect(('127.0.0.1', 9))"


def run(spec: confine.Spec, *command: str, as_uid: int | None = None) -> subprocess.CompletedProcess[str]:
    interpreter = sys.executable if as_uid is None else "/usr/bin/python3"
    arguments = [interpreter, "-I", "-S", SCRIPT, json.dumps(spec), "--", *command]
    environment = {"PATH": "/usr/bin:/bin"}
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        env=environment,
        user=as_uid,
        extra_groups=None if as_uid is None else [],
    )


def test_the_command_gets_its_arguments_and_its_exit_code_comes_back() -> None:
    done = run({}, "sh", "-c", "echo $0 $1; exit 7", "one", "two words")
    assert (done.returncode, done.stdout) == (7, "one two words\n")


def test_a_command_that_does_not_exist_is_one_clear_line() -> None:
    done = run({}, "no-such-command")
    assert done.returncode == confine.NO_SUCH_COMMAND
    assert done.stderr == "no-such-command: No such file or directory\n"


def test_it_runs_in_its_own_session() -> None:
    done = run({}, "sh", "-c", "cut -d' ' -f1,6 /proc/$$/stat")
    pid, session = done.stdout.split()
    assert pid == session


def test_limits_are_set_for_the_command() -> None:
    done = run(
        {"limits": {"file_size": 10240, "core": 0, "open_files": 64}},
        "sh",
        "-c",
        "ulimit -f; ulimit -c; ulimit -n",
    )
    assert done.stdout.split() == [str(10240 // 512), "0", "64"]


def test_a_limit_never_exceeds_the_hard_limit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = run({"limits": {"open_files": 1 << 40}}, "sh", "-c", "ulimit -n")
    assert int(done.stdout) == hard


def test_it_is_pinned_to_the_cores_it_is_given() -> None:
    core = max(os.sched_getaffinity(0))
    done = run({"cpus": [core]}, "grep", "Cpus_allowed_list", "/proc/self/status")
    assert done.stdout.split()[1] == str(core)


def test_it_sees_no_file_descriptor_of_ours() -> None:
    done = run({}, "ls", "/proc/self/fd")
    assert done.stdout.split() == ["0", "1", "2", "3"]  # 3: the folder that ls reads


def test_it_can_gain_no_privileges() -> None:
    done = run({}, "grep", "NoNewPrivs", "/proc/self/status")
    assert done.stdout.split()[1] == "1"


def test_the_network_is_gone_but_sockets_of_this_machine_work() -> None:
    done = run({"network": False}, "/usr/bin/python3", "-c", CONNECT)
    assert "unreachable" in done.stderr or "Permission denied" in done.stderr


@root_only
def test_the_network_is_gone_without_any_privilege_too() -> None:
    done = run({"network": False}, "/usr/bin/python3", "-c", CONNECT, as_uid=65534)
    assert "PermissionError: [Errno 13]" in done.stderr
    assert "AF_UNIX" not in done.stderr.splitlines()[-1]


@root_only
def test_the_filter_lets_ordinary_programs_work() -> None:
    done = run({"network": False}, "sh", "-c", "ls / | wc -l", as_uid=65534)
    assert int(done.stdout) > 3


@root_only
def test_the_account_is_changed_with_all_its_groups() -> None:
    done = run({"uid": 64321, "gid": 64322}, "sh", "-c", "id -u; id -g; id -G")
    assert done.stdout.split() == ["64321", "64322", "64322"]


@root_only
def test_an_account_without_rights_still_finds_commands_on_the_path() -> None:
    assert run({"uid": 64321, "gid": 64321}, "true").returncode == 0


@root_only
def test_a_file_the_account_may_not_execute_is_permission_denied(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    done = run({"uid": 64321, "gid": 64321}, str(program))
    assert (done.returncode, done.stderr) == (confine.NO_SUCH_COMMAND, f"{program}: Permission denied\n")


@root_only
def test_a_folder_the_account_may_not_enter_is_one_clear_line(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(0o700)
    done = run({"uid": 64321, "gid": 64321, "cwd": str(folder)}, "true")
    assert done.returncode == confine.CANNOT_CONFINE
    assert done.stderr.strip() == f"cannot confine true: Permission denied {folder}"


@root_only
def test_root_lacks_nothing_here() -> None:
    assert confine.what_is_missing() == []


@root_only
def test_without_root_the_missing_account_is_named() -> None:
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-S", SCRIPT, "--missing"], capture_output=True, text=True, user=65534
    )
    sentences = json.loads(done.stdout)
    assert len(sentences) == 1
    assert "our own account" in sentences[0]
