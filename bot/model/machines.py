"""Fingerprints of machines: how fast each stressor runs on one, in columns, and the classes of stressors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bot.model.history import Columnar, RunRecord
from bot.model.report import Environment

StressorClass: TypeAlias = Literal[
    "cpu", "cache", "memory", "vm", "device", "ipc", "filesystem", "network", "scheduler"
]
"""What part of a machine a stressor exercises. vm: virtual memory; device: the kernel's files in /dev."""
CLASSES: Sequence[StressorClass] = get_args(StressorClass)

_BY_CLASSES: Mapping[str, tuple[StressorClass, ...]] = {
    "af-alg brk cpu crypt longjmp nop": ("cpu",),
    "atomic numa stream": ("cpu", "memory"),
    "bsearch heapsort hsearch lsearch matrix qsort str tsearch": ("cpu", "cache", "memory"),
    "vecmath": ("cpu", "cache"),
    "cache icache": ("cache",),
    "lockbus malloc remap stack stackmmap": ("memory", "vm"),
    "bigheap full memcpy mincore mmap mremap msync oom-pipe resources rmap shm shm-sysv vm vm-rw vm-splice"
    " zero": ("vm",),
    # Not in the table: as stress-ng itself classes them.
    "opcode": ("cpu",),
    "null": ("device",),
    "pipe": ("ipc",),
    "dentry": ("filesystem",),
    "sock": ("network",),
    "switch": ("scheduler",),
}
CLASSES_OF: Mapping[str, tuple[StressorClass, ...]] = {
    stressor: classes for names, classes in _BY_CLASSES.items() for stressor in names.split()
}
"""The classes of each stressor (table 1 of Jimenez et al., quiho); some are in several."""
PUBLISHED = tuple(sorted(set(CLASSES_OF) - {"pipe", "dentry", "sock", "switch"}))
"""The stressors of the published data, a minute and a half at a second each."""
REPRESENTATIVES = (
    *("cpu", "matrix", "cache", "memcpy", "stream", "brk", "mmap", "vm-rw", "msync", "null", "zero", "crypt"),
    *("pipe", "dentry", "sock"),
)
"""One of each cluster of stressors that go together over machines, and of what the published ones lack."""
VALID = timedelta(days=7)
"""How long a fingerprint stands for its machine: hosted ones get other kernels and neighbours."""
EVENT_KERNELS = "event kernels 1"
"""The tool of tables that say what events cost on a machine: rates are events per second of CPU time."""
NOTHING = -1

FINGERPRINT_COLUMNS: Mapping[str, type[np.generic]] = {
    "run": np.int32,
    "revision": np.int32,
    "configuration": np.int32,
    "tool": np.int16,
    "stressor": np.int16,
    "repetition": np.int16,
    "rate": np.float64,
}


class Machine(NamedTuple):
    """What makes two fingerprints comparable: the same machine, stressed by the same version."""

    cpu: str
    cores: int
    kernel: str
    tool: str

    @classmethod
    def of(cls, environment: Environment, tool: str) -> Machine:
        """The machine of a run's environment."""
        return cls(environment.cpu, environment.cores, environment.kernel, tool)


@dataclass(frozen=True)
class Stressed:
    """What stressing one machine gave.

    tool: name and version. rates: of each stressor the operations per second of CPU time (its own and the
    kernel's) in each repetition, NaN: it gave nothing. seconds: wall time of everything.
    """

    tool: str
    rates: Mapping[str, Sequence[float]] = field(default_factory=dict)
    seconds: float = 0.0
    notes: Sequence[str] = ()

    @property
    def told(self) -> bool:
        """Whether any stressor gave a rate."""
        return any(isfinite(rate) for rates in self.rates.values() for rate in rates)


@dataclass(frozen=True)
class FingerprintTable(Columnar):
    """Fingerprints of some runs' machines: a row for each repetition of each stressor.

    They are of no revision and no configuration: these columns are `NOTHING`.
    """

    kinds = FINGERPRINT_COLUMNS
    tables = {  # noqa: RUF012  a ClassVar of the base
        "runs": "run",
        "revisions": "revision",
        "configurations": "configuration",
        "tools": "tool",
        "stressors": "stressor",
    }
    tools: tuple[str, ...]
    """Name and version of what stressed the machine."""
    stressors: tuple[str, ...]
    tool: NDArray[np.int16]
    stressor: NDArray[np.int16]
    repetition: NDArray[np.int16]
    rate: NDArray[np.float64]
    """Operations per second of CPU time; NaN: the stressor gave nothing."""

    @classmethod
    def of(cls, found: Stressed, run: RunRecord) -> FingerprintTable:
        """One fingerprint, as a run's."""
        names = tuple(found.rates)
        counts = [len(found.rates[name]) for name in names]
        rows = sum(counts)
        columns: dict[str, Any] = {
            "run": np.zeros(rows),
            "revision": np.full(rows, NOTHING),
            "configuration": np.full(rows, NOTHING),
            "tool": np.zeros(rows),
            "stressor": np.repeat(np.arange(len(names)), counts),
            "repetition": np.concatenate([np.zeros(0), *map(np.arange, counts)]),
            "rate": np.concatenate([np.zeros(0), *(np.array(found.rates[name], float) for name in names)]),
        }
        return cls(
            runs=(run,),
            revisions=(),
            configurations=(),
            tools=(found.tool,),
            stressors=names,
            **{name: columns[name].astype(kind) for name, kind in FINGERPRINT_COLUMNS.items()},
        )

    def machines(self) -> list[tuple[Machine, RunRecord, dict[str, NDArray[np.float64]]]]:
        """Each fingerprint: its machine, the run that took it, and the rates of each stressor, (n,)."""
        found = []
        for run, tool in sorted(set(zip(self.run.tolist(), self.tool.tolist(), strict=True))):
            rows = (self.run == run) & (self.tool == tool)
            rates = {
                self.stressors[code]: self.rate[rows & (self.stressor == code)]
                for code in dict.fromkeys(self.stressor[rows].tolist())
            }
            record = self.runs[run]
            found.append((Machine.of(record.environment, self.tools[tool]), record, rates))
        return found
