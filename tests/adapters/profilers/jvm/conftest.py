"""Java programs that a test writes, compiled, as targets of a profiler."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.processes import process
from bot.adapters.profilers.jvm.toolchain import COMPILING
from bot.model.profiles import Target
from tests.accounts import OWN

MakeJvmTarget = Callable[..., Target]


@pytest.fixture
def make_jvm_target(open_path: Path) -> MakeJvmTarget:
    """Writes sources below src/, compiles them to classes/, and makes `words` a trial in the checkout."""

    def make(
        sources: Mapping[str, str], *words: str, env: Mapping[str, str] | None = None, **more: Any
    ) -> Target:
        javac = shutil.which("javac", path=process.PATH)
        assert javac, "a JDK is needed: apt-get install default-jdk-headless, or make test"
        root, scratch = open_path / "checkout", open_path / "scratch"
        for folder in (root, scratch):
            folder.mkdir(exist_ok=True)
        scratch.chmod(0o777)
        for name, text in sources.items():
            path = root / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if sources:
            files = [str(root / "src" / name) for name in sources]
            command = [
                javac,
                *COMPILING,
                "-encoding",
                "UTF-8",
                "-d",
                str(root / "classes"),
                *files,
            ]
            subprocess.run(command, check=True, capture_output=True)
        whole = {"PATH": process.PATH, "LC_ALL": "C.UTF-8", **(env or {})}
        return Target(words, whole, root, root, scratch, account=OWN["base"], **more)

    return make
