"""The table of the reliability benchmark counts what went wrong, by kind and by mode."""

from __future__ import annotations

from benchmarks.reliability.table import markdown

ROWS = [
    {"part": "faults", "name": "500: a first comment", "tried": 4, "survived": 3, "wrong": []},
    {"part": "faults", "name": "500: an issue: opened", "tried": 2, "survived": 1, "wrong": ["twice"]},
    {"part": "kills", "name": "pull request 0", "tried": 18, "ended": 2, "wrong": []},
    {"part": "kills", "name": "pull request 1", "tried": 20, "ended": 0, "wrong": ["lost", "half"]},
    {"part": "many", "name": "500", "tried": 500, "settled": 273.0, "most": 274.2, "wrong": []},
]


def test_rows_of_a_kind_are_added_up() -> None:
    lines = markdown(ROWS).splitlines()
    assert "| 500 | 6 | 4 | 2 | 1 |" in lines and "| **all** | 6 | 4 | 2 | 1 |" in lines
    assert "| pull request | 38 | 2 | 2 |" in lines
    assert any("273 MiB" in line and "at most 274 MiB" in line for line in lines)
