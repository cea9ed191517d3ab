"""Instructions, mispredicted branches and cache misses of one trial, simulated by cachegrind."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import FiniteFloat

from bot.adapters.builds import checkout
from bot.adapters.processes.process import PATH
from bot.adapters.processes.tool_versions import version_of
from bot.adapters.profilers.evidence import folder_for, read_file, told
from bot.adapters.reading.answers import Told
from bot.adapters.resources.around import around, ending
from bot.adapters.trials.request import CALLGRIND_FACTOR
from bot.adapters.trials.valgrind import FOLLOWING
from bot.model.profiles import Target
from bot.model.resources import Count, Counted

GEOMETRY = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64")
"""Size, ways and line of each cache: pinned, because that of a runner's processor is not the next one's."""
MISSING = "`valgrind` is not installed: no instructions and simulated misses."
MOST_FILES = 2000
MOST_BYTES = 1 << 20
"""Of one process's log, which has some 40 lines."""

_PROCESS = re.compile(r"log\.(\d+)")
_LINE = re.compile(
    r"^==\d+== (I +refs|I1 +misses|LLi misses|D1 +misses|LLd misses|Mispredicts): +([\d,]{1,30})\b"
)
_SUMS: Mapping[str, Count] = {
    "I refs": "instructions",
    "Mispredicts": "branch_misses",
    "I1 misses": "instruction_misses",
    "D1 misses": "first_misses",
    "LLi misses": "last_misses",
    "LLd misses": "last_misses",
}
_HEADER = re.compile(r"^==\d+== (Command|Parent PID): (.*)$")


@dataclass
class Summary:
    """What the log of one process says: counts (none when it was killed), command, parent."""

    counts: dict[Count, FiniteFloat] = field(default_factory=dict)
    command: str = ""
    parent: str = ""


class ToldSummaries(Told):
    """What a reader tells, by process id; unread: of so many files."""

    summaries: dict[str, Summary]
    unread: int
    files: int


class Simulation:
    """The same in every run of a deterministic program.

    valgrind: its name on the PATH of trials, or its place.
    """

    def __init__(self, valgrind: str = "valgrind") -> None:
        self._valgrind = shutil.which(valgrind, path=PATH)

    @cached_property
    def tool(self) -> str:
        """Name and version of the valgrind on this machine."""
        assert self._valgrind is not None
        return f"cachegrind {version_of(self._valgrind)}"

    def missing(self, target: Target) -> Sequence[str]:
        """Only valgrind itself: it can run whatever the machine can."""
        del target
        return (MISSING,) if self._valgrind is None else ()

    def count(self, target: Target) -> Counted:
        """One trial with all the processes it starts.

        Raises:
            OSError: its folders could not be made ready.
        """
        if self._valgrind is None:
            return Counted("simulation", "not-started", notes=(MISSING,))
        folder = folder_for(target, "simulation")
        try:
            words = [
                self._valgrind,
                "--tool=cachegrind",
                "--cache-sim=yes",
                "--branch-sim=yes",
                *GEOMETRY,
                "--cachegrind-out-file=/dev/null",
                f"--log-file={folder}/log.%p",
                *FOLLOWING,
                *target.words,
            ]
            launched = around(target, words, slowdown=CALLGRIND_FACTOR)
            summaries, notes = _read(folder, target)
        finally:
            checkout.remove(folder)
        counts: dict[Count, float] = {}
        for summary in summaries.values():
            for count, value in summary.counts.items():
                counts[count] = counts.get(count, 0.0) + value
        notes = (*ending(launched, "cachegrind"), *notes, *_about(summaries))
        outcome = launched.outcome if counts or launched.outcome != "ok" else "not-started"
        return Counted("simulation", outcome, counts, tool=self.tool, notes=notes)


def parse(log: str) -> Summary:
    """The summary lines of one process."""
    summary = Summary()
    for line in log.splitlines():
        if (found := _LINE.match(line)) is not None:
            count = _SUMS[" ".join(found[1].split())]
            summary.counts[count] = summary.counts.get(count, 0.0) + float(found[2].replace(",", ""))
        elif (found := _HEADER.match(line)) is not None:
            setattr(summary, "command" if found[1] == "Command" else "parent", found[2])
    return summary


def _read(folder: Path, target: Target) -> tuple[Mapping[str, Summary], tuple[str, ...]]:
    """Summaries by process id."""
    try:
        read = told(target, tell_summaries, folder, files=[folder])
    except OSError as error:
        return {}, (f"What cachegrind counted could not be read: {error}.",)
    if not read.unread:
        return read.summaries, ()
    return read.summaries, (
        f"What cachegrind counted in {read.unread} of {read.files} processes is not used.",
    )


def tell_summaries(folder: Path) -> ToldSummaries:
    """A reader: the logs of all processes."""
    files = sorted(path for path in folder.iterdir() if _PROCESS.fullmatch(path.name))
    summaries, unread = {}, max(0, len(files) - MOST_FILES)
    for path in files[:MOST_FILES]:
        try:
            text = read_file(path, most=MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            unread += 1
            continue
        summaries[path.name.removeprefix("log.")] = parse(text)
    return ToldSummaries(summaries=summaries, unread=unread, files=len(files))


def _about(summaries: Mapping[str, Summary]) -> tuple[str, ...]:
    """What a reader must know of processes that were killed, and of forks."""
    notes = []
    if killed := sum(not summary.counts for summary in summaries.values()):
        processes = "1 process was" if killed == 1 else f"{killed} processes were"
        notes.append(f"{processes} killed before cachegrind told its counts.")
    parents = ((summary, summaries.get(summary.parent)) for summary in summaries.values())
    if any(parent is not None and parent.command == child.command for child, parent in parents):
        notes.append("What a process did before it forked is simulated once more for each child.")
    return tuple(notes)
