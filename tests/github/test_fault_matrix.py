"""Every call to GitHub with every fault: the right answer now or after a rerun, and nothing twice."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.github.fake import REPOSITORY, FakeGithub
from tests.github.fault_matrix import EVERY, FOR_GOOD, KINDS, LASTING, Call, clean, opened, tried
from tests.github.operations import OPERATIONS
from tests.github.serving import Kind
from tests.github.test_command_faults import REQUESTS

USER, BLOB = r"/user", r"/blob/\d+"
"""What belongs to no repository: who we are, and the storage of artifacts."""


def patterns() -> list[tuple[str, str]]:
    """Method and pattern of each route that the fake has."""
    github = FakeGithub()
    found = [(method, pattern) for method, pattern, *_ in github._routes()]
    github.close()
    return [*found, ("GET", USER), ("GET", BLOB)]


def route(call: Call) -> tuple[str, str]:
    """The route that a call takes."""
    path = call.path.removeprefix(f"/repos/{REPOSITORY}")
    return next((m, p) for m, p in patterns() if m == call.method and re.fullmatch(p, path))


@cache
def once_each() -> dict[tuple[str, str], Call]:
    """One call for each route that any operation takes."""
    found: dict[tuple[str, str], Call] = {}
    for name in OPERATIONS:
        for call in clean(name)[0]:
            found.setdefault(route(call), call)
    return found


def test_every_route_is_tried_with_every_fault() -> None:
    """A call that is new in the fake needs an operation, or a command in test_command_faults.py."""
    commanded = {
        (method, pattern)
        for method, pattern in patterns()
        for asked, path in (one for requests in REQUESTS.values() for one in requests)
        if method == asked and re.search(path, f"/repos/{REPOSITORY}{_example(pattern)}")
    }
    assert set(patterns()) - set(once_each()) - commanded == set()


def _example(pattern: str) -> str:
    """A path that a route's pattern matches."""
    known = {r"(\d+)": "7", r"workflows/([^/]+)": "workflows/suspects.yml", "refs?": "ref", r"\.": "."}
    for part, text in known.items():
        pattern = pattern.replace(part, text)
    return re.sub(r"\([^)]+\)", "a", pattern)


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("kind", EVERY)
def test_one_fault_of_each_kind_at_each_route_loses_and_doubles_nothing(kind: Kind, part: int) -> None:
    wrong = {}
    for taken, call in list(once_each().items())[part::2]:
        if call.storage and kind == "revoked":
            continue
        result = tried(call, kind, clean(call.operation)[1])
        if result.wrong:
            wrong[taken] = result.wrong
    assert wrong == {}


@pytest.mark.parametrize("kind", LASTING)
def test_github_that_stays_away_is_one_line_and_the_rerun_completes_the_work(kind: Kind) -> None:
    call = next(one for one in clean("a fork's report published")[0] if "comments" in one.path)
    result = tried(call, kind, clean(call.operation)[1], times=FOR_GOOD)
    assert result.wrong == "" and result.said is not None


def test_a_fault_that_doubles_something_would_be_seen() -> None:
    """The matrix itself: what an operation leaves is compared, and a fault that never comes is no success."""
    call = clean("a first comment")[0][-1]
    assert tried(call, "500", "something else").wrong == "after a rerun something else is there"
    never = Call(call.operation, storage=False, method="GET", path="/nowhere", before=0)
    assert tried(never, "500", clean(call.operation)[1]).wrong == "the fault never came"
    opened(call.operation).close()


@pytest.mark.soak
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_call_of_every_operation_with_every_fault(name: str, kind: Kind) -> None:
    calls, left = clean(name)
    wrong = {}
    for call in calls:
        for times in (1, FOR_GOOD) if kind in LASTING else (1,):
            if not (call.storage and kind == "revoked"):
                result = tried(call, kind, left, times=times)
                if result.wrong:
                    wrong[call, times] = result.wrong
    assert wrong == {}
