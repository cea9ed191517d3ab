"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from bot.adapters.threads import one_thread

# The same examples each time: a change must not fail, or pass, by luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest come first, so that no process is left with them: whole commands."""
    items.sort(key=lambda item: "end_to_end" not in item.path.parts)


@pytest.fixture(autouse=True, scope="session")
def _as_the_commands_do() -> Iterator[None]:
    """One thread for linear algebra: tests run side by side, and several on a core wait for each other."""
    with one_thread():
        yield
