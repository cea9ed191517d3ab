"""What a reader would do if the file that it reads had taken it over: run by the reader's own machinery."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.adapters.reading.answers import Told
from bot.adapters.reading.reader import _server, read
from bot.model.sites import Account


class Facts(Told):
    """What an attempt needs to know. others: process ids of ourselves and of who forks readers."""

    folder: Path
    secret: Path
    port: int
    others: list[int]


class Small(Told):
    """What is expected of an answer."""

    numbers: list[int]


def _environment_of_others(facts: Facts) -> object:
    return [Path(f"/proc/{pid}/environ").read_bytes() for pid in facts.others]


def _memory_of_others(facts: Facts) -> object:
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in facts.others:
        for request in (0x4206, 16):  # PTRACE_SEIZE, PTRACE_ATTACH
            if libc.ptrace(request, pid, None, None) == 0:
                return pid
    return [Path(f"/proc/{pid}/mem").open("rb") for pid in facts.others]


def _own_environment(facts: Facts) -> object:
    del facts
    kept = {"PATH", "LC_ALL", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LC_CTYPE"}
    if not (found := set(os.environ) - kept):
        raise OSError("nothing is there")
    return found


def _descriptors(facts: Facts) -> object:
    """Besides standard streams, which lead nowhere, only the pipe of the answer is open."""
    del facts
    found = []
    for number in range(3, 1024):
        try:
            found.append(os.fstat(number))
        except OSError:
            continue
    if len(found) == 1:
        raise OSError("nothing is there")
    return found


def _socket(family: int, address: Callable[[Facts], Any]) -> Callable[[Facts], object]:
    def attempt(facts: Facts) -> object:
        one = socket.socket(family)
        one.connect(address(facts))
        return one

    return attempt


def _signal(facts: Facts) -> object:
    for pid in facts.others:
        os.kill(pid, 0)
    return facts


def _write(facts: Facts) -> object:
    return [path.open("wb") for path in (facts.folder / "new", facts.folder / "profile")]


def _change(facts: Facts) -> object:
    (facts.folder / "profile").chmod(0o777)
    return facts


def _daemon(facts: Facts) -> object:
    if os.fork() == 0:
        os.setsid()
        time.sleep(100)
    return facts


def _temporary(facts: Facts) -> object:
    return Path(f"/tmp/left-by-{facts.port}").write_bytes(b"x")


ATTEMPTS: dict[str, Callable[[Facts], object]] = {
    "read_our_environment": _environment_of_others,
    "read_our_memory": _memory_of_others,
    "find_something_in_its_own_environment": _own_environment,
    "find_a_descriptor_of_ours": _descriptors,
    "read_a_file_outside": lambda facts: facts.secret.read_bytes(),
    "read_who_is_on_this_machine": lambda _: Path("/etc/passwd").read_bytes(),
    "list_processes": lambda _: list(Path("/proc").iterdir()),
    "write_beside_the_profile": _write,
    "change_modes": _change,
    "remove_the_profile": lambda facts: (facts.folder / "profile").unlink(),
    "link_to_a_secret": lambda facts: (facts.folder / "link").symlink_to(facts.secret),
    "leave_a_temporary_file": _temporary,
    "leave_shared_memory": lambda _: Path("/dev/shm/left").write_bytes(b"x"),
    "connect_over_the_network": _socket(socket.AF_INET, lambda facts: ("127.0.0.1", facts.port)),
    "send_packets": lambda _: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "connect_to_a_named_socket": _socket(socket.AF_UNIX, lambda facts: str(facts.folder / "socket")),
    "signal_us": _signal,
    "start_a_program": lambda _: subprocess.run(["true"]),
    "become_a_program": lambda _: os.execv("/bin/true", ["true"]),
    "outlive_us": _daemon,
    "become_root": lambda _: os.setresuid(0, 0, 0),
    "have_more_memory": lambda _: __import__("resource").setrlimit(9, (1 << 50, 1 << 50)),
}


def attempt(name: str, facts: Facts) -> str:
    """Whether it succeeded."""
    try:
        ATTEMPTS[name](facts)
    except OSError as error:
        return f"failed: {error}"
    except ValueError as error:
        return f"failed: {error}"
    return "succeeded"


def loop() -> Small:
    while True:
        pass


def sleep() -> Small:
    time.sleep(1000)
    return Small(numbers=[])


def eat() -> Small:
    eaten = []
    while True:
        eaten.append(bytearray(1 << 24))


def talk(size: int) -> list[str]:
    return ["x" * size]


def lie() -> Small:
    """Another answer than promised: not JSON."""
    return Small.model_construct(numbers="none at all")  # type: ignore[arg-type]


def die(number: int) -> Small:
    if number == signal.SIGSEGV:
        ctypes.string_at(0)
    os._exit(number)


def sulk() -> Small:
    raise KeyError("what nobody foresaw")


def complain() -> Small:
    raise ValueError("the profile\n::error::is \x1b[31mdamaged\u202e")


def remember(said: str) -> list[str]:
    """What earlier readings of this process said."""
    _SAID.append(said)
    return _SAID


_SAID: list[str] = []


def first_line(path: Path) -> str:
    return path.read_text().partition("\n")[0]


def attempts(facts: Facts, account: Account | None) -> dict[str, str]:
    """What became of each, as each in a reading of its own."""
    return {name: read(attempt, name, facts, files=[facts.folder], account=account) for name in ATTEMPTS}


def tell(text: str) -> None:
    """Makes them as somebody else than the tests, with the facts in JSON."""
    ours = [os.getpid(), _server()._process.pid]
    given = Facts.model_validate_json(text).model_copy(update={"others": ours})
    json.dump(attempts(given, None), sys.stdout)
