"""What a report says of resources: features that carry a change, and all that was counted."""

from __future__ import annotations

from pydantic import Field

from bot.model.report_part import Part
from bot.model.space import Value


class ResourceSuspect(Part):
    """A resource feature whose use moved with the time, in one flagged configuration (`options`).

    base, head: events of one trial, of the feature's count that costs most; unit: what is counted.
    estimated_seconds: what the difference of all its counts costs, of one trial, by the prior cost of an
    event (scaled down where all together cost more than was measured); change_seconds: measured. share: of
    the estimated cost of all that moved; score: 0 to 1, its geometric mean with the relative growth. term:
    the suspect that holds there.
    """

    feature: str
    base: float
    head: float
    unit: str
    estimated_seconds: float
    score: float
    count: str = ""
    share: float = 0.0
    change_seconds: float = 0.0
    term: tuple[str, ...] = ()
    options: dict[str, Value] = Field(default_factory=dict)


class ResourceCall(Part):
    """One of the calls that stand behind a count, by its name."""

    name: str
    base: int
    head: int


class ResourceCount(Part):
    """Mean events of one trial at base and head; moved: beyond what chance does. calls: that moved most."""

    count: str
    feature: str
    base: float
    head: float
    estimated_seconds: float
    moved: bool
    calls: tuple[ResourceCall, ...] = ()


class ResourceVolume(Part):
    """Bytes of one trial at base and head (max_rss, heap_peak, read_bytes, written_bytes)."""

    name: str
    base: float
    head: float


class CountedResources(Part):
    """All that was counted in one configuration.

    change_seconds: measured, of one trial; null: its time did not change, and `features` are those whose
    counts moved all the same. explained: the share of the change that counts explain (null: none to explain).
    complete: whether all sources counted both sides, base twice; the notes say what did not.
    """

    options: dict[str, Value]
    change_seconds: float | None
    explained: float | None = None
    complete: bool = True
    features: tuple[str, ...] = ()
    counts: tuple[ResourceCount, ...] = ()
    volumes: tuple[ResourceVolume, ...] = ()
    tools: tuple[str, ...] = ()
