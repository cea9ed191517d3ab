"""Variation: whether a method's cost differs between repetitions, configurations or the calls of one run."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class CallGroup(BaseModel):
    """Calls of a method that have something in common.

    seconds: geometric mean of their durations, callees included; times: the same over that of all calls of
    their runs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str
    calls: int
    seconds: float
    times: float


class ContextFactor(BaseModel):
    """What goes with the durations of a method's calls in one run.

    share: of the variance of the logarithms of durations within runs that the groups explain, beyond chance.
    slowest: of groups whose calls take longer than usual, those that explain most.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: Literal["arguments", "callers"]
    share: float
    slowest: tuple[CallGroup, ...]


class Variation(BaseModel):
    """Coefficients of variation of one method's seconds; null: not known.

    measurement: between repetitions of a configuration; configuration: between configurations; context:
    between the single calls of a run without the longest 1 %, callees included. calls, trials: watched ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str
    measurement: float | None = None
    configuration: float | None = None
    context: float | None = None
    calls: int = 0
    trials: int = 0
    factors: tuple[ContextFactor, ...] = ()

    @property
    def by_context(self) -> bool:
        """Whether the calls of one run differ more than configurations and repetitions do."""
        others = (self.measurement or 0.0, self.configuration or 0.0)
        return self.context is not None and self.context > max(others)
