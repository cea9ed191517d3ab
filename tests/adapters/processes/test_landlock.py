"""What is confined touches its own files and the system's, and nobody else's, whatever their modes say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.adapters.processes import confine, landlock, process
from bot.adapters.processes.readable import Box, readable
from bot.model.sites import Account
from tests.accounts import OWN

ACCOUNT = OWN["base"]
EVERYBODY = 0o777

pytestmark = pytest.mark.skipif(landlock.version() < landlock.OLDEST, reason="this kernel has no Landlock")


@pytest.fixture(params=["an account of its own", "ours"])
def account(request: pytest.FixtureRequest) -> Account | None:
    return ACCOUNT if request.param != "ours" else None


@pytest.fixture
def own(open_path: Path) -> Path:
    """A folder to write, beside one that is open to everybody and not its business."""
    for name in ("own", "other"):
        (open_path / name).mkdir()
        (open_path / name).chmod(EVERYBODY)
    (open_path / "other" / "secret").write_text("s3cret\n")
    return open_path / "own"


def sh(command: str, own: Path, account: Account | None, *read: Path, **more: str) -> process.Ended:
    return process.run(
        ["sh", "-c", command],
        cwd=own,
        env={"PATH": process.PATH, **more},
        account=account,
        timeout=60,
        box=Box((own,), read),
    )


def test_its_own_folder_can_be_filled_and_moved_in(own: Path, account: Account | None) -> None:
    made = "mkdir -p a b && echo x > a/f && mv a/f b/g && ln b/g h && ln -s h l && mkfifo p && rm -r a p l"
    run = "printf '#!/bin/sh\\necho ran\\n' > s && chmod +x s && ./s"
    assert sh(f"{made} && {run}", own, account).log == "ran"
    assert sorted(path.name for path in own.iterdir()) == ["b", "h", "s"]


def test_nothing_can_be_created_or_listed_beside_it(own: Path, account: Account | None) -> None:
    places = [own.parent / "other", Path("/tmp"), Path("/var/tmp")]
    tried = "".join(f"touch {place}/made && echo made; ls {place} && echo listed; " for place in places)
    ended = sh(f"({tried}true) 2>/dev/null", own, account)
    assert (ended.outcome, ended.log) == ("ok", "")
    assert not any((place / "made").exists() for place in places)


def test_without_an_account_of_its_own_open_files_beside_it_are_closed_too(own: Path) -> None:
    secret = own.parent / "other" / "secret"
    secret.chmod(0o666)
    ended = sh(f"cat {secret}; echo x >> {secret}", own, None)
    assert "s3cret" not in ended.log
    assert secret.read_text() == "s3cret\n"


def test_what_it_is_given_to_read_it_cannot_write(own: Path, account: Account | None) -> None:
    other = own.parent / "other"
    ended = sh("cat ../other/secret; touch ../other/made", own, account, other)
    assert ended.log.startswith("s3cret\n")
    assert not (other / "made").exists()


def test_what_its_environment_names_can_be_read_but_not_what_a_runner_says_of_itself(
    own: Path, account: Account | None
) -> None:
    other = str(own.parent / "other")
    assert sh("ls $TOOLS", own, account, TOOLS=other).log == "secret"
    assert "secret" not in sh("ls $RUNNER_TEMP", own, account, RUNNER_TEMP=other).log.split()


def test_unnamed_temporary_files_can_be_made(own: Path) -> None:
    made = "import os; os.write(os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o600), b'x'); print('made')"
    if ACCOUNT is not None:
        assert sh(f'python3 -c "{made}"', own, ACCOUNT).log == "made"


def test_programs_find_their_devices_terminals_and_shared_memory(own: Path, account: Account | None) -> None:
    code = """
import multiprocessing, os, threading
from multiprocessing import shared_memory
for name in ("null", "zero", "full", "random", "urandom"):
    open(f"/dev/{name}", "rb").read(1)
open("/dev/null", "w").write("x")
os.openpty()
multiprocessing.Lock()
block = shared_memory.SharedMemory(create=True, size=10)
block.close(); block.unlink()
open("/proc/self/comm", "w").write("renamed")
open("/proc/self/status").read(); os.listdir("/proc/self/task"); os.listdir("/dev/fd")
print("all")
"""
    (own / "program.py").write_text(code)
    assert sh("python3 program.py", own, account).log == "all"


def test_nobody_outside_can_be_signalled_or_looked_into_even_of_its_own_account(own: Path) -> None:
    account = ACCOUNT
    uid = account.uid if account else None
    victim = subprocess.Popen(["/bin/sleep", "1000"], env={"TOKEN": "s3cret"}, user=uid)
    try:
        tried = f"kill -9 {victim.pid}; cat /proc/{victim.pid}/environ; kill -0 $$ && echo mine"
        ended = sh(tried, own, account)
        assert ended.log.endswith("mine")
        assert "s3cret" not in ended.log
        assert victim.poll() is None or landlock.version() < 6
    finally:
        victim.kill()
        victim.wait()


def test_tcp_is_refused_by_the_files_rules_too(own: Path) -> None:
    root = str(Path(__file__).parents[3])
    read = [root, sys.prefix, sys.base_prefix]
    spec = {"write": [str(own)], "read": read, "network": True}
    code = (
        "import socket, sys; sys.path.append(sys.argv[1]); from bot.adapters.processes import landlock\n"
        "landlock.restrict(read=[], write=[], network=False, anonymous=False)\n"
        "print(socket.socket().connect_ex(('127.0.0.1', 1)))"
    )
    command = [sys.executable, "-I", "-S", confine.__file__, json.dumps(spec), "--"]
    command += [sys.executable, "-I", "-c", code, root]
    done = subprocess.run(command, capture_output=True, text=True)
    if landlock.version() >= 4:
        assert done.stdout == "13\n", done.stderr


def test_what_lies_beside_a_folder_of_programs_is_readable_unless_it_is_a_home() -> None:
    env = {
        "PATH": "/usr/bin:/home/user/.cargo/bin:/home/user/bin:/rootly/bin",
        "X": "/home",
        "GITHUB_PATH": "/github/a",
    }
    found = readable(["/srv/tools/bin/prog", "--in=/data/set/1", "/"], env)
    assert {"/home/user/.cargo", "/home/user/bin", "/srv/tools", "/data/set/1", "/rootly/bin"} <= set(found)
    assert not {"/", "/home", "/home/user", "/rootly", "/github/a"} & set(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give code another account")
def test_it_costs_nothing_that_is_there_no_more() -> None:
    ended = process.run(
        ["true"], cwd=Path("/"), env={"PATH": process.PATH}, account=ACCOUNT, timeout=60,
        box=Box((Path("/no/such/folder"),), (Path("/nor/this"),)),
    )  # fmt: skip
    assert ended.outcome == "ok"
