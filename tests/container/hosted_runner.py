"""A job on a hosted runner: its folders, who owns them, and how it starts an action's container."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.container.engine import ROOT, Engine
from tests.container.git_server import GitServer
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub
from tests.repositories import git

RUNNER, DOCKER = 1001, 121
"""The account that owns all that a runner makes, and the group that may use Docker."""
CREDENTIAL = "an-uncommon-credential"
_FILES = ("set_output", "set_env", "add_path", "step_summary", "save_state")


@dataclass(frozen=True)
class Step:
    """How the step ended: exit code, log, and what it left for later steps."""

    code: int
    log: str
    outputs: Mapping[str, str]
    summary: str


class HostedRunner:
    """One job: a workspace with a checkout, and GitHub as it is seen from a container."""

    def __init__(self, folder: Path, engine: Engine, github: FakeGithub, server: GitServer) -> None:
        self.engine, self.github, self.server = engine, github, server
        self.workspace = folder / "work/tools/tools"
        self.temp = folder / "work/_temp"
        self.socket = folder / "docker.sock"
        for part in ("_github_home", "_github_workflow", "_runner_file_commands"):
            (self.temp / part).mkdir(parents=True)
        # As actions/checkout leaves it, and as everything a runner makes: readable by all.
        (self.temp / "git-credentials-1.config").write_text(CREDENTIAL)

    def check_out(self, revision: str, *, branch: str | None = None) -> None:
        """The whole history, as actions/checkout with a depth of 0 leaves it; the runner owns it."""
        self.workspace.parent.mkdir(parents=True)
        git(self.workspace.parent, "clone", "--quiet", f"{self.server.url}/{REPOSITORY}", "tools")
        git(self.workspace, "fetch", "--quiet", "origin", "+refs/*:refs/remotes/all/*")
        where = ["-B", branch, revision] if branch else ["--detach", revision]
        git(self.workspace, "checkout", "--quiet", *where)

    def step(
        self,
        event: str,
        payload: Mapping[str, Any],
        *,
        ref: str,
        instead: Sequence[str] | None = None,
        **inputs: str,
    ) -> Step:
        """Runs the action as `uses:` does, or another command `instead` of it."""
        self.workspace.mkdir(parents=True, exist_ok=True)
        (self.temp / "_github_workflow/event.json").write_text(json.dumps(payload))
        files = {name: self.temp / "_runner_file_commands" / f"{name}_1" for name in _FILES}
        for path in files.values():
            path.write_text("")
        _give(self.workspace.parents[2])
        with _listening(self.socket):
            done = self.engine.start(
                environment=self._environment(event, ref) | _inputs(inputs),
                mounts={
                    self.socket: "/var/run/docker.sock",
                    self.temp: "/github/runner_temp",
                    self.temp / "_github_home": "/github/home",
                    self.temp / "_github_workflow": "/github/workflow",
                    self.temp / "_runner_file_commands": "/github/file_commands",
                    self.workspace: "/github/workspace",
                },
                workdir="/github/workspace",
                entrypoint=instead,
            )
        outputs = files["set_output"].read_text().splitlines()
        return Step(
            code=done.returncode,
            log=done.stdout + done.stderr,
            outputs={line.split("<<")[0]: outputs[i + 1] for i, line in enumerate(outputs) if "<<" in line},
            summary=files["step_summary"].read_text(),
        )

    def later_step(self, *command: str) -> bytes:
        """What a command of the runner's own account prints, on the host and in the workspace."""
        return subprocess.run(
            command,
            cwd=self.workspace,
            user=RUNNER,
            group=RUNNER,
            extra_groups=(),
            check=True,
            capture_output=True,
        ).stdout

    def _environment(self, event: str, ref: str) -> dict[str, str]:
        files = {
            f"GITHUB_{variable}": f"/github/file_commands/{name}_1"
            for variable, name in zip(("OUTPUT", "ENV", "PATH", "STEP_SUMMARY", "STATE"), _FILES, strict=True)
        }
        return files | {
            "HOME": "/github/home",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION": "suspects",
            "GITHUB_ACTOR": "ann",
            "GITHUB_API_URL": self.github.api.url,
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_JOB": "measure",
            "GITHUB_REF": ref,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": "500",
            "GITHUB_SERVER_URL": self.server.url,
            "GITHUB_WORKFLOW": "Suspects",
            "GITHUB_WORKSPACE": "/github/workspace",
            "RUNNER_ARCH": "X64",
            "RUNNER_ENVIRONMENT": "github-hosted",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": "/github/runner_temp",
            "RUNNER_TOOL_CACHE": "/opt/hostedtoolcache",
            "RUNNER_WORKSPACE": "/home/runner/work/tools",
            "ACTIONS_CACHE_URL": "http://127.0.0.1:9/",
            "ACTIONS_RESULTS_URL": "http://127.0.0.1:9/",
            "ACTIONS_RUNTIME_TOKEN": CREDENTIAL,
        }


def _inputs(given: Mapping[str, str]) -> dict[str, str]:
    """All inputs of action.yml, as the runner hands them over; absent ones have their default."""
    declared = YAML(typ="safe").load(ROOT / "action.yml")["inputs"]
    defaults = {name: str(about.get("default", "")) for name, about in declared.items()}
    values = (
        defaults
        | {"github-token": WORKFLOW}
        | {name.replace("_", "-"): value for name, value in given.items()}
    )
    assert values.keys() == declared.keys()
    return {f"INPUT_{name.upper()}": value for name, value in values.items()}


def _give(folder: Path) -> None:
    """Everything below belongs to the runner."""
    for path, _, names in os.walk(folder):
        os.chown(path, RUNNER, DOCKER)
        for name in names:
            os.chown(Path(path, name), RUNNER, DOCKER, follow_symlinks=False)


@contextmanager
def _listening(path: Path) -> Iterator[None]:
    """A socket that answers nobody, with the rights of Docker's."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        os.chown(path, 0, DOCKER)
        path.chmod(0o660)
        yield
    with suppress(FileNotFoundError):
        path.unlink()


@contextmanager
def a_job(engine: Engine, github: FakeGithub, server: GitServer) -> Iterator[HostedRunner]:
    """A fresh job; its folders are removed whatever it left in them."""
    with tempfile.TemporaryDirectory(prefix="suspects-runner-") as folder:
        Path(folder).chmod(0o755)
        yield HostedRunner(Path(folder), engine, github, server)
