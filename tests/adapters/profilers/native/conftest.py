"""Small programs, compiled on the spot, and trials of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bot.adapters.processes.process import PATH
from bot.model.profiles import Target
from tests.accounts import OWN

ACCOUNT = OWN["base"]


class Forge:
    """A checkout with programs made from source texts, and targets that run them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.root.mkdir()
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        if ACCOUNT is not None:
            os.chown(self.scratch, ACCOUNT.uid, ACCOUNT.gid)

    def make(self, *flags: str, compiler: str = "gcc", **sources: str) -> str:
        """Compiles and links sources (name_c="...", name_cpp="...") to `./program`; returns that."""
        names = []
        for name, text in sources.items():
            stem, _, suffix = name.rpartition("_")
            path = self.root / f"{stem}.{suffix}"
            path.write_text(text, encoding="utf-8")
            names.append(str(path))
        done = subprocess.run(
            [compiler, "-o", "program", *names, *flags], cwd=self.root, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return "./program"

    def target(self, *words: str, timeout: float = 60.0, **env: str) -> Target:
        """A trial of words in the checkout, as an account that may only write in scratch."""
        return Target(
            words or ("./program",),
            {"PATH": PATH, "LC_ALL": "C.UTF-8", **env},
            self.root,
            self.root,
            self.scratch,
            account=ACCOUNT,
            timeout=timeout,
        )


@pytest.fixture
def forge(open_path: Path) -> Forge:
    """A checkout that every account can enter."""
    return Forge(open_path)
