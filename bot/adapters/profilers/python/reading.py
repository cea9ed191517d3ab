"""What the agent leaves, line by line: it comes from the program under test, so bounded and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.adapters.profilers.reports import read_reports
from bot.adapters.reading.answers import Told

SUFFIX = ".report"
Count = Annotated[int, Field(ge=0, le=1 << 53)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=4096)]
_VERSION = r"^\d{1,2}\.\d{1,3}\.\d{1,3}$"


class Line(BaseModel):
    """A line of the agent's."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Head(Line):
    """The first line: which process this is."""

    version: Annotated[int, Field(ge=1, le=1)]
    pid: Count
    parent: Count
    forked: bool
    python: Annotated[str, Field(pattern=_VERSION)]
    cwd: Text


class Body(Line):
    """The last line: what was seen, and seconds on a core, of the wall clock, and ready without a core.

    final: the process ended after it; otherwise it was killed, and wrote this when it last waited for work.
    """

    final: bool = True
    cpu: Seconds = 0.0
    wall: Seconds = 0.0
    queued: Seconds = 0.0
    notes: Annotated[tuple[Text, ...], Field(max_length=100)] = ()


class Seen(Told):
    """One process: whether it left a body, and what that says of the whole. own: seconds of the tool's."""

    python: Annotated[str, Field(pattern=_VERSION)]
    told: bool = True
    final: bool = True
    cpu: Seconds = 0.0
    wall: Seconds = 0.0
    queued: Seconds = 0.0
    own: Seconds = 0.0
    notes: Annotated[tuple[Text, ...], Field(max_length=100)] = ()


class Left(Told):
    """What all processes left, oldest first. foreign: files that are not the agent's; unread: too large ones.

    wrong: bodies that contradict themselves.
    """

    processes: tuple[Seen, ...] = ()
    foreign: Count = 0
    unread: Count = 0
    wrong: Count = 0


AnyBody = TypeVar("AnyBody", bound=Body)


@dataclass(frozen=True)
class Process(Generic[AnyBody]):
    """What one process left; `body` None: it ended before it could write, or wrote what cannot be read."""

    head: Head
    body: AnyBody | None


@dataclass(frozen=True)
class Processes(Generic[AnyBody]):
    """All processes, oldest first; `foreign`: files that are not the agent's."""

    each: tuple[Process[AnyBody], ...]
    foreign: int = 0
    unread: int = 0

    def told(self) -> dict[str, Any]:
        """The same without what was seen of the program, for a `Left`."""
        seen = tuple(_seen(process) for process in self.each)
        return {"processes": seen, "foreign": self.foreign, "unread": self.unread}


def _seen(process: Process[Any]) -> Seen:
    body = process.body
    if body is None:
        return Seen(python=process.head.python, told=False)
    return Seen(
        python=process.head.python,
        final=body.final,
        cpu=body.cpu,
        wall=body.wall,
        queued=body.queued,
        own=getattr(body, "own", 0) / 1e9,
        notes=body.notes,
    )


def read_processes(folder: Path, body: type[AnyBody]) -> Processes[AnyBody]:
    """What the agent left in its folder; nothing, if the program has removed that."""
    try:
        reports = read_reports(folder, SUFFIX)
    except OSError:
        return Processes(())
    return replace(parse(reports.contents, body), unread=reports.left)


def parse(contents: Mapping[str, bytes], body: type[AnyBody]) -> Processes[AnyBody]:
    """Parses files by name; whatever is in them, it does not raise."""
    parsed = [_process(contents[name], body) for name in sorted(contents)]
    kept = tuple(process for process in parsed if process is not None)
    return Processes(kept, len(parsed) - len(kept))


def _process(data: bytes, body: type[AnyBody]) -> Process[AnyBody] | None:
    first, _, rest = data.partition(b"\n")
    try:
        head = Head.model_validate_json(first)
    except ValidationError:
        return None
    # The agent may write again (an exec that failed): its last complete line counts.
    lines = rest.rpartition(b"\n")[0].split(b"\n") if b"\n" in rest else []
    try:
        return Process(head, body.model_validate_json(lines[-1]) if lines else None)
    except ValidationError:
        return Process(head, None)
