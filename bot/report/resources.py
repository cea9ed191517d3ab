"""Resources behind a change: the named features in a line each, and a table of all that was counted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.model.report import Effect, Report
from bot.model.report_resources import CountedResources, ResourceCount, ResourceSuspect, ResourceVolume
from bot.model.resources import EXPLAINED, UNITS
from bot.report import words
from bot.report.formats import (
    Prose,
    Words,
    code,
    engineering,
    fraction,
    join,
    percent,
    prose,
    seconds,
    strong,
)
from bot.report.parts import Block, Section, Table
from bot.report.ranges.moves import holds

COMMENT_ROWS = 20
GRAINS = 1_000_000
"""From here on a count is told with four digits."""
LEAST_VOLUME = 0.01
"""Relative change of a volume, or of an unsure count, that is worth a word. Arbitrary."""
LEAST_TOLD = 0.005
"""The smallest part of a change that is not told as 0 %."""
_VOLUMES = {
    "max_rss": "peak memory",
    "heap_peak": "peak of the heap",
    "read_bytes": "bytes read",
    "written_bytes": "bytes written",
}
_FEATURES = {
    "cpu": "instructions",
    "branch": "branches",
    "icache": "instruction cache",
    "cache": "data cache",
    "memory": "main memory",
    "vm": "virtual memory",
    "filesystem": "file system",
    "network": "network",
    "ipc": "pipes and locks",
    "syscall-other": "other system calls",
    "blocked": "waiting",
}
_UNITS = {str(count): unit for count, unit in UNITS.items()}


def blamed(report: Report, effect: Effect) -> list[Prose]:
    """A line for each named feature of an effect told in seconds; none where counts do not explain it."""
    explained = [one.options for one in report.resources if (one.explained or 0.0) >= EXPLAINED]
    found = [
        one
        for one in report.suspects.resources
        if one.options in explained
        and effect.metric == report.primary_metric
        and holds(effect.term, one.options)
        and (one.change_seconds > 0) == (effect.ratio > 1)
    ]
    return [_line(one) for one in found if one.options == found[0].options]


def _line(one: ResourceSuspect) -> Prose:
    unit = _UNITS.get(one.count, one.unit)
    about = strong(_signed(one.estimated_seconds))
    moved = f"{unit[:1].upper()}{unit[1:]} {_number(one.base)} → {_number(one.head)}, about "
    return prose(moved, about, f" of {_signed(one.change_seconds)} a run.")


def resources(report: Report, rows: int) -> Section | None:
    """All counts of flagged configurations, folded; a comment has the first one's only."""
    found = report.resources
    if not any(one.counts for one in found):
        return None
    blocks: list[Block] = []
    for one in found[: 1 if rows <= COMMENT_ROWS else None]:
        blocks += _told(report, one)
    return Section("resources", f"Resources: {_title(found[0])}", tuple(blocks))


def _title(one: CountedResources) -> str:
    if one.change_seconds is None:
        return "counts moved, the time did not"
    if (one.explained or 0.0) < EXPLAINED:
        return "what was counted does not explain the change" if one.complete else "not all could be counted"
    return ", ".join(_FEATURES.get(feature, "others") for feature in one.features) or "none stands out"


def _told(report: Report, one: CountedResources) -> list[Block]:
    where = words.configuration(one.options, words.default_options(report))
    timed = one.change_seconds is not None
    counts = sorted(one.counts, key=lambda count: (not count.moved, -abs(count.estimated_seconds)))
    cells = [_row(count, timed=timed) for count in counts if count.base or count.head]
    header = ("Count", "In one run", "Change", *(("About",) if timed else ()), "Mostly")
    tools = join([code(tool) for tool in one.tools], ", ", " and ")
    return [
        prose(where, ": ", *_sentence(one)),
        Table(header, tuple(cells), "lrrrl" if timed else "lrrl"),
        *_volumes(one.volumes),
        *([prose("Counted with ", tools, ", and by the kernel in every run.")] if one.tools else []),
    ]


def _sentence(one: CountedResources) -> tuple[Words, ...]:
    """How much of the change the counts explain."""
    if one.change_seconds is None:
        return ("a count change without a time effect.",)
    explained = one.explained or 0.0
    changed = prose(f"one run takes {_signed(one.change_seconds)}; ")
    if explained >= 1:
        return (changed, "what moved costs about as much.")
    if explained >= EXPLAINED:
        return (changed, f"what moved costs about {fraction(explained)} of it.")
    part = f"costs about {fraction(explained)} of it" if explained >= LEAST_TOLD else "explains none of it"
    said = f"what moved {part}. " if any(c.moved for c in one.counts) else _nothing_moved(one)
    if not one.complete:
        return (changed, said, "Not everything could be counted: the notes say why.")
    rest = "The rest is no count: memory bandwidth, the layout of code and data, locks, or waiting for I/O."
    return (changed, said, rest)


def _nothing_moved(one: CountedResources) -> str:
    """Counts that differ from run to run, too, stand below with what they differ by."""
    differs = any(abs(c.head - c.base) > LEAST_VOLUME * max(c.base, 1.0) for c in one.counts)
    return f"nothing that was counted {'surely ' if differs else ''}moved. "


def _row(one: ResourceCount, *, timed: bool) -> tuple[Words, ...]:
    name = prose(_UNITS.get(one.count, "other events"))
    cost = _signed(one.estimated_seconds) if one.moved else ""
    calls = [prose(code(c.name), f" {c.base:,} → {c.head:,}") for c in one.calls]
    return (
        strong(name) if one.moved else name,
        prose(_number(one.base) if one.base == one.head else _from_to(one)),
        prose(percent(one.head / one.base) if one.base else "new"),
        *((prose(cost),) if timed else ()),
        join(calls),
    )


def _volumes(found: Sequence[ResourceVolume]) -> list[Block]:
    """Memory and traffic that moved, in one sentence beside the counts."""
    moved = [
        prose(f"{_VOLUMES[one.name]} {_bytes(one.base)} → {_bytes(one.head)}")
        for one in found
        if one.name in _VOLUMES and abs(one.head - one.base) > LEAST_VOLUME * max(one.base, 1.0)
    ]
    return [prose("Beside them: ", join(moved, "; "), ".")] if moved else []


def _from_to(one: ResourceCount) -> str:
    base, head = _number(one.base), _number(one.head)
    fine = f"{one.base:,.1f}", f"{one.head:,.1f}"
    if base == head and one.head < GRAINS and fine[0] != fine[1]:  # medians lie between two counts, too
        base, head = fine
    return base if base == head else f"{base} → {head}"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "unknown"
    return engineering(round(value)) if value >= GRAINS else f"{value:,.0f}"


def _bytes(value: float) -> str:
    if not math.isfinite(value):
        return "unknown"
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= size:
            return f"{value / size:,.3g} {unit}"
    return f"{value:,.0f} bytes"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{seconds(abs(value))}"
