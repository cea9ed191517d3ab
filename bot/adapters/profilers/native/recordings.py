"""Recordings of calls as readers tell them: paths with the durations of their calls in columns of numbers."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from bot.adapters.profilers.evidence import read_file
from bot.adapters.profilers.native import frida_session
from bot.adapters.profilers.native.frida_recording import Reader
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.uftrace_file import (
    ARGUMENT_ROWS,
    DEEPEST,
    MOST_PATHS,
    Node,
    Recording,
    exit_status,
    read_recording,
)
from bot.adapters.reading.answers import MOST_NOTES, Column, Reasons, Told

MOST_BYTES = 384 << 20
"""Of what Frida's hooks recorded in a trial."""
REGISTERS = 2 * ARGUMENT_ROWS

_Count = Annotated[int, Field(ge=0, le=1 << 63)]
_Status = Annotated[int, Field(ge=0, lt=1 << 16)]


class ToldNode(NamedTuple):
    """A path: the number of its function, that of its caller's path (-1: none), and its calls.

    given: registers of calls, `REGISTERS` for each.
    """

    spot: int
    parent: int
    durations: Column
    nested: Column
    given: Column


class ToldRecording(Told):
    """All paths, callers first. status: how the program ended, as wait(2) says it, where that is recorded."""

    spots: list[Spot]
    nodes: Annotated[list[ToldNode], Field(max_length=2 * MOST_PATHS)]
    unfinished: _Count
    lost: _Count
    reasons: Reasons
    status: _Status | None = None

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Self:
        depths: list[int] = []
        for number, node in enumerate(self.nodes):
            if not (0 <= node.spot < len(self.spots) and -1 <= node.parent < number):
                raise ValueError("a function or caller that is not there")
            depths.append(0 if node.parent < 0 else depths[node.parent] + 1)
            if depths[-1] > DEEPEST:
                raise ValueError("a path that is too long")
            if len(node.nested) != len(node.durations) or (node.durations < 0).any():
                raise ValueError("calls that cannot be")
            if len(node.given) % REGISTERS:
                raise ValueError("half of the arguments")
        return self

    @classmethod
    def of(cls, recording: Recording, status: int | None = None) -> ToldRecording:
        """What a recording tells."""
        spots: dict[Spot, int] = {}
        places = {id(node): number for number, node in enumerate(recording.nodes)}
        nodes = [
            ToldNode(
                spots.setdefault(node.spot, len(spots)),
                -1 if node.parent is None else places[id(node.parent)],
                np.array(node.durations, np.int64),
                np.array(node.nested, np.int64),
                np.array(node.given, np.uint64).ravel().view(np.int64),
            )
            for node in recording.nodes
        ]
        return cls(
            spots=list(spots),
            nodes=nodes,
            unfinished=recording.unfinished,
            lost=recording.lost,
            reasons=recording.notes[:MOST_NOTES],
            status=status,
        )

    @property
    def recording(self) -> Recording:
        """The tree again."""
        found = Recording(unfinished=self.unfinished, lost=self.lost, notes=list(self.reasons))
        for told in self.nodes:
            parent = None if told.parent < 0 else found.nodes[told.parent]
            node = Node(self.spots[told.spot], parent, 0 if parent is None else parent.depth + 1)
            node.durations, node.nested = (
                array("q", column.tobytes()) for column in (told.durations, told.nested)
            )
            registers = told.given.view(np.uint64).reshape(-1, REGISTERS)
            node.given = [tuple(row) for row in registers.tolist()]
            (found.roots if parent is None else parent.children).setdefault(node.spot, node)
            found.nodes.append(node)
        return found


class FridaEnd(Told):
    """What the program that started it says of the end; without a status it could not be started."""

    cpu: float
    status: _Status | None = None
    refused: tuple[int, ...] = ()
    errors: Reasons = Field(default_factory=list)
    error: str = ""


class ToldByFrida(Told):
    """The calls, and the end, where that was written."""

    calls: ToldRecording
    end: FridaEnd | None


def read_uftrace(folder: Path) -> ToldRecording:
    """What `uftrace record` left in a folder."""
    return ToldRecording.of(read_recording(folder), exit_status(folder))


def read_frida(folder: Path, spots: Mapping[int, Spot]) -> ToldByFrida:
    """The calls of all programs that Frida watched; spots: where each numbered function is."""
    recording, left = Recording(), MOST_BYTES
    for path in sorted(folder.glob(f"{frida_session.CALLS}*"))[: frida_session.MOST_PROGRAMS]:
        try:
            data = read_file(path, most=left)
        except OSError as error:
            recording.notes.append(f"The calls of one program are not used: {error}.")
            continue
        left -= len(data)
        Reader().read(data, spots, recording)
    try:
        end = FridaEnd.model_validate_json(read_file(folder / frida_session.END, most=1 << 16))
    except (OSError, ValidationError):
        end = None
    return ToldByFrida(calls=ToldRecording.of(recording), end=end)
