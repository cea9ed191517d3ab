"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from bot.adapters.threads import one_thread

# The same examples each time: a change must not fail, or pass, by luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole commands, which take longest, come first in each process's share: none has them left."""
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if "end_to_end" in item.path.parts]
    others = [item for item in items if "end_to_end" not in item.path.parts]
    borders = [len(others) * i // count for i in range(count + 1)]
    items[:] = [
        item for i in range(count) for item in (*long[i::count], *others[borders[i] : borders[i + 1]])
    ]


@pytest.fixture(autouse=True, scope="session")
def _as_the_commands_do() -> Iterator[None]:
    """One thread for linear algebra: tests run side by side, and several on a core wait for each other."""
    with one_thread():
        yield
