"""Resource features: what a trial asks of the machine, counted, and which of it moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from bot.model.trials import Outcome

Feature: TypeAlias = Literal[
    "cpu",
    "branch",
    "icache",
    "cache",
    "memory",
    "vm",
    "filesystem",
    "network",
    "ipc",
    "syscall-other",
    "blocked",
]
"""cache: data that the first cache misses and the last one has; memory: what the last one misses too;
vm: page faults and memory calls."""
Count: TypeAlias = Literal[
    "instructions",
    "branch_misses",
    "instruction_misses",
    "first_misses",
    "last_misses",
    "page_faults",
    "memory_calls",
    "filesystem_calls",
    "network_calls",
    "ipc_calls",
    "other_calls",
    "blocks",
    "waits",
]
"""What is counted in a trial. blocks: of a device, read or written; waits: a thread gave up its core."""
Source: TypeAlias = Literal["usage", "calls", "simulation"]
"""usage: the kernel's own accounting, free with every trial. calls: a tracer of system calls.
simulation: of caches and branches, with a pinned geometry."""

FEATURES: Sequence[Feature] = get_args(Feature)
FEATURE_OF: Mapping[Count, Feature] = {
    "instructions": "cpu",
    "branch_misses": "branch",
    "instruction_misses": "icache",
    "first_misses": "cache",
    "last_misses": "memory",
    "page_faults": "vm",
    "memory_calls": "vm",
    "filesystem_calls": "filesystem",
    "network_calls": "network",
    "ipc_calls": "ipc",
    "other_calls": "syscall-other",
    "blocks": "blocked",
    "waits": "blocked",
}
UNITS: Mapping[Count, str] = {
    "instructions": "instructions",
    "branch_misses": "mispredicted branches",
    "instruction_misses": "instruction cache misses",
    "first_misses": "data cache misses",
    "last_misses": "last cache misses",
    "page_faults": "page faults",
    "memory_calls": "memory calls",
    "filesystem_calls": "file system calls",
    "network_calls": "network calls",
    "ipc_calls": "calls of pipes and locks",
    "other_calls": "other system calls",
    "blocks": "device blocks",
    "waits": "waits",
}
"""For people."""
EXPLAINED = 0.3
"""Counts that cost less of a measured change do not explain it. From our study of 32 known heads."""
SOURCE_OF: Mapping[Count, Source] = {
    "instructions": "simulation",
    "branch_misses": "simulation",
    "instruction_misses": "simulation",
    "first_misses": "simulation",
    "last_misses": "simulation",
    "page_faults": "usage",
    "memory_calls": "calls",
    "filesystem_calls": "calls",
    "network_calls": "calls",
    "ipc_calls": "calls",
    "other_calls": "calls",
    "blocks": "usage",
    "waits": "usage",
}


@dataclass(frozen=True)
class Counted:
    """What one trial asked of the machine, as one source counts it; seconds: wall time that took.

    volumes: bytes beside the counts (max_rss, heap_peak, read_bytes, written_bytes), those that are known.
    details: what stands behind a count, for people: names of calls, most frequent first.
    """

    source: Source
    outcome: Outcome
    counts: Mapping[Count, float] = field(default_factory=dict)
    volumes: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[Count, Mapping[str, int]] = field(default_factory=dict)
    seconds: float = 0.0
    tool: str = ""
    notes: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        """Whether the counts may be used."""
        return self.outcome == "ok"
