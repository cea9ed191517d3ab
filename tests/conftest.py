"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from bot.adapters.processes.threads import one_thread

# The same examples each time: a change must not fail, or pass, by luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


LONGEST = (
    "test_the_method_behind_an_option_is_named",
    "test_a_night_learns_which_option_drives_a_method_and_a_pull_request_says_so",
    "test_a_night_of_the_published_pipeline_profiles_its_sample_and_its_learner_tells_influences",
    "test_a_night_proposes_what_the_next_does_not_once_it_was_taken_over",
    "test_a_pull_request_checks_the_assertions_of_base",
    "test_eight_jobs_of_which_one_is_killed_and_one_comes_twice",
    "test_what_is_mined_is_written_reviewed_checked_and_violated",
)
"""Those that take over half a minute, longest first: begun late, one of them would end the run alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole commands, which take longest, come first in each process's share: none has them left."""
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if "end_to_end" in item.path.parts]
    long.sort(key=_turn)
    others = [item for item in items if "end_to_end" not in item.path.parts]
    borders = [len(others) * i // count for i in range(count + 1)]
    items[:] = [
        item for i in range(count) for item in (*long[i::count], *others[borders[i] : borders[i + 1]])
    ]


def _turn(item: pytest.Item) -> int:
    """Its place in LONGEST; all others follow, in the order they are in."""
    name = item.name.partition("[")[0]
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


@pytest.fixture(autouse=True, scope="session")
def _as_the_commands_do() -> Iterator[None]:
    """One thread for linear algebra: tests run side by side, and several on a core wait for each other."""
    with one_thread():
        yield
