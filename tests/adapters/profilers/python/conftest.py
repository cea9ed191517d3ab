"""A checkout for every interpreter of this machine, or for ours alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.profilers.python.programs import Checkout, interpreters


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """For the interpreter that runs the tests."""
    return Checkout(tmp_path)


@pytest.fixture(params=list(interpreters()))
def any_checkout(tmp_path: Path, request: pytest.FixtureRequest) -> Checkout:
    """For each interpreter in turn."""
    return Checkout(tmp_path, interpreters()[request.param])
