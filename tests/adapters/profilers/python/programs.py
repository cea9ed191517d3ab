"""Python programs to be profiled, and the interpreters that this machine has."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bot.adapters.processes.process import PLAIN_ENVIRONMENT
from bot.model.profiles import MethodCost, Profile, Target

OLDEST = (3, 8)


@cache
def interpreters() -> dict[str, str]:
    """Version -> an interpreter of it that the agent supports: ours, the system's, and pyenv's."""
    found = {}
    installed = sorted(str(p) for p in (Path.home() / ".pyenv/versions").glob("*/bin/python3"))
    for path in [*installed, shutil.which("python3", path="/usr/bin"), sys.executable]:
        if path is None:
            continue
        asked = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        version = re.match(r"Python (3)\.(\d+)\.\d+", asked.stdout)
        if version and (int(version[1]), int(version[2])) >= OLDEST:
            found[f"3.{version[2]}"] = path
    return found


class Checkout:
    """A folder with a program in it, and targets that run it."""

    def __init__(self, place: Path, interpreter: str = sys.executable) -> None:
        self.root, self.scratch = place / "checkout", place / "scratch"
        for folder in (self.root, self.scratch):
            folder.mkdir()
        self.interpreter = interpreter

    def write(self, files: Mapping[str, str]) -> None:
        """Writes files by their path."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")

    def target(self, *words: str, env: Mapping[str, str] | None = None, timeout: float = 30.0) -> Target:
        """`words` after the interpreter."""
        return Target(
            words=(self.interpreter, *words),
            env={**PLAIN_ENVIRONMENT, **(env or {})},
            root=self.root,
            cwd=self.root,
            scratch=self.scratch,
            timeout=timeout,
        )


def own(profile: Profile) -> dict[str, MethodCost]:
    """Costs by name, of methods that lie in the checkout."""
    return {method.name: cost for method, cost in profile.methods.items() if method.file is not None}


def calls(profile: Profile) -> dict[str, int | None]:
    """Calls by name, of methods that lie in the checkout; without module and class bodies."""
    return {
        method.name: cost.calls
        for method, cost in profile.methods.items()
        if method.file is not None and "<module>" not in method.name
    }


def told(profile: Profile) -> tuple[str, ...]:
    """Notes but for the one on waiting: how long a short program waits depends on the machine."""
    return tuple(note for note in profile.notes if "of its time" not in note)
