"""Small real repositories, programs that misbehave, and the real command run on them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.nursery import CODE, PATIENCE, Nursery
from tests.repositories import commit, git, new_repository

CONFIG = ".github/suspects.yml"
ROOT = os.geteuid() == 0
FLAGS = ("alpha", "beta", "gamma")
SAY = 'echo "turns: $turns"\n'
TURNS = [{"turns": {"regex": r"turns: (\d+)"}}]
"""Metrics that do not depend on what else the machine has to do: how fast and how well time is measured is
for benchmarks."""


def loop(turns: str = "2000") -> str:
    """Shell code that computes for some milliseconds, and adds up its turns."""
    return f"i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done; turns=$((turns+i))\n"


def shell(*lines: str, turns: str = "2000") -> str:
    """A program: the lines, then some work; it says how many turns that was."""
    return "\n".join(["#!/bin/sh", *lines, loop(turns), SAY])


NOT_ROOT = ("unshare", "--user", "--map-user=1000", "--map-group=1000") if ROOT else ()
"""Prefix of a command that is not to be root: in a user name space it is somebody without privileges."""
STEADY = shell("# one")
STEADY_TOO = shell("# two")
"""The same work; another text, so that the trees differ."""


def config(
    run: str = "./program.sh {options}", *, options: Mapping[str, Any] | None = None, **more: Any
) -> str:
    """The text of a configuration file (JSON is YAML); `program` in `more` adds to its keys.

    Of `program.sh` the turns are measured that `shell` makes it tell, unless `more` has other metrics.
    """
    chosen = options if options is not None else {name: {"flag": f"--{name}"} for name in FLAGS}
    program = {"run": run, **more.pop("program", {})}
    if program["run"].startswith("./program.sh"):
        more.setdefault("metrics", TURNS)
    return json.dumps({"program": program, "options": chosen, **more})


@dataclass(frozen=True)
class Ended:
    """How a command ended; `report` is what `--json` left, or None."""

    code: int
    out: str
    err: str
    report: dict[str, Any] | None

    @property
    def notes(self) -> str:
        """The report's notes as one text."""
        assert self.report is not None
        return "\n".join(self.report["notes"])

    @property
    def said(self) -> str:
        """All that a person sees."""
        return self.out + self.err

    def refused(self, *words: str, code: int = 2) -> None:
        """It must have ended with one line of error that has these words, and nothing else."""
        assert self.code == code, self.said
        lines = [line for line in self.err.splitlines() if not line.startswith("suspects: ")]
        assert not lines, self.err
        last = self.err.splitlines()[-1]
        assert last.startswith("suspects: error: ") and "internal" not in last, self.err
        assert self.err.count("suspects: error: ") == 1
        for word in words:
            assert word in last, last
        assert self.report is None


