"""Reads what callgrind writes: instructions of each function, calls and instructions of each edge."""

# The format is described in Valgrind's manual, "Callgrind Format Specification". Line numbers are skipped:
# where a function begins is asked of its object file. No well-kept library reads the format into counts.

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from bot.adapters.profilers.evidence import read_file
from bot.adapters.reading.answers import MOST_NOTE, Reasons, Told

UNKNOWN = "???"
MOST = 1 << 62
"""Larger counts are not counts."""
MOST_FILES = 2000
MOST_BYTES = 512 << 20
"""Of profiles read in one trial; each process writes one, and one more before each fork."""
MOST_REASONS = 5

_PROFILE = re.compile(r"profile\.(\d+)(?:\.\d+)?")

_Number = Annotated[int, Field(ge=0, lt=1 << 31)]
_Count = Annotated[int, Field(ge=0, lt=1 << 100)]
_COMPRESSED = re.compile(r"\((\d+)\)(?: (.*))?")
_RECURSION = re.compile(r"'\d+$")
_KINDS = {"ob": "ob", "cob": "ob", "fn": "fn", "cfn": "fn", "jfn": "fn"} | dict.fromkeys(
    ("fl", "fi", "fe", "cfi", "cfl", "jfi"), "file"
)


class Place(NamedTuple):
    """A function as callgrind knows it: object file, source file (or `???`), symbol (not demangled)."""

    object: str
    file: str
    symbol: str


@dataclass
class Counts:
    """Sums over files: instructions without callees; per edge calls, and instructions with callees."""

    own: dict[Place, int] = field(default_factory=lambda: defaultdict(int))
    edges: dict[tuple[Place, Place], tuple[int, int]] = field(default_factory=dict)

    def add(self, part: Counts) -> None:
        """Adds another process, or another part of the same one."""
        for place, cost in part.own.items():
            self.own[place] = self.own.get(place, 0) + cost
        for edge, (calls, cost) in part.edges.items():
            before = self.edges.get(edge, (0, 0))
            self.edges[edge] = (before[0] + calls, before[1] + cost)


class ToldCounts(Told):
    """Counts as a reader tells them: own by place; edges by the numbers of two places, with calls and cost.

    reasons: why profiles are not used, the first of them; refused: how many; profiles: of all there are;
    lost: processes without one.
    """

    places: list[Place]
    own: list[tuple[_Number, _Count]]
    edges: list[tuple[_Number, _Number, _Count, _Count]]
    reasons: Reasons
    refused: _Number
    profiles: _Number
    lost: _Number

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Self:
        size = len(self.places)
        if any(n >= size for n, _ in self.own) or any(a >= size or b >= size for a, b, _, _ in self.edges):
            raise ValueError("a place that is not there")
        return self

    @property
    def counts(self) -> Counts:
        """The same, by place."""
        return Counts(
            {self.places[n]: cost for n, cost in self.own},
            {(self.places[a], self.places[b]): (calls, cost) for a, b, calls, cost in self.edges},
        )


def read_profiles(folder: Path) -> ToldCounts:
    """The sum of all readable profiles in a folder; of the largest, when there are too many."""
    files = sorted(folder.iterdir(), key=lambda p: (-p.lstat().st_size, p.name))
    profiles = [p for p in files if _PROFILE.fullmatch(p.name)]
    counts, reasons, refused, left = Counts(), [], 0, MOST_BYTES
    for path in profiles[:MOST_FILES]:
        try:
            data = read_file(path, most=left)
            left -= len(data)
            counts.add(parse(data.decode("utf-8", "backslashreplace").split("\n")))
        except (OSError, ValueError) as error:
            refused += 1
            reasons.append(str(error)[:MOST_NOTE])
    began = {p.name.removeprefix("log.") for p in files if p.name.startswith("log.")}
    # What a process did up to its last fork has a number at its end; the rest is written when it ends.
    lost = len(began - {p.name.removeprefix("profile.") for p in profiles})
    numbers: dict[Place, int] = {}
    own = [(numbers.setdefault(place, len(numbers)), cost) for place, cost in counts.own.items()]
    edges = [
        (numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers)), calls, cost)
        for (a, b), (calls, cost) in counts.edges.items()
    ]
    return ToldCounts(
        places=list(numbers), own=own, edges=edges, reasons=reasons[:MOST_REASONS], refused=refused,
        profiles=len(profiles), lost=lost,
    )  # fmt: skip


