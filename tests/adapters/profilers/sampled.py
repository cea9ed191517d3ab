"""What holds of a profile in which some calls of often called methods were timed, whatever the agent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.model.profiles import CallPath, CallSeries, Method, MethodCost, Profile, Tool

CALLS = 300_000


def often_called(methods: Sequence[Method]) -> Profile:
    """A coarse profile of a second."""
    tool = Tool("coarse", "", "coarse", frozenset({"calls"}))
    return Profile(tool, "ok", 1.0, {m: MethodCost(0.2, calls=CALLS) for m in methods})


def seen(series: CallSeries) -> NDArray[np.float64]:
    """Seconds of each timed call, to the width of a bin."""
    middles = (series.edges[1:] + series.edges[:-1]) / 2
    return series.durations if len(series.durations) else np.repeat(middles, series.counts)


def sampled_as(profile: Profile, methods: Sequence[Method], thirds: Sequence[float], path: CallPath) -> None:
    """Checks a profile of methods of which each third call takes so many times as long (1: as the others).

    path: of callers that are not sampled. Sums would tell what else the machine did meanwhile.
    """
    said = f"of {len(methods)} methods"
    assert any(note.startswith("One in ") and said in note for note in profile.notes), profile.notes
    for method, times in zip(methods, thirds, strict=True):
        cost = profile.methods[method]
        assert cost.calls == CALLS
        (series,) = (one for one in profile.series if one.method == method)
        timed = seen(series)
        assert series.calls == pytest.approx(CALLS, abs=3)
        assert 1_000 < len(timed) < 100_000
        assert cost.total_seconds == pytest.approx(CALLS * timed.mean(), rel=0.03), "as long as those timed"
        slow = timed > 1.8 * np.median(timed)
        assert slow.mean() == pytest.approx(1 / 3 if times > 1 else 0, abs=0.05)
        if times > 1:
            ratio = np.median(timed[slow]) / np.median(timed[~slow])
            assert ratio == pytest.approx(times, rel=0.25)
        assert series.path == path, "of which callers most calls are not seen"
