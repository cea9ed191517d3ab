"""Reads flight recordings: a Java of ours, in the program's account, turns them into checked lines."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from bot.adapters.profilers import evidence
from bot.adapters.profilers.evidence import told
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.jvm.agent import with_options
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.reports import MOST_BYTES, MOST_BYTES_IN_ALL, MOST_REPORTS, names_in, tool_folder
from bot.adapters.reading.answers import MOST_NOTES, Reasons, Told
from bot.model.profiles import Target

EVENTS = "events.jfc"
MOST_SLOWDOWN = 3.0
READING_SECONDS = 120.0
READING_MEMORY = "-Xmx768m"

_Count = Annotated[int, Field(ge=0, le=1 << 53)]
_Line = (
    tuple[Literal["m"], str | None, str | None]
    | tuple[Literal["n"], Annotated[int, Field(ge=-1)], _Count, _Count, bool]
    | tuple[Literal["s"], _Count, _Count, _Count, _Count]
    | tuple[Literal["t"], str, _Count, _Count]
    | tuple[Literal["j"], str, _Count, _Count, _Count]
    | tuple[Literal["c"], _Count, _Count]
    | tuple[Literal["e"], _Count, _Count]
)
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)


@dataclass
class Recorded:
    """Sampled stacks as a tree, parents first. methods: name, and name for want of a named caller.

    nodes: parent (-1: none), method, line that was seen, whether it was inlined in its parent. cpu,
    execution, allocated: samples and bytes, by node. timed: calls and nanoseconds by name. version: of a JVM.
    running, compiling, collecting: CPU nanoseconds of the programs' threads, of compilers and collectors,
    without what recording took. compiled: nanoseconds from begin to end, by method.
    """

    methods: list[tuple[str | None, str | None]] = field(default_factory=list)
    nodes: list[tuple[int, int, int, bool]] = field(default_factory=list)
    cpu: dict[int, int] = field(default_factory=dict)
    execution: dict[int, int] = field(default_factory=dict)
    allocated: dict[int, int] = field(default_factory=dict)
    timed: dict[str, tuple[int, int]] = field(default_factory=dict)
    version: str = ""
    running: int = 0
    compiling: int = 0
    collecting: int = 0
    compiled: Counter[int] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def recorded_trial(target: Target, events: str, *, javac: Path) -> tuple[Launched, Recorded]:
    """One trial with a flight recording of these events (a .jfc file's text), read.

    Raises:
        OSError: the scratch folder cannot take the recording, or our reader cannot be compiled.
    """
    jar = toolchain.agent_jar(javac)
    folder = tool_folder(target, "jfr")
    (folder / EVENTS).write_text(events, encoding="utf-8")
    (folder / EVENTS).chmod(0o644)
    options = (
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+DebugNonSafepoints",  # or samples in inlined code count to whom it was inlined into
        "-Xlog:jfr+startup=error",  # its messages would be in the program's output
        f"-XX:FlightRecorderOptions=stackdepth=256,repository={folder}",
        f"-XX:StartFlightRecording=filename={folder},settings={folder / EVENTS},dumponexit=true",
    )
    env = with_options(target, *(toolchain.quoted(option) for option in options))
    launched = launch(target, target.words, env=env, slowdown=MOST_SLOWDOWN, one_core=target.one_core)
    recorded = read_recordings(target, folder, jar, javac.with_name("java"))
    # A JVM that ends well removes its part of the repository.
    lost = len([name for name in names_in(folder, "") if name[:2] == "20" and (folder / name).is_dir()])
    recorded.notes[:] = notes_of_trial(launched, recorded.notes, lost)
    return launched, recorded


def notes_of_trial(launched: Launched, notes: list[str], lost: int) -> list[str]:
    """How a trial ended, and what is missing in its recordings; lost: JVMs whose own was not finished."""
    if launched.outcome == "cut":  # we ended it: what is missing for that needs no other reason
        return [launched.ended.reason("The profiled trial")]
    ended = [] if launched.outcome == "ok" else [launched.ended.reason("The profiled trial")]
    who = "1 JVM" if lost == 1 else f"{lost} JVMs"
    return [*ended, *notes, *([f"{who} ended without a recording (killed, or halted)."] if lost else [])]


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
        *toolchain.BRIEF,
        READING_MEMORY,
        "-cp",
        str(place / toolchain.AGENT),
        "suspects.Reader",
        str(place / "answer"),
        str(1 if target.one_core else len(os.sched_getaffinity(0))),
    ]
    launched = launch(reader, [*words, *(f"./{name}" for name in names)])
    if launched.outcome != "ok":
        recorded.notes.append(launched.ended.reason("The reader of the recordings"))
    try:
        read = told(target, tell_recorded, place / "answer", files=[place])
    except OSError as error:
        recorded.notes.append(f"The recordings could not be read: {error}.")
        return recorded
    return replace(read.recorded, notes=[*recorded.notes, *read.recorded.notes])


class ToldRecorded(Told):
    """What a reader tells: as `Recorded`, checked anew."""

    methods: list[tuple[str | None, str | None]]
    nodes: list[tuple[Annotated[int, Field(ge=-1)], _Count, _Count, bool]]
    counts: list[tuple[_Count, _Count, _Count, _Count]]
    timed: dict[str, tuple[_Count, _Count]]
    version: str
    running: _Count
    compiling: _Count
    collecting: _Count
    compiled: list[tuple[_Count, _Count]]
    reasons: Reasons

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Self:
        nodes, methods = len(self.nodes), len(self.methods)
        if (
            any(parent >= number or m >= methods for number, (parent, m, _, _) in enumerate(self.nodes))
            or any(number >= nodes for number, *_ in self.counts)
            or any(number >= methods for number, _ in self.compiled)
        ):
            raise ValueError("what is referred to does not come first")
        return self

    @property
    def recorded(self) -> Recorded:
        """The same, by node and method."""
        return Recorded(
            methods=self.methods,
            nodes=self.nodes,
            cpu={number: cpu for number, cpu, _, _ in self.counts},
            execution={number: execution for number, _, execution, _ in self.counts},
            allocated={number: size for number, _, _, size in self.counts},
            timed=self.timed,
            version=self.version,
            running=self.running,
            compiling=self.compiling,
            collecting=self.collecting,
            compiled=Counter(dict(self.compiled)),
            notes=list(self.reasons),
        )


def tell_recorded(answer: Path) -> ToldRecorded:
    """A reader: what the Java of ours answered."""
    found = Recorded()
    take(found, evidence.read_file(answer, most=MOST_BYTES).splitlines())
    return ToldRecorded(
        methods=found.methods,
        nodes=found.nodes,
        counts=[(n, found.cpu[n], found.execution[n], found.allocated[n]) for n in found.cpu],
        timed=found.timed,
        version=found.version,
        running=found.running,
        compiling=found.compiling,
        collecting=found.collecting,
        compiled=list(found.compiled.items()),
        reasons=found.notes[:MOST_NOTES],
    )


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
        recorded.cpu[one[1]], recorded.execution[one[1]], recorded.allocated[one[1]] = one[2:]
    elif one[0] == "t":
        calls, nanoseconds = recorded.timed.get(one[1], (0, 0))
        recorded.timed[one[1]] = (calls + one[2], nanoseconds + one[3])
    elif one[0] == "j":
        recorded.version = recorded.version or one[1]
        recorded.running += one[2]
        recorded.compiling += one[3]
        recorded.collecting += one[4]
    elif one[0] == "c":
        if one[1] >= len(recorded.methods):
            raise ValueError("a method that does not come first")
        recorded.compiled[one[1]] += one[2]
    elif one[2]:
        recorded.notes.append(f"{one[2]} recordings were damaged: what came before the damage counts.")
