"""Overhead: whether a profiler keeps the order of configurations, and which options make it slow."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class OverheadDriver(BaseModel):
    """An option, and the rank correlation of its most telling value with profiled over unprofiled seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    option: str
    correlation: float


class ProfilerOverhead(BaseModel):
    """CPU seconds under a profiler against those without, over configurations.

    pearson, spearman: correlations (null: one side is the same everywhere). ratio: the median of profiled
    over unprofiled.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str
    configurations: int
    pearson: float | None
    spearman: float | None
    ratio: float
    drivers: tuple[OverheadDriver, ...] = ()
