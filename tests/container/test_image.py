"""The image itself: its weight, how fast it starts, and that what it carries runs under Docker's rights."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.container.engine import ROOT, Engine
from tests.repositories import commit, new_repository

pytestmark = pytest.mark.container

HEAVIEST = 1_550_000_000
SLOWEST_START = 3.0
STARTS = 3
"""The fastest counts: the first one reads the image from the disk."""
AS_USER_CODE = "setpriv --reuid=64001 --regid=64001 --clear-groups --no-new-privs"
MODULE = {"package.json": json.dumps({"name": "part", "version": "1.0.0", "main": "part.js"}), "part.js": ""}
PACKAGE = {
    "package.json": json.dumps(
        {"name": "whole", "version": "1.0.0", "dependencies": {"part": "file:part-1.0.0.tgz"}}
        | {"scripts": {"build": "node -e \"require('part'); console.log('built')\""}}
    )
}


def said(engine: Engine, script: str, mounts: Mapping[Path, str] | None = None) -> str:
    """What a shell script in the image prints; it must succeed."""
    done = engine.start("-ec", script, entrypoint=["/bin/sh"], mounts=mounts)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_image_is_light(engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    size = engine.image()["Size"]
    with capfd.disabled():
        print(f"\nimage: {size / 1e6:.0f} MB, ready in {engine.build_seconds:.0f} s")  # noqa: T201
    assert size < HEAVIEST


def test_a_job_starts_at_once(engine: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """From the start of the container to the first line of the log of a pull request."""
    sha = commit(new_repository(tmp_path / "workspace"), {"README": "\n"})
    side = {"sha": sha, "repo": {"full_name": "o/r"}}
    pull = {"number": 1, "state": "open", "head": side, "base": side}
    (tmp_path / "event.json").write_text(json.dumps({"action": "opened", "pull_request": pull}))
    environment = {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": "/job/event.json",
        "GITHUB_WORKSPACE": "/job/workspace",
    }
    command = engine.command(environment=environment, mounts={tmp_path: "/job"})
    starts = []
    for _ in range(STARTS):
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as job:
            assert job.stdout is not None
            first = job.stdout.readline()
            starts.append(time.perf_counter() - began)
            rest = job.stdout.read()
        assert job.returncode == 2 and ".github/suspects.yml" in rest, first + rest
        assert first == "suspects: measure and comment\n"
    others = max(os.getloadavg()[0] / len(os.sched_getaffinity(0)), 1.0)
    with capfd.disabled():
        print(f"\nstart: {min(starts):.1f} s, at {others:.1f} times the load of the cores")  # noqa: T201
    assert min(starts) < SLOWEST_START * others


def test_it_has_the_locked_dependencies(engine: Engine) -> None:
    listing = "import importlib.metadata as m; print(*(f'{d.name}=={d.version}' for d in m.distributions()))"
    found = said(engine, f'/opt/suspects/venv/bin/python -c "{listing}"').lower().replace("_", "-").split()
    lock = (ROOT / "requirements.lock").read_text()
    wanted = {pin.lower() for pin in re.findall(r"^([\w.-]+==\S+)", lock, re.MULTILINE)}
    missing = {pin.replace(".", "-") for pin in wanted} - {pin.replace(".", "-") for pin in found}
    assert wanted and not missing


@pytest.mark.parametrize(
    "command",
    [
        "valgrind --tool=callgrind --callgrind-out-file=/dev/null true",
        "valgrind --tool=cachegrind --cachegrind-out-file=/dev/null true",
        "strace -f -o /dev/null true",
        "uftrace --version",
        "perf --version",
        "stress-ng --temp-path /tmp --cpu 1 --timeout 1",
        "eu-addr2line --version",
        "python3 -m venv /tmp/venv",
        "javac -version",
        "cmake --version",
        "autoreconf --version",
    ],
    ids=lambda command: command.split()[0],
)
def test_a_tool_runs_for_user_code(engine: Engine, command: str) -> None:
    said(engine, f"{AS_USER_CODE} env HOME=/tmp {command}")


def test_npm_packs_installs_and_builds(engine: Engine, tmp_path: Path) -> None:
    for folder, files in (("part", MODULE), ("whole", PACKAGE)):
        (tmp_path / folder).mkdir()
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
    script = (
        "cp -r /given /tmp/w; chown -R 64001 /tmp/w; cd /tmp/w/whole;"
        f" {AS_USER_CODE} env HOME=/tmp/w sh -ec"
        " 'npm pack ../part; npm install --offline --no-audit; npm ci --offline --no-audit; npm run build'"
    )
    assert "built" in said(engine, script, mounts={tmp_path: "/given"})
