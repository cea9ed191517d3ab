"""A command that uses up the disk is short of room; one that finds it full is not."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from bot.adapters.processes.room import RESERVE_BYTES, RESERVE_FILES, Room

PLENTY = (4 * RESERVE_BYTES, 10 * RESERVE_FILES)


@pytest.mark.parametrize(
    ("before", "after", "short"),
    [
        (PLENTY, PLENTY, False),
        (PLENTY, (RESERVE_BYTES + 1, PLENTY[1]), False),
        (PLENTY, (RESERVE_BYTES - 4096, PLENTY[1]), True),
        (PLENTY, (PLENTY[0], RESERVE_FILES - 1), True),
        ((4096, 10), (0, 0), False),
        ((RESERVE_BYTES - 4096, PLENTY[1]), (RESERVE_BYTES // 2, PLENTY[1]), True),
    ],
)
def test_it_is_ended_for_what_it_took_itself(
    monkeypatch: pytest.MonkeyPatch, before: tuple[int, int], after: tuple[int, int], short: bool
) -> None:
    answers = [SimpleNamespace(f_bavail=b // 4096, f_frsize=4096, f_favail=f) for b, f in (before, after)]
    monkeypatch.setattr(os, "statvfs", lambda _: answers.pop(0))
    assert Room("/").short() is short


def test_a_place_that_is_gone_is_not_full() -> None:
    assert not Room("/no/such/place").short()
