"""Reads flight recordings: a Java of ours, in the program's account, turns them into checked lines."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import TypeAdapter, ValidationError

from bot.adapters.profilers import evidence
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.launching import launch
from bot.adapters.profilers.reports import MOST_BYTES, MOST_BYTES_IN_ALL, MOST_REPORTS, names_in, tool_folder
from bot.model.profiles import Target

READING_SECONDS = 120.0
READING_MEMORY = "-Xmx768m"

_Count = Annotated[int, Ge(0), Le(1 << 53)]
_Line = (
    tuple[Literal["m"], str | None, str | None]
    | tuple[Literal["n"], Annotated[int, Ge(-1)], _Count, _Count]
    | tuple[Literal["s"], _Count, _Count, _Count]
    | tuple[Literal["e"], _Count, _Count]
)
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)


@dataclass
class Recorded:
    """Sampled stacks as a tree, parents first. methods: name, and name for want of a named caller.

    nodes: parent (-1: none), method, line that was seen. cpu, execution: samples by node.
    """

    methods: list[tuple[str | None, str | None]] = field(default_factory=list)
    nodes: list[tuple[int, int, int]] = field(default_factory=list)
    cpu: dict[int, int] = field(default_factory=dict)
    execution: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_recordings(target: Target, folder: Path, jar: bytes, java: Path) -> Recorded:
    """The samples of all recordings in a folder that the program could write.

    Raises:
        OSError: the scratch folder cannot take the reader.
    """
    names, left = _readable(folder)
    recorded = Recorded()
    if left:
        recorded.notes.append(f"{left} recordings were not read: too many, too large, or no plain files.")
    if not names:
        recorded.notes.append(
            "No JVM left a recording: the command starts none, or none with JFR, or it was killed."
        )
        return recorded
    place = tool_folder(target, "reading")
    (place / toolchain.AGENT).write_bytes(jar)
    (place / toolchain.AGENT).chmod(0o644)
    env = {name: value for name, value in target.env.items() if name == "PATH"}
    reader = replace(target, env=env, cwd=folder, stdin=None, timeout=READING_SECONDS, ok_exit=(0,))
    words = [
        str(java),
        READING_MEMORY,
        "-cp",
        str(place / toolchain.AGENT),
        "suspects.Reader",
        str(place / "answer"),
    ]
    launched = launch(reader, [*words, *(f"./{name}" for name in names)])
    if launched.outcome != "ok":
        recorded.notes.append(launched.ended.reason("The reader of the recordings"))
    try:
        answer = evidence.read_file(place / "answer", most=MOST_BYTES)
    except OSError:
        return recorded
    take(recorded, answer.splitlines())
    return recorded


def _readable(folder: Path) -> tuple[Sequence[str], int]:
    names: list[str] = []
    size, left = 0, 0
    for name in names_in(folder, ".jfr"):
        status = (folder / name).lstat()
        if (
            not stat.S_ISREG(status.st_mode)
            or size + status.st_size > MOST_BYTES_IN_ALL
            or len(names) >= MOST_REPORTS
        ):
            left += 1
            continue
        if status.st_size:
            names.append(name)
            size += status.st_size
    return names, left


def take(recorded: Recorded, lines: Sequence[bytes]) -> None:
    """Adds what the reader said, up to the first line that makes no sense."""
    for line in lines:
        try:
            one = _LINE.validate_json(line)
            _add(recorded, one)
        except (ValidationError, ValueError):
            recorded.notes.append(
                "The reader of the recordings said something unexpected: the rest is left out."
            )
            return


def _add(recorded: Recorded, one: _Line) -> None:
    """Takes one line.

    Raises:
        ValueError: it refers to what is not there.
    """
    if one[0] == "m":
        recorded.methods.append(one[1:])
    elif one[0] == "n":
        if one[1] >= len(recorded.nodes) or one[2] >= len(recorded.methods):
            raise ValueError("a parent or method that does not come first")
        recorded.nodes.append(one[1:])
    elif one[0] == "s":
        if one[1] >= len(recorded.nodes):
            raise ValueError("samples of nothing")
        recorded.cpu[one[1]], recorded.execution[one[1]] = one[2], one[3]
    elif one[2]:
        recorded.notes.append(f"{one[2]} recordings were damaged: what came before the damage counts.")
