"""What holds of a profile in which some calls of often called methods were timed, whatever the agent."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.model.profiles import CallPath, Method, MethodCost, Profile, Tool

CALLS = 300_000


def often_called(methods: Sequence[Method]) -> Profile:
    """A coarse profile of a second."""
    tool = Tool("coarse", "", "coarse", frozenset({"calls"}))
    return Profile(tool, "ok", 1.0, {m: MethodCost(0.2, calls=CALLS) for m in methods})


def sampled_as(some: Profile, every: Profile, methods: Sequence[Method], path: CallPath) -> None:
    """Checks a profile against one in which each call was timed; path: of callers that are not sampled."""
    said = f"of {len(methods)} methods"
    assert any(note.startswith("One in ") and said in note for note in some.notes), some.notes
    for method in methods:
        whole, part = every.methods[method], some.methods[method]
        assert whole.calls == part.calls == CALLS
        assert part.total_seconds == pytest.approx(whole.total_seconds, rel=0.5)
        (series,) = (one for one in some.series if one.method == method)
        assert series.calls == pytest.approx(CALLS, abs=3)
        assert 1_000 < series.counts.sum() + len(series.durations) < 100_000
        assert series.path == path, "of which callers most calls are not seen"
