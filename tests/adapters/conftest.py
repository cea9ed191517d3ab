"""Folders that the accounts of builds and trials can enter."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.builds import checkout
from tests.adapters.shop import Shop
from tests.adapters.workbench import Workbench
from tests.adapters.yard import Yard


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Like tmp_path, but everybody may enter (and write); tmp_path is closed to other accounts."""
    path = Path(tempfile.mkdtemp(prefix="suspects-test-"))
    path.chmod(0o777)
    yield path
    checkout.remove(path)


@pytest.fixture
def workbench(open_path: Path) -> Workbench:
    """Sides and a bench; test processes that run at the same time must not sweep each other's accounts."""
    return Workbench(open_path, 62000 + 2 * (os.getpid() % 400))


@pytest.fixture
def yard(open_path: Path) -> Iterator[Yard]:
    """A yard whose workshops are closed at the end."""
    made = Yard(open_path)
    yield made
    made.close()


@pytest.fixture
def shop(open_path: Path) -> Iterator[Shop]:
    """A shop whose workshops are closed at the end."""
    made = Shop(open_path)
    yield made
    made.close()
