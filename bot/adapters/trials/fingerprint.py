"""The machine a run was measured on: processor, kernel, image, tools and load."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from bot.adapters.processes.tool_versions import version_line
from bot.model.report import Environment

TOOLS = {
    "native": ("gcc", "clang", "valgrind"),
    "python": ("python3", "valgrind"),
    "jvm": ("java",),
    "node": ("node",),
}
"""Runtime of the program -> tools whose versions matter to a reader."""


def environment(tools: Sequence[str] = (), *, load_before: float | None = None) -> Environment:
    """Describes this machine; `load_before` is the one-minute load when the run began."""
    return Environment(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        image=_image(),
        tools={name: version for name in tools if (version := version_line(name))},
        load=None if load_before is None else (round(load_before, 2), round(load(), 2)),
    )


def load() -> float:
    """The one-minute load average; 0 where there is none."""
    with contextlib.suppress(OSError):
        return os.getloadavg()[0]
    return 0.0


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Processor", "cpu model"):
                return value.strip()
    return platform.processor() or platform.machine()


def _image() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return platform.system()
