"""Small programs in a checkout, and trials of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.profilers.native.conftest import Forge


@pytest.fixture
def forge(open_path: Path) -> Forge:
    """A checkout that every account can enter."""
    return Forge(open_path)
