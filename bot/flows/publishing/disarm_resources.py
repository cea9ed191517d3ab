"""What of a fork's resources may be shown: numbers, our own names of counts, and harmless names of calls."""

from __future__ import annotations

import re
from typing import get_args

from bot.flows.publishing.disarm_words import kept, options, term
from bot.model.errors import ArtifactError
from bot.model.report_resources import (
    CountedResources,
    ResourceCall,
    ResourceCount,
    ResourceSuspect,
    ResourceVolume,
)
from bot.model.resources import FEATURE_OF, FEATURES, UNITS, Count

VOLUMES = ("max_rss", "heap_peak", "read_bytes", "written_bytes")
MOST = 50
"""Counts, volumes, calls and tools of one configuration: far above what is counted."""
_TOOL = re.compile(r"(strace|perf trace|cachegrind) \d[\d.]{0,20}")
_CALL = re.compile(r"[a-z0-9_]{1,40}")
_KNOWN: dict[str, Count] = {count: count for count in get_args(Count)}


def resource(suspect: ResourceSuspect) -> ResourceSuspect:
    """A new one; what is counted is said in our own words."""
    count = _KNOWN.get(suspect.count)
    return ResourceSuspect(
        feature=FEATURE_OF[count] if count else suspect.feature,
        base=suspect.base,
        head=suspect.head,
        unit=UNITS[count] if count else "",
        estimated_seconds=suspect.estimated_seconds,
        score=suspect.score,
        count=count or "",
        share=suspect.share,
        change_seconds=suspect.change_seconds,
        term=term(suspect.term),
        options=options(suspect.options),
    )


def counted(found: CountedResources) -> CountedResources:
    """A new one, without counts that are none of ours.

    Raises:
        ArtifactError: a list is longer than any that was counted, or an option is none.
    """
    calls = max((len(one.calls) for one in found.counts), default=0)
    if max(len(found.counts), len(found.volumes), len(found.tools), len(found.features), calls) > MOST:
        raise ArtifactError("the report has more counts of a configuration than there are")
    return CountedResources(
        options=options(found.options),
        change_seconds=found.change_seconds,
        explained=found.explained,
        complete=found.complete,
        features=tuple(one for one in found.features if one in FEATURES),
        counts=tuple(_count(one, _KNOWN[one.count]) for one in found.counts if one.count in _KNOWN),
        volumes=tuple(
            ResourceVolume(name=one.name, base=one.base, head=one.head)
            for one in found.volumes
            if one.name in VOLUMES
        ),
        tools=tuple(tool for one in found.tools if (tool := kept(one, _TOOL))),
    )


def _count(found: ResourceCount, count: Count) -> ResourceCount:
    return ResourceCount(
        count=count,
        feature=FEATURE_OF[count],
        base=found.base,
        head=found.head,
        estimated_seconds=found.estimated_seconds,
        moved=found.moved,
        calls=tuple(
            ResourceCall(name=call, base=one.base, head=one.head)
            for one in found.calls
            if (call := kept(one.name, _CALL))
        ),
    )
