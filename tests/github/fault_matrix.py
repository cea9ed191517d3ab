"""Every call of every operation with every fault: right now or after a rerun, and nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import get_args

from bot.model.errors import SuspectsError
from tests.github.fake import WORKFLOW, FakeGithub, Token
from tests.github.operations import ALL, OPERATIONS, Ports
from tests.github.serving import Fault, Kind, Site

KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != "meanwhile")
EVERY: tuple[Kind, ...] = (
    "500",
    "502 after",
    "403 secondary",
    "429",
    "timeout",
    "drop after",
    "garbage",
    "revoked",
)
"""One of each way to fail; the others differ from one of these in a word."""
LASTING: tuple[Kind, ...] = ("500", "429", "403 secondary", "drop", "garbage", "revoked")
"""Faults that are also tried until the end of the job."""
FOR_GOOD = 999


@dataclass(frozen=True)
class Call:
    """A request of an operation: to which of the two servers, what, and how many alike come before it."""

    operation: str
    storage: bool
    method: str
    path: str
    before: int


@dataclass(frozen=True)
class Tried:
    """How one try went: what was said when it failed (None: it did not), and what was wrong afterwards."""

    said: str | None
    wrong: str = ""


def opened(name: str) -> FakeGithub:
    """GitHub as it is before an operation."""
    github = FakeGithub()
    github.tokens[WORKFLOW] = ALL
    OPERATIONS[name].arrange(github)
    for site in (github.api, github.storage):
        site.log.clear()
    return github


@cache
def clean(name: str) -> tuple[list[Call], object]:
    """The calls of an operation when nothing goes wrong, in order, and what it leaves."""
    github = opened(name)
    with Ports(github) as ports:
        OPERATIONS[name].act(ports)
    left = OPERATIONS[name].state(github)
    github.close()
    return [*_calls(name, github.api, storage=False), *_calls(name, github.storage, storage=True)], left


def _calls(name: str, site: Site, *, storage: bool) -> Iterator[Call]:
    seen: list[tuple[str, str]] = []
    for method, path, _ in site.log:
        yield Call(name, storage, method, path, seen.count((method, path)))
        seen.append((method, path))


def tried(call: Call, kind: Kind, expected: object, *, times: int = 1) -> Tried:
    """The operation with this fault at this call, then (when it failed) again without, then once more."""
    github = opened(call.operation)
    site = github.storage if call.storage else github.api

    def revoke() -> None:
        github.tokens[WORKFLOW] = Token(permissions={})

    fault = Fault(kind, call.method, f"^{_escaped(call.path)}$", times, call.before, "0", revoke)
    site.faults.append(fault)
    said, wrong = _act(github, call.operation, timeout=1 if kind == "timeout" else 10)
    if fault.times == times and not wrong:
        wrong = "the fault never came"
    fault.times = 0
    github.tokens[WORKFLOW] = ALL
    # A permission that is taken away is a note; what it was for is there once it is given back.
    undone = said is not None or kind == "revoked"
    for attempt in ("a rerun", "one more run"):
        if (undone or attempt == "one more run") and not wrong:
            again, wrong = _act(github, call.operation)
            wrong = wrong or (f"{attempt} failed: {again}" if again is not None else "")
        if not wrong and OPERATIONS[call.operation].state(github) != expected:
            wrong = f"after {attempt} something else is there"
    try:
        github.close()
    except AssertionError as error:
        wrong = wrong or f"against GitHub's rules: {error}"
    return Tried(said, wrong)


def _act(github: FakeGithub, name: str, *, timeout: int = 10) -> tuple[str | None, str]:
    """What was said when it failed, and what should not have happened."""
    try:
        with Ports(github, timeout) as ports:
            OPERATIONS[name].act(ports)
    except SuspectsError as error:
        said = str(error)
        return said, "" if 0 < len(said) < 400 and "\n" not in said else f"said: {said!r}"
    except Exception as error:  # noqa: BLE001  whatever escapes is what the matrix is to find
        return None, f"{type(error).__name__}: {error}"
    return None, ""


def _escaped(path: str) -> str:
    return "".join(character if character.isalnum() else f"\\{character}" for character in path)