def parse(lines: Iterable[str]) -> Counts:
    """The counts of one file.

    Raises:
        ValueError: it is damaged, unfinished, does not add up, or does not count instructions.
    """
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        try:
            reader.line(line.rstrip("\n"))
        except (ValueError, IndexError, KeyError) as error:
            raise ValueError(f"line {number} is not understood") from error
    if reader.totals is None:
        raise ValueError("it is unfinished")
    if reader.totals != sum(reader.counts.own.values()):
        raise ValueError("it does not add up to its total")
    return reader.counts


class _Reader:
    """State from line to line: names already seen, the current function, the call that is being told."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.totals: int | None = None
        self._names: dict[tuple[str, str], str] = {}
        self._object = self._file = self._callee_object = self._callee_file = UNKNOWN
        self._place = Place(UNKNOWN, UNKNOWN, UNKNOWN)
        self._called: Place | None = None
        self._callee: Place | None = None
        self._calls = 0
        self._column = 1  # where instructions stand in a cost line; positions come first
        self._positions = 1
        self._jumped = False

    def line(self, line: str) -> None:
        if not line or line[0] == "#":
            return
        if line[0] in "0123456789+-*":
            self._cost(line)
        elif (equals := line.find("=")) > 0 and line[:equals].isalpha():
            self._assign(line[:equals], line[equals + 1 :])
        else:
            self._header(line)

    def _header(self, line: str) -> None:
        key, _, value = line.partition(":")
        if key == "positions":
            self._positions = len(value.split())
        elif key == "events":
            self._column = self._positions + value.split().index("Ir")
        elif key == "totals":
            self.totals = _count(value.split()[self._column - self._positions])

    def _assign(self, key: str, value: str) -> None:
        if key == "calls":
            self._calls = _count(value.split(maxsplit=1)[0])
            self._callee = self._called
            if self._callee is None:
                raise ValueError(value)
        elif key in ("jump", "jcnd"):
            self._jumped = True
        elif key in _KINDS:
            self._rename(key, self._name(_KINDS[key], value))

    def _rename(self, key: str, name: str) -> None:
        match key:
            case "ob":
                self._object = self._callee_object = name
            case "fl" | "fi" | "fe":
                self._file = self._callee_file = name
            case "fn":
                self._place = Place(self._object, self._file, _RECURSION.sub("", name))
            case "cob":
                self._callee_object = name
            case "cfi" | "cfl":
                self._callee_file = name
            case "cfn":
                symbol = _RECURSION.sub("", name)
                self._called = Place(self._callee_object, self._callee_file, symbol)

    def _name(self, kind: str, value: str) -> str:
        match = _COMPRESSED.fullmatch(value)
        if match is None:
            return value
        number, name = match.groups()
        if name is not None:
            self._names[kind, number] = name
        return self._names[kind, number]

    def _cost(self, line: str) -> None:
        parts = line.split()
        # Trailing zeros may be left out.
        cost = _count(parts[self._column]) if len(parts) > self._column else 0
        if self._jumped:
            self._jumped = False
        elif self._callee is None:
            self.counts.own[self._place] += cost
        else:
            edge = (self._place, self._callee)
            calls, total = self.counts.edges.get(edge, (0, 0))
            self.counts.edges[edge] = (calls + self._calls, total + cost)
            self._callee = None
            self._callee_object, self._callee_file = self._object, self._file


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number < MOST:
        raise ValueError(text)
    return number
