"""A place for one test: a repository and folders that the accounts of builds and trials can enter."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.builders import Place
from tests.nursery import LEARNING, Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery | None]:
    """Starts commands for all tests of a process; modules whose tests are about starting have None."""
    one = Nursery(LEARNING)
    yield one
    one.close()


@pytest.fixture
def place(nursery: Nursery | None) -> Iterator[Place]:
    """Not below tmp_path, which is closed to other accounts."""
    folder = Path(tempfile.mkdtemp(prefix="suspects-place-"))
    folder.chmod(0o755)
    yield Place(folder, nursery)
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], capture_output=True)
    shutil.rmtree(folder)
