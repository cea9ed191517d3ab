"""Whether a method's calls say the same again: each half of the trials must find the groups that all find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.analysis.assertions.comparing import aligned
from bot.analysis.assertions.modelling import model
from bot.model.assertions import CallObservation, PathModel

REPLICATED = 0.8
"""Share of the calls of which a half must say the same, as is asked of two executions (seeds/002, 4.1)."""


def replicated(
    method: str,
    file: str | None,
    observations: Sequence[CallObservation],
    *,
    estimator: Literal["ours", "published"] = "ours",
) -> PathModel | None:
    """The model of a method; None: every other trial, or the others, would have said something else.

    What does not come again within one execution does not come again in the next: the idea of prediction
    strength (Tibshirani and Walther 2005), where the groups of one half of the data must be those of the
    other. The published estimator asks for nothing.
    """
    in_time = sorted(observations, key=lambda o: o.start)
    whole = model(method, file, in_time, estimator=estimator)
    if estimator == "published" or len(in_time) < 2:
        return whole
    halves = (model(method, file, half) for half in (in_time[::2], in_time[1::2]))
    return whole if all(aligned(whole, half).calls >= REPLICATED for half in halves) else None
