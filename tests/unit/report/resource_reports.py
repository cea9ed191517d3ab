"""Reports that blame resources: explained by counts, not explained by them, moved without a time effect."""

from __future__ import annotations

from bot.model.report import Report, Suspects
from bot.model.report_resources import (
    CountedResources,
    ResourceCall,
    ResourceCount,
    ResourceSuspect,
    ResourceVolume,
)
from bot.model.resources import FEATURE_OF, Count
from tests.unit.report.builders import DEFAULT, regression, report
from tests.unit.report.method_reports import method, profile

TERM = ("compress", "reduce_vars")


def count(
    name: Count, base: float, head: float, cost: float = 0.0, *calls: tuple[str, int, int]
) -> ResourceCount:
    """A count that moved when its difference costs something."""
    return ResourceCount(
        count=name,
        feature=FEATURE_OF[name],
        base=base,
        head=head,
        estimated_seconds=cost,
        moved=cost != 0.0,
        calls=tuple(ResourceCall(name=n, base=b, head=h) for n, b, h in calls),
    )


FAULTS = count("page_faults", 1204.4, 9870, 0.0043)
CALLS = count("filesystem_calls", 310, 452, 0.0004, ("openat", 12, 83), ("read", 12, 83))
STILL = (
    count("instructions", 312_004_120, 312_004_981),
    count("branch_misses", 1_204_120, 1_204_120),
    count("network_calls", 0, 0),
)


def suspect(found: ResourceCount, score: float, **other: object) -> ResourceSuspect:
    """A named feature of the default configuration, which is 5.1 ms slower."""
    usual: dict[str, object] = {
        "feature": found.feature,
        "count": found.count,
        "base": found.base,
        "head": found.head,
        "unit": "events",
        "estimated_seconds": found.estimated_seconds,
        "score": score,
        "share": score,
        "change_seconds": 0.0051,
        "term": TERM,
        "options": DEFAULT,
    }
    return ResourceSuspect.model_validate(usual | other)


def counted(*counts: ResourceCount, **other: object) -> CountedResources:
    """All that was counted in the default configuration."""
    usual: dict[str, object] = {
        "options": DEFAULT,
        "change_seconds": 0.0051,
        "explained": 0.92,
        "features": tuple(dict.fromkeys(one.feature for one in counts if one.moved)),
        "counts": counts,
        "volumes": (
            ResourceVolume(name="max_rss", base=48e6, head=61.2e6),
            ResourceVolume(name="read_bytes", base=1204, head=1204),
        ),
        "tools": ("strace 6.1", "cachegrind 3.19.0"),
    }
    return CountedResources.model_validate(usual | other)


def of_faults() -> Report:
    """A method and two resources behind the same slow-down; another configuration has its own counts."""
    found = regression()
    slow = DEFAULT | {"passes": 3}
    return regression(
        suspects=Suspects(
            options=found.suspects.options,
            methods=(method("parse", 0.81),),
            resources=(suspect(FAULTS, 0.96), suspect(CALLS, 0.31)),
        ),
        profiles=(profile(),),
        resources=(counted(*STILL, FAULTS, CALLS), counted(FAULTS, options=slow)),
    )


def unexplained() -> Report:
    """A slow-down of 90 ms, of which counts explain little: no line above the fold."""
    found = regression()
    named = suspect(FAULTS, 1.0, change_seconds=0.09)
    return regression(
        suspects=Suspects(options=found.suspects.options, resources=(named,)),
        resources=(counted(*STILL, FAULTS, change_seconds=0.09, explained=0.048),),
    )


def untimed() -> Report:
    """Nothing is slower, but page faults moved."""
    moved = counted(count("page_faults", 1204, 9870, 0.0043), change_seconds=None, explained=None, tools=())
    return report(resources=(moved,))


def states() -> dict[str, tuple[Report, bool]]:
    """Golden comment -> report, and whether it is a fork's."""
    return {
        "resources": (of_faults(), False),
        "resources_unexplained": (unexplained(), False),
        "resources_untimed": (untimed(), False),
    }