class Place:
    """A repository and the folders `tmp` (TMPDIR of the command) and `out`, which everyone may enter.

    nursery: has the command loaded, and starts it where nothing depends on how it is started.
    """

    def __init__(self, folder: Path, nursery: Nursery | None = None) -> None:
        self.folder = folder
        self._nursery = nursery
        self.repository = new_repository(folder / "repo")
        self.temp = folder / "tmp"
        self.out = folder / "out"
        for path in (self.temp, self.out):
            path.mkdir()
        self.temp.chmod(0o1777)

    def commit(self, files: Mapping[str, str | None]) -> str:
        """Commits files; the commit's id."""
        return commit(self.repository, files)

    def pull_request(
        self, base: str = STEADY, head: str = STEADY_TOO, *, text: str | None = None, **files: str
    ) -> None:
        """Two commits: `program.sh` at base and at head, with a configuration file."""
        self.commit({CONFIG: config() if text is None else text, "program.sh": base, **files})
        self.commit({"program.sh": head})

    def start(
        self,
        *arguments: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> subprocess.Popen[str]:
        """The command, running; `before`: a command it is started by."""
        return subprocess.Popen(
            [*before, sys.executable, "-m", "bot", *arguments],
            cwd=cwd or self.repository,
            env=self._surroundings(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def finish(self, process: subprocess.Popen[str], *, clean: bool = True) -> Ended:
        """Waits for its end and checks what holds for every run: no traceback, nothing left behind."""
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        return self._checked(process.returncode, out, err, clean=clean)

    def _surroundings(self, env: Mapping[str, str] | None) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "TMPDIR": str(self.temp),
            "HOME": str(self.folder),
            "PYTHONPATH": str(CODE),
            **(env or {}),
        }

    def _checked(self, code: int, out: str, err: str, *, clean: bool) -> Ended:
        report = self.out / "report.json"
        found = json.loads(report.read_text()) if report.exists() else None
        ended = Ended(code, out, err, found)
        assert "Traceback" not in ended.said, ended.said
        assert "internal error" not in ended.said, ended.said
        assert left(self.folder) == {}, ended.said
        if clean:
            assert {path.name for path in self.temp.iterdir()} <= {f"suspects-setup-{os.geteuid()}"}
        return ended

    def suspects(
        self,
        *arguments: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> Ended:
        """The command from start to end."""
        # What Python itself reads of the environment, it has read when the nursery began.
        if self._nursery is None or before or any(name.startswith(("PYTHON", "LC_")) for name in env or ()):
            return self.finish(self.start(*arguments, cwd=cwd, env=env, before=before))
        with TemporaryDirectory() as folder:
            files = {name: f"{folder}/{name}" for name in ("out", "err")}
            ended = self._nursery.start(arguments, cwd or self.repository, self._surroundings(env), **files)
            out, err = (Path(path).read_text("utf-8", errors="replace") for path in files.values())
        return self._checked(ended["status"], out, err, clean=True)

    def pr(self, *arguments: str, budget: str = "60s", **how: Any) -> Ended:
        """`suspects pr` on the last two commits, with a JSON report."""
        return self.suspects(*self.asking(*arguments, budget=budget), **how)

    def clear(self, said: Callable[[dict[str, Any]], object], *, seconds: float) -> Ended:
        """The first `pr` whose report says something: each has twice the seconds of the one before.

        A machine that has other work may need them. What is said must be right at once.
        """
        for budget in (seconds, 2 * seconds, 4 * seconds):
            ended = self.pr(budget=f"{budget:.0f}s")
            if ended.report is None or said(ended.report):
                break
        return ended

    def action(self, base: str, head: str, *, env: Mapping[str, str], **facts: Any) -> subprocess.Popen[str]:
        """`suspects action` on a pull request of the repository itself; facts: more of its event."""
        sides = {
            name: {"sha": sha, "repo": {"full_name": "o/r", "fork": False}}
            for name, sha in (("base", base), ("head", head))
        }
        event = self.out / "event.json"
        pull = {"number": 1, "draft": False, "state": "open", **sides, **facts}
        event.write_text(json.dumps({"action": "opened", "pull_request": pull}))
        surroundings = {
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_WORKSPACE": str(self.repository),
            "GITHUB_REPOSITORY": "o/r",
        }
        return self.start("action", env={**surroundings, **env})

    def asking(self, *arguments: str, budget: str = "60s") -> list[str]:
        """The words of `pr`."""
        words = ["pr", "--base", "HEAD~1", "--head", "HEAD", "--budget", budget]
        return [*words, "--json", str(self.out / "report.json"), *arguments]

    def git(self, *arguments: str) -> str:
        """Runs git in the repository."""
        return git(self.repository, *arguments)


def left(folder: Path, patience: float = 5.0) -> dict[int, str]:
    """Processes that still have to do with a folder: by arguments, environment or working directory."""
    limit = time.monotonic() + patience
    while (found := _left(str(folder))) and time.monotonic() < limit:
        time.sleep(0.05)
    return found


def _left(folder: str) -> dict[int, str]:
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
            traces = words + (entry / "environ").read_bytes() + bytes((entry / "cwd").readlink())
        except OSError:
            continue  # it ended, or belongs to somebody else
        if folder.encode() in traces:
            found[int(entry.name)] = words.replace(b"\0", b" ").decode(errors="replace")[:200]
    return found


def interrupt(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> None:
    """Sends a signal to the command alone."""
    os.kill(process.pid, number)


def wait_for_line(process: subprocess.Popen[str], text: str) -> None:
    """Reads standard error until a line has the text."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"it ended without saying {text!r}")
