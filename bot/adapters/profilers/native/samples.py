"""Samples of the program counter, as perf and gperftools write them: how often where in which object file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from bot.adapters.profilers.evidence import lines, read_file
from bot.adapters.reading.answers import MOST_NOTE, Reasons, Told

MOST_MAPPINGS = 100_000
MOST_BYTES, MOST_FILES, MOST_REASONS = 256 << 20, 1000, 3
"""Of profiles of gperftools: one a process."""

_Count = Annotated[int, Field(ge=0, lt=1 << 64)]

_PERF_MAP = re.compile(
    r"\s*(-?\d+) PERF_RECORD_MMAP2? (?:-?\d+)/(?:-?\d+): "
    r"\[(0x[0-9a-f]+|0)\((0x[0-9a-f]+|0)\) @ (0x[0-9a-f]+|0) [^\]]*\]: [rwxps-]+ (.*)"
)
_PERF_FORK = re.compile(r"\s*-?\d+ PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)")
_PERF_EXEC = re.compile(r"\s*-?\d+ PERF_RECORD_COMM exec: .*:(\d+)/\d+")
_PERF_SAMPLE = re.compile(r"\s*(\d+)\s+([0-9a-f]+)\s*(?:\(.*)?")
MAPS_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ \d+ *(.*)")


class Spot(NamedTuple):
    """A place in a file that was mapped: path ("" when there is none), offset in the file."""

    path: str
    offset: int


@dataclass
class AddressSpace:
    """What is mapped where in one process; a later mapping hides an earlier one."""

    starts: list[int] = field(default_factory=list)
    mapped: list[tuple[int, int, str]] = field(default_factory=list)  # end, file offset, path

    def map(self, start: int, end: int, offset: int, path: str) -> None:
        """Adds a mapping."""
        if len(self.starts) < MOST_MAPPINGS and end > start:
            place = bisect_right(self.starts, start)
            self.starts.insert(place, start)
            self.mapped.insert(place, (end, offset, path))

    def spot(self, address: int) -> Spot:
        """Where an address lies."""
        place = self._mapping(address)
        if place is None:
            return Spot("", 0)
        _, offset, path = self.mapped[place]
        return Spot(path, address - self.starts[place] + offset)

    def covers(self, address: int) -> bool:
        """Whether anything is mapped there, with or without a file."""
        return self._mapping(address) is not None

    def _mapping(self, address: int) -> int | None:
        place = bisect_right(self.starts, address) - 1
        return place if place >= 0 and address < self.mapped[place][0] else None

    def copy(self) -> AddressSpace:
        """That of a forked child."""
        return AddressSpace(self.starts.copy(), self.mapped.copy())


class ToldSpots(Told):
    """Samples by place. reasons: why those of a process are not used, the first of them."""

    spots: list[tuple[Spot, _Count]]
    reasons: Reasons = Field(default_factory=list)

    @property
    def counts(self) -> Counter[Spot]:
        """The same, to count with."""
        return Counter(dict(self.spots))


def tell_perf(answer: Path) -> ToldSpots:
    """A reader: what `perf script` answered."""
    return ToldSpots(spots=list(read_perf(lines(answer)).items()))


def tell_gperftools(folder: Path) -> ToldSpots:
    """A reader: the sum of the profiles of all processes."""
    spots: Counter[Spot] = Counter()
    reasons: list[str] = []
    left = MOST_BYTES
    for path in sorted(folder.iterdir())[:MOST_FILES]:
        try:
            data = read_file(path, most=left)
            left -= len(data)
            spots += read_gperftools(data)
        except (OSError, ValueError) as error:
            reasons.append(str(error)[:MOST_NOTE])
    return ToldSpots(spots=list(spots.items()), reasons=reasons[:MOST_REASONS])


def read_perf(text: Iterable[str]) -> Counter[Spot]:
    """Samples from `perf script -F pid,ip --show-mmap-events --show-task-events`; other lines are skipped."""
    spaces: dict[int, AddressSpace] = defaultdict(AddressSpace)
    spots: Counter[Spot] = Counter()
    for line in text:
        if match := _PERF_SAMPLE.fullmatch(line):
            spots[spaces[int(match[1])].spot(int(match[2], 16))] += 1
        elif match := _PERF_MAP.fullmatch(line):
            start, size, offset = (int(match[group], 16) for group in (2, 3, 4))
            spaces[int(match[1])].map(start, start + size, offset, match[5])
        elif match := _PERF_EXEC.fullmatch(line):
            spaces.pop(int(match[1]), None)
        elif (match := _PERF_FORK.fullmatch(line)) and match[1] != match[2]:
            spaces[int(match[1])] = spaces[int(match[2])].copy()
    return spots


def read_gperftools(data: bytes) -> Counter[Spot]:
    """Samples of a CPU profile of gperftools: words, then the mappings as text.

    The format is described in gperftools, "CPU profiler binary data file format".

    Raises:
        ValueError: it is damaged or unfinished.
    """
    words = np.frombuffer(data, "<u8", len(data) // 8)
    if len(words) < 5 or words[0] != 0 or words[1] < 3 or words[1] > len(words):
        raise ValueError("it is not a CPU profile")
    place = 2 + int(words[1])
    counts: Counter[int] = Counter()
    while True:
        if place + 3 > len(words):
            raise ValueError("it is unfinished")
        count, depth, address = (int(word) for word in words[place : place + 3])
        place += 2 + depth
        if count == 0:
            break  # the trailer: 0, 1, 0
        if not 0 < depth <= 1024:
            raise ValueError("it is damaged")
        counts[address] += count
    space = AddressSpace()
    for line in data[8 * place :].decode("utf-8", "backslashreplace").split("\n"):
        if (match := MAPS_LINE.fullmatch(line)) and "x" in match[3]:
            space.map(int(match[1], 16), int(match[2], 16), int(match[4], 16), match[5])
    spots: Counter[Spot] = Counter()
    for address, count in counts.items():
        spots[space.spot(address)] += count
    return spots
