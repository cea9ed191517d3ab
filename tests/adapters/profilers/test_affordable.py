"""Which methods are watched within an overhead."""

from __future__ import annotations

from collections.abc import Mapping

from bot.adapters.profilers.affordable import affordable
from bot.model.profiles import Method, MethodCost, Profile, Tool

A, B, C, NEW = Method("a"), Method("b"), Method("c"), Method("new")


def coarse(calls: Mapping[Method, int | None]) -> Profile:
    """A trial of one second."""
    tool = Tool(name="t", version="", grain="coarse", quantities=frozenset())
    return Profile(tool, "ok", 1.0, methods={m: MethodCost(0.1, calls=n) for m, n in calls.items()})


def test_what_is_called_too_often_is_left_out_and_named() -> None:
    profile = coarse({A: 90_000, B: 5_000, C: 2_000_000})
    kept, (note,) = affordable([C, A, B], profile, seconds_per_call=1e-6, overhead=0.1)
    assert kept == [B, A]
    assert note.startswith(
        "Methods called too often to be watched within 10% overhead (first: c, 2000000 calls)"
    )
    assert note.endswith("1 in all.")


def test_the_watched_methods_share_the_overhead() -> None:
    kept, notes = affordable([A, B], coarse({A: 60_000, B: 60_001}), seconds_per_call=1e-6, overhead=0.1)
    assert (kept, len(notes)) == ([A], 1)


def test_what_no_count_is_known_of_is_watched() -> None:
    assert affordable([A, NEW], coarse({A: None}), seconds_per_call=1e-6, overhead=0.1) == ([A, NEW], [])
    assert affordable([A, B, A], None, seconds_per_call=1.0, overhead=0.1) == ([A, B], [])
