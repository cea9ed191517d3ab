"""Commands end with everything they started, whatever they do."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bot.adapters.processes import process
from bot.model.errors import UsageError
from bot.model.sites import Account
from tests.accounts import OWN

ROOT = os.geteuid() == 0
ACCOUNT = OWN["base"]
ESCAPE = "(setsid sh -c 'setsid sleep {0} & sleep {0}' &); setsid sleep {0} & sleep {0} & "


def sh(command: str, cwd: Path, timeout: float = 60.0, account: Account | None = ACCOUNT) -> process.Ended:
    """Runs a shell command as a build is run."""
    env = {"PATH": process.PATH, "MARK": "here"}
    return process.run(["sh", "-c", command], cwd=cwd, env=env, account=account, timeout=timeout)


def running(*words: str) -> list[str]:
    """Command lines of all processes that hold these words."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if all(word in line for word in words):
                found.append(line)
    return found


def unique_seconds() -> str:
    """An argument of sleep that no other test (or test process) uses."""
    return f"{5000 + os.getpid() % 90000}.{time.monotonic_ns() % 10**9}"


def test_a_command_gets_its_environment_and_nothing_else(
    open_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    ended = sh("env; ls /proc/self/fd | wc -l; cat", open_path)
    assert ended.outcome == "ok"
    names = {line.partition("=")[0] for line in ended.log.splitlines() if "=" in line}
    assert names == {"PATH", "MARK", "PWD"}
    assert ended.log.splitlines()[-1].strip() == "4"  # three, and the folder that ls reads


def test_an_exit_code_a_signal_and_a_missing_command_are_told_apart(open_path: Path) -> None:
    assert (sh("exit 3", open_path).outcome, sh("exit 3", open_path).exit_code) == ("exit", 3)
    killed = sh("kill -SEGV $$", open_path)
    assert (killed.outcome, killed.reason("`build`")) == ("signal", "`build` was ended by signal SIGSEGV.")
    missing = process.run(
        ["no-such-thing"], cwd=open_path, env={"PATH": process.PATH}, account=ACCOUNT, timeout=60
    )
    assert missing.outcome == "not-started"


def test_nothing_survives_a_command_that_ends(open_path: Path) -> None:
    mark = unique_seconds()
    assert sh(ESCAPE.format(mark) + "exit 0", open_path).outcome == "ok"
    assert running("sleep", mark) == []


def test_nothing_survives_a_timeout(open_path: Path) -> None:
    mark = unique_seconds()
    ended = sh(ESCAPE.format(mark) + "trap '' TERM INT HUP; wait", open_path, timeout=0.3)
    assert (ended.outcome, ended.exit_code) == ("timeout", None)
    assert running("sleep", mark) == []


def test_a_stop_ends_the_command(open_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    ended = process.run(
        *[["sleep", "1000"]],
        cwd=open_path,
        env={"PATH": process.PATH},
        account=ACCOUNT,
        timeout=60,
        stop=stop.is_set,
    )
    assert ended.outcome == "cut"


def test_nothing_survives_when_we_are_killed(open_path: Path) -> None:
    mark = unique_seconds()
    ready = open_path / "ready"
    code = (
        "import sys; from pathlib import Path; from bot.adapters.processes import process\n"
        f"command = {ESCAPE.format(mark)!r} + ' touch {ready}; wait'\n"
        f"process.run(['sh', '-c', command], cwd=Path({str(open_path)!r}), env={{'PATH': process.PATH}},"
        " account=None, timeout=100)"
    )
    ours = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[3])
    while not ready.exists():
        assert ours.poll() is None
        time.sleep(0.01)
    ours.kill()
    ours.wait()
    while running("sleep", mark):  # ends, or the test's own time limit speaks
        time.sleep(0.01)


def test_output_without_end_is_kept_as_its_tail(open_path: Path) -> None:
    ended = sh("for i in 1 2 3 4 5 6; do head -c 1000000 /dev/zero | tr '\\0' x; done; seq 100", open_path)
    lines = ended.log.splitlines()
    assert lines == [str(i) for i in range(61, 101)]
    endless = sh("yes | tr -d '\\n'", open_path, timeout=0.3)
    assert endless.outcome == "timeout"
    assert len(endless.log) <= process.LINE_CHARACTERS


def test_a_log_is_plain_text() -> None:
    raw = b"\x1b[31mred\x1b[0m\x07 \xe2\x80\xaeabc\r\n10%\r100%\r\nbad\xff\x1b]0;title\x07\n"
    assert process.plain_text(raw, 40) == "red abc\n100%\nbad�"


def test_a_log_holds_no_command_to_a_runner() -> None:
    raw = b"::error::x\n\xc2\xa0 ::add-mask::y\n:\x07:z::\na::b\n##[error]\n#\x1b[0m#[x]\n#:: ok"
    lines = process.plain_text(raw, 40).splitlines()
    assert lines == [": :error::x", "\xa0 : :add-mask::y", ": :z::", "a::b", "## [error]", "## [x]", "#:: ok"]


@pytest.mark.skipif(not ROOT, reason="only root can give code another account")
def test_user_code_has_its_own_account_and_no_network(open_path: Path) -> None:
    ended = sh("id -u; cat /proc/net/dev | grep -c eth0 ; touch here", Path("/"))
    assert ACCOUNT is not None
    assert ended.log.splitlines()[0] == str(ACCOUNT.uid)
    assert ended.outcome == "exit"  # / cannot be written
    reach = "import socket; socket.create_connection(('127.0.0.1', 9))"
    refused = process.run(
        ["python3", "-c", reach], cwd=Path("/"), env={"PATH": process.PATH}, account=ACCOUNT, timeout=60
    )
    assert "unreachable" in refused.log or "Permission denied" in refused.log or "refused" in refused.log


@pytest.mark.skipif(not ROOT, reason="only root can give code another account")
def test_a_preloaded_library_never_runs_as_us(open_path: Path) -> None:
    env = {"PATH": process.PATH, "LD_PRELOAD": "/nonexistent/evil.so"}
    ended = process.run(["sh", "-c", "id -u"], cwd=Path("/"), env=env, account=ACCOUNT, timeout=60)
    # The loader complains for the command (and what it starts), not for the three programs before it.
    assert ended.log.count("cannot be preloaded") == 2


def test_both_sides_have_accounts_that_nobody_else_has() -> None:
    found = process.accounts("auto")
    if ROOT:
        base, head = found.of["base"], found.of["head"]
        assert base is not None and head is not None and base.uid != head.uid
        assert len(str(base.uid)) == len(str(head.uid))
        assert found.notes == ()
    else:
        assert list(found.of.values()) == [None, None] and len(found.notes) == 1


def test_the_sandbox_can_be_off_but_not_required_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(process.accounts("off").of.values()) == [None, None]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="needs root"):
        process.accounts("required")


def test_a_program_of_ours_sees_no_variable_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    done = process.run_trusted(["env"], env={"ONE": "1"})
    assert sorted(line.partition(b"=")[0] for line in done.output.splitlines()) == [
        b"LC_ALL",
        b"ONE",
        b"PATH",
    ]


def test_a_program_of_ours_that_takes_too_long_ends_with_what_it_has_started(tmp_path: Path) -> None:
    seconds = unique_seconds()
    command = f"sleep {seconds} & echo > started; wait"
    with pytest.raises(subprocess.TimeoutExpired):
        process.run_trusted(["sh", "-c", command], cwd=tmp_path, timeout=2.0)
    assert (tmp_path / "started").exists()
    while running("sleep", seconds):  # killed, it still has to be scheduled once; or the time limit speaks
        time.sleep(0.01)
