"""A reader that what it reads has taken over can do nothing but answer, and of no other file."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.processes import landlock, seccomp
from bot.adapters.reading import reader
from bot.adapters.reading.reader import Limits, read
from bot.model.sites import Account
from tests.adapters.workbench import soon
from tests.adversarial import readers
from tests.adversarial.readers import Facts
from tests.end_to_end.builders import NOT_ROOT
from tests.nursery import PATIENCE

ROOT = os.geteuid() == 0
ACCOUNT = Account(64801, 64801)
ACCOUNTS = [ACCOUNT, None] if ROOT else [None]
QUICK = Limits(seconds=1.0, cpu_seconds=60, memory=1 << 28, answer=1 << 20)
NOT_PREVENTED = {"become_root"}
"""For root without an account of its own (`sandbox: off`)."""

pytestmark = pytest.mark.skipif(
    landlock.version() < 6 or not seccomp.available(), reason="what holds a reader is the kernel's"
)


@pytest.fixture
def facts(open_path: Path) -> Iterator[Facts]:
    folder, secret = open_path / "folder", open_path / "secret"
    folder.mkdir()
    (folder / "profile").write_text("a profile")
    secret.write_text("a secret that everybody may read")
    for path in (folder, folder / "profile"):
        path.chmod(0o777)
    with socket.socket() as one, socket.socket(socket.AF_UNIX) as named:
        one.bind(("127.0.0.1", 0))
        one.listen()
        named.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        named.listen()
        others = [os.getpid(), reader._server()._process.pid]
        yield Facts(folder=folder, secret=secret, port=one.getsockname()[1], others=others)


@pytest.mark.parametrize("account", ACCOUNTS, ids=str)
@pytest.mark.parametrize("name", readers.ATTEMPTS)
def test_a_reader_cannot(name: str, account: Account | None, facts: Facts) -> None:
    said = read(readers.attempt, name, facts, files=[facts.folder], account=account)
    if not (ROOT and account is None and name in NOT_PREVENTED):
        assert said.startswith("failed: ")
    assert (facts.folder / "profile").read_text() == "a profile"


def test_a_reader_cannot_without_root_either(facts: Facts) -> None:
    script = "import sys; from tests.adversarial.readers import tell; tell(sys.argv[1])"
    command = [*NOT_ROOT, sys.executable, "-c", script, facts.model_dump_json()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    said = json.loads(done.stdout)
    assert said.keys() == readers.ATTEMPTS.keys()
    assert [name for name, what in said.items() if not what.startswith("failed: ")] == []


@pytest.mark.parametrize("account", ACCOUNTS, ids=str)
def test_a_reader_can_read_what_it_is_given(account: Account | None, facts: Facts) -> None:
    assert read(readers.first_line, facts.folder / "profile", files=[facts.folder], account=account) == (
        "a profile"
    )


def refusal(function: object, *arguments: object, limits: Limits = QUICK) -> str:
    """Why there is no answer: one line, after which the next reading goes well."""
    with pytest.raises(OSError) as caught:
        read(function, *arguments, files=[], account=ACCOUNT, limits=limits)  # type: ignore[arg-type]
    assert read(readers.remember, "well", files=[], account=ACCOUNT) == ["well"]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_reader_that_does_not_end_is_ended() -> None:
    assert refusal(readers.sleep) == "sleep took longer than 1 s"
    assert refusal(readers.loop) == "loop took longer than 1 s"


def test_a_reader_that_computes_too_long_is_ended_by_the_kernel() -> None:
    limits = QUICK._replace(seconds=60.0, cpu_seconds=1)
    assert refusal(readers.loop, limits=limits).startswith("loop was killed: it computed longer")


def test_a_reader_that_eats_memory_is_ended() -> None:
    assert (
        refusal(readers.eat, limits=QUICK._replace(seconds=60.0)) == "eat needs more memory than it may have"
    )


def test_a_giant_answer_is_not_taken() -> None:
    assert refusal(readers.talk, 1 << 21) == "talk said more than 1 MiB"


def test_an_answer_of_another_form_is_not_believed() -> None:
    assert refusal(readers.lie) == "lie gave an answer that makes no sense"


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGSEGV, "die was ended by signal SIGSEGV"), (0, "die failed"), (1, "die failed")],
)
def test_a_reader_that_dies_is_a_line(number: int, said: str) -> None:
    assert refusal(readers.die, number) == said


def test_an_error_that_nobody_foresaw_is_a_line() -> None:
    assert refusal(readers.sulk) == "sulk failed"


def test_words_of_a_reader_are_plain_text_of_one_line() -> None:
    assert refusal(readers.complain) == ": :error::is damaged"


def test_a_reading_is_ended_with_the_run() -> None:
    limits = QUICK._replace(seconds=60.0, cut_seconds=0.1)
    with pytest.raises(OSError, match="sleep was stopped with the run"):
        read(readers.sleep, files=[], account=ACCOUNT, stop=lambda: True, limits=limits)


def test_no_reading_knows_of_another() -> None:
    for said in ("head", "base"):
        assert read(readers.remember, said, files=[], account=ACCOUNT) == [said]


def test_nothing_is_left_of_a_reading_that_was_given_up() -> None:
    refusal(readers.loop)
    assert soon(lambda: not _forks(), PATIENCE)  # a fork that was killed goes when the kernel gets to it


def _forks() -> int:
    server = reader._server()._process.pid
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return len(children)


def test_a_server_that_was_killed_is_replaced() -> None:
    process = reader._server()._process
    process.kill()
    process.wait()
    assert read(readers.remember, "again", files=[], account=ACCOUNT) == ["again"]
