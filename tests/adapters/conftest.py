"""Folders that the accounts of builds and trials can enter."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Like tmp_path, but everybody may enter (and write); tmp_path is closed to other accounts."""
    path = Path(tempfile.mkdtemp(prefix="suspects-test-"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)
