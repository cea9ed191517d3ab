"""What counted trials came to, in the report's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bot.analysis.resources.naming import CountChange, Named
from bot.flows.resources.counting import Runs
from bot.model.report_resources import (
    CountedResources,
    ResourceCall,
    ResourceCount,
    ResourceSuspect,
    ResourceVolume,
)
from bot.model.resources import FEATURE_OF, SOURCE_OF, UNITS, Count
from bot.model.space import Value
from bot.model.trials import Side

MOST_CALLS = 3
"""Names of calls told behind a count."""


@dataclass(frozen=True)
class Measured:
    """One configuration: what its counts amount to, beside what was measured (None: no change of time)."""

    options: dict[str, Value]
    named: Named
    runs: Runs
    volumes: Mapping[Side, Mapping[str, float]]
    change: float | None
    term: tuple[str, ...]


@dataclass(frozen=True)
class Resources:
    """What the counts came to, in the report's terms."""

    suspects: tuple[ResourceSuspect, ...] = ()
    counted: tuple[CountedResources, ...] = ()
    notes: tuple[str, ...] = ()


def suspects(found: Measured) -> list[ResourceSuspect]:
    """The named features, best first."""
    scale = _scale(found)
    return [
        ResourceSuspect(
            feature=one.feature,
            base=one.counts[0].base,
            head=one.counts[0].head,
            unit=UNITS[one.counts[0].count],
            estimated_seconds=scale * one.seconds,
            score=one.score,
            count=one.counts[0].count,
            share=one.share,
            change_seconds=found.change or 0.0,
            term=found.term,
            options=found.options,
        )
        for one in found.named.features
    ]


def counted(found: Measured) -> CountedResources:
    """All counts and volumes of the configuration."""
    return CountedResources(
        options=found.options,
        change_seconds=found.change,
        explained=found.named.explained,
        complete=found.runs.complete,
        features=tuple(one.feature for one in found.named.features),
        counts=tuple(_count(one, found.runs, _scale(found)) for one in found.named.counts),
        volumes=_volumes(found),
        tools=tuple(
            dict.fromkeys(c.tool for several in found.runs.found.values() for c in several if c.tool)
        ),
    )


def _scale(found: Measured) -> float:
    """Prior costs are rough: where they come to more than was measured, all are scaled down to that."""
    return 1 / max(found.named.explained or 0.0, 1.0)


def _count(one: CountChange, runs: Runs, scale: float) -> ResourceCount:
    return ResourceCount(
        count=one.count,
        feature=FEATURE_OF[one.count],
        base=one.base,
        head=one.head,
        estimated_seconds=scale * one.seconds,
        moved=one.moved,
        calls=_calls(one.count, runs) if one.moved else (),
    )


def _calls(count: Count, runs: Runs) -> tuple[ResourceCall, ...]:
    """The calls behind a count that moved most, in the first trial of each side."""
    base, head = (
        next((one.details.get(count, {}) for one in runs.found.get((SOURCE_OF[count], side), ())), {})
        for side in ("base", "head")
    )
    calls = [
        ResourceCall(name=name, base=base.get(name, 0), head=head.get(name, 0)) for name in {**base, **head}
    ]
    moved = [call for call in calls if call.base != call.head]
    return tuple(sorted(moved, key=lambda call: -abs(call.head - call.base))[:MOST_CALLS])


def _volumes(found: Measured) -> tuple[ResourceVolume, ...]:
    """Medians; those of ordinary trials before those of traced ones."""
    base, head = ({**_traced(found.runs, side), **found.volumes[side]} for side in ("base", "head"))
    return tuple(
        ResourceVolume(name=n, base=base[n], head=head[n]) for n in sorted(base.keys() & head.keys())
    )


def _traced(runs: Runs, side: Side) -> dict[str, float]:
    several = [one for (_, of), found in runs.found.items() if of == side for one in found]
    names = {name for one in several for name in one.volumes}
    return {n: float(np.median([one.volumes[n] for one in several if n in one.volumes])) for n in names}
