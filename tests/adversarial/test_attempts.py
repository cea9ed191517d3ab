"""Builds and trials make each attempt of a hostile program; it fails, and the run ends clearly."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.adapters.builds import checkout
from bot.adapters.processes import landlock
from tests.adversarial import attempts
from tests.end_to_end.builders import NOT_ROOT, ROOT, SAY, Ended, Place, config, loop

MOST_ANSWERS = 4096
TOKEN = "ghs_0123456789abcdef"
CAPABILITIES = (
    "chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "net_bind_service",
    "net_raw", "sys_chroot", "mknod", "audit_write", "setfcap",
)  # fmt: skip
DOCKER = ("setpriv", f"--bounding-set=-all,{','.join('+' + name for name in CAPABILITIES)}")
"""A command's prefix: root with what Docker leaves it."""
MACHINES = {"root": (), "root in a container": DOCKER, "without root": NOT_ROOT}
NOT_PREVENTED = {
    # Landlock and filters alone: no limit for an account that others use too, the same groups, and here,
    # where somebody without privileges is root in disguise, the same owner of the kernel's files.
    "without root": {
        "be_granted_more_processes_than_the_machine_bears",
        "speak_to_dockers_socket",
        "change_how_the_kernel_works",
    },
}

pytestmark = [
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="the attempts have numbers of x86_64"),
    pytest.mark.skipif(
        landlock.version() < 6, reason="without root nothing but Landlock 6 protects processes"
    ),
]


@dataclass(frozen=True)
class Attacked:
    """A run that was attacked: how it ended, and what its builds and trials say of their attempts."""

    machine: str
    ended: Ended
    said: dict[str, list[dict[str, str]]]


@contextlib.contextmanager
def listening(folder: Path) -> Iterator[dict[str, object]]:
    """What a program must not reach: sockets of all kinds, a runner's folder, credentials."""
    with contextlib.ExitStack() as stack:

        def bound(family: int, address: object) -> socket.socket:
            one = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            one.bind(address)  # type: ignore[arg-type]
            one.listen()
            return one

        ports = [
            bound(family, (host, 0)).getsockname()[1]
            for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
        ]
        docker = folder / "docker.sock"
        bound(socket.AF_UNIX, str(docker))
        docker.chmod(0o660)
        abstract = f"suspects-test-{os.getpid()}"
        bound(socket.AF_UNIX, "\0" + abstract)
        for name in ("runner_temp", "workspace/.git/hooks", "open"):
            (folder / name).mkdir(parents=True)
            (folder / name).chmod(0o777)
        secret = f'[credential]\n\thelper = "!echo username=x; echo password={TOKEN}; :"\n'
        (folder / "workspace" / ".git" / "config").write_text(secret)
        for name in (
            "runner_temp/git-credentials",
            "runner_temp/event.json",
            "runner_temp/set_output",
            "open/secret",
        ):
            (folder / name).write_text(f"https://x:{TOKEN}@github.com\n")
            (folder / name).chmod(0o644)
        shutil.copy("/usr/bin/id", folder / "id")
        (folder / "id").chmod(0o4755)
        yield {
            "port": ports[0], "port6": ports[1], "free_port": ports[0] + 1, "abstract": abstract,
            "docker_socket": str(docker), "runner_temp": str(folder / "runner_temp"),
            "workspace": str(folder / "workspace"), "open_folder": str(folder / "open"),
            "set_uid": str(folder / "id"),
        }  # fmt: skip


@pytest.fixture(scope="module", params=MACHINES)
def attacked(request: pytest.FixtureRequest) -> Iterator[Attacked]:
    machine: str = request.param
    if machine != "without root" and not ROOT:
        pytest.skip("only root can be root")
    # Not in /tmp: what is open to everybody there is open to accounts of their own too.
    folder = Path(tempfile.mkdtemp(prefix="suspects-attacked-", dir="/srv" if ROOT else None))
    folder.chmod(0o755)
    try:
        place = Place(folder)
        with listening(folder) as targets:
            yield attack(place, machine, targets)
    finally:
        checkout.remove(folder)


def attack(place: Place, machine: str, targets: dict[str, object]) -> Attacked:
    facts = {
        **targets, "token": TOKEN, "report": str(place.out / "report.json"), "processes": 4096,
        "account": machine != "without root", "file_size": 16 << 30, "answers": str(place.out / "answers"),
    }  # fmt: skip
    run = "python3 -IS attempts.py targets.json"
    text = config(program={"build": f"{run} build", "timeout": "60s"})
    program = "\n".join(["#!/bin/sh", f"{run} trial || exit 9", loop(), SAY])
    code = {"attempts.py": Path(attempts.__file__).read_text(), "targets.json": json.dumps(facts)}
    place.pull_request(program, f"{program}#\n", text=text, **code)
    said: dict[str, list[dict[str, str]]] = {"build": [], "trial": []}
    with socket.socket(socket.AF_UNIX) as answers:
        answers.bind(str(facts["answers"]))
        (place.out / "answers").chmod(0o666)
        answers.listen(MOST_ANSWERS)
        ended = place.pr(budget="8s", before=MACHINES[machine], env={"INPUT_GITHUB-TOKEN": TOKEN})
        answers.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                told, _ = answers.accept()
                with told, told.makefile("rb") as file:
                    where, results = json.load(file)
                    said[where].append(results)
    return Attacked(machine, ended, said)


@pytest.mark.parametrize("attempt", attempts.ATTEMPTS)
@pytest.mark.parametrize("where", ["build", "trial"])
def test_a_program_cannot(attacked: Attacked, where: str, attempt: str) -> None:
    said = [one[attempt] for one in attacked.said[where]]
    assert said, "it was not tried"
    if attempt not in NOT_PREVENTED.get(attacked.machine, set()):
        assert "succeeded" not in said


def test_a_run_that_was_attacked_ends_clearly(attacked: Attacked) -> None:
    ended = attacked.ended
    assert ended.code == 0 and ended.report is not None
    assert ended.report["spent"]["pairs"] > 0
    assert ended.report["verdict"] in ("none", "inconclusive")
    assert TOKEN not in ended.said and TOKEN not in json.dumps(ended.report)
