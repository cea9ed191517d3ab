"""Stacks of a running process, sampled from outside: by perf where it is allowed, else by eu-stack."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.processes.process import PATH, run_trusted
from bot.adapters.processes.tool_versions import version_of
from bot.adapters.profilers.call_tree import CallTree
from bot.adapters.profilers.native.functions import Functions
from bot.adapters.profilers.native.running import Running
from bot.adapters.profilers.native.samples import Spot
from bot.model.profiles import Method

FREQUENCY = 199
"""Of perf, a second of CPU time: each sample copies a part of the stack."""
STACK_BYTES = 16384
MOST_SAMPLES = 4000
STOPPED = 0.1
"""Share of the time that eu-stack may stop the process."""

_PLACE = re.compile(r"\t\s*([0-9a-f]+) +\((.*)\)")
_FRAME = re.compile(r"#\d+ +0x([0-9a-f]+)(?: .*)?")
_THREAD = re.compile(r"TID (\d+):")


@dataclass(frozen=True)
class Stacks:
    """Samples: places in files, innermost first, where callers will go on after a call."""

    tool: str
    version: str
    samples: Sequence[Sequence[Spot]]
    notes: tuple[str, ...] = ()


def lacking() -> Sequence[str]:
    """A note, when there is no tool at all."""
    if any(shutil.which(tool, path=PATH) for tool in ("perf", "eu-stack")):
        return ()
    return ("Neither `perf` nor `eu-stack` (elfutils) is installed: hot methods cannot be found.",)


def sample(process: Running, *, seconds: float, stop: Callable[[], bool]) -> Stacks:
    """Stacks of threads that run; fewer when it ends or `stop()`."""
    if shutil.which("perf", path=PATH) is not None:
        found = _perf(process.pid, seconds)
        if found is not None:
            return found
    if shutil.which("eu-stack", path=PATH) is None:
        return Stacks("perf", "none", (), ("`perf` may not look into the process.",))
    return _eu_stack(process, seconds, stop)


def tree_of(samples: Sequence[Sequence[Spot]], functions: Functions, *, each: float) -> CallTree:
    """Contexts of the samples; `each`: seconds that one stands for."""
    # A caller goes on behind its call, which may be in the next function already.
    exact = [tuple(s._replace(offset=s.offset - (n > 0)) for n, s in enumerate(stack)) for stack in samples]
    seen = {spot: functions.at(*spot) for spot in {s for stack in exact for s in stack}}
    known = functions.methods(seen.values())
    tree = CallTree()
    children: dict[tuple[int, Method], int] = {}
    for stack, count in Counter(exact).items():
        context = -1
        for spot in reversed(stack):
            method = known[seen[spot]].method
            if (context, method) not in children:
                children[context, method] = tree.add(context, method)
            context = children[context, method]
        if context >= 0:
            tree.own[context] += count * each
    return tree


def _perf(pid: int, seconds: float) -> Stacks | None:
    """None: it is not allowed to."""
    with tempfile.TemporaryDirectory(prefix="perf-") as folder:
        data = str(Path(folder, "data"))
        done = run_trusted(
            [
                *(
                    "perf",
                    "record",
                    "--quiet",
                    "--no-buildid-cache",
                    "--no-bpf-event",
                    "-e",
                    "cpu-clock:u",
                    "-F",
                    str(FREQUENCY),
                ),
                *("--call-graph", f"dwarf,{STACK_BYTES}", "-p", str(pid), "-o", data),
                *("--", "sleep", f"{seconds:.2f}"),
            ]
        )
        if done.code != 0 or not Path(data).is_file():
            return None
        told = run_trusted(["perf", "script", "--input", data, "--no-inline", "-F", "tid,ip,dso"])
    samples = _blocks(told.output.decode("utf-8", "replace").splitlines())
    return Stacks("perf", version_of("perf"), samples[:MOST_SAMPLES])


def _blocks(lines: Iterable[str]) -> list[list[Spot]]:
    """A line with a thread, a line for each place (offset in a file, its name), an empty line."""
    samples: list[list[Spot]] = []
    for line in lines:
        match = _PLACE.fullmatch(line)
        if match is not None and samples:
            samples[-1].append(Spot(match[2], int(match[1], 16)))
        elif line.strip():
            samples.append([])
    return [stack for stack in samples if stack]


def _eu_stack(process: Running, seconds: float, stop: Callable[[], bool]) -> Stacks:
    """It stops the whole process each time: rests in between keep that in bounds."""
    samples: list[list[Spot]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end and len(samples) < MOST_SAMPLES and not stop():
        busy = _busy(process.pid)
        began = time.monotonic()
        done = run_trusted(["eu-stack", "-q", "-n", "100", "-p", str(process.pid)])
        told = _threads(done.output.decode("utf-8", "replace"))
        samples += [[process.space.spot(a) for a in stack] for thread, stack in told if thread in busy]
        time.sleep(min((time.monotonic() - began) / STOPPED, max(0.0, end - time.monotonic())))
    note = "`perf` may not look into the process: `eu-stack` stopped it for samples, which are few."
    return Stacks("eu-stack", version_of("eu-stack"), samples, (note,))


def _threads(text: str) -> list[tuple[int, list[int]]]:
    found: list[tuple[int, list[int]]] = []
    for line in text.splitlines():
        if match := _THREAD.fullmatch(line):
            found.append((int(match[1]), []))
        elif found and (match := _FRAME.match(line)):
            found[-1][1].append(int(match[1], 16))
    return [(thread, stack) for thread, stack in found if stack]


def _busy(pid: int) -> frozenset[int]:
    """Threads that run, or would if they had a core."""
    busy = set()
    for folder in Path(f"/proc/{pid}/task").glob("*"):
        try:
            state = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state == "R":
            busy.add(int(folder.name))
    return frozenset(busy)
