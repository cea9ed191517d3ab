"""Runs a trial with our agent in each JVM: it counts all methods' calls, or times those of chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic

from pydantic import Field, TypeAdapter, ValidationError

from bot.adapters.profilers.call_series import MOST_KEPT
from bot.adapters.profilers.evidence import told
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.reports import AnyReport, ToldReports, names_in, read_reports, tool_folder
from bot.adapters.profilers.watched import WatchedReport, tell_watched
from bot.adapters.reading.answers import Told
from bot.model.profiles import Target

MOST_SLOWDOWN = 10.0
_COUNT: TypeAdapter[tuple[str, int]] = TypeAdapter(tuple[str, Annotated[int, Field(ge=0, le=1 << 53)]])


@dataclass(frozen=True)
class Attended(Generic[AnyReport]):
    """How the trial ended, what the JVMs reported, and sentences about both."""

    launched: Launched
    reports: Sequence[AnyReport]
    notes: tuple[str, ...]


class CallsReport(Told):
    """Calls of methods in one JVM; damaged: lines that were none."""

    calls: dict[str, Annotated[int, Field(ge=0, le=1 << 62)]]
    damaged: int


def timed(
    target: Target, jar: bytes, methods: Mapping[str, int], *, arguments: bool = False
) -> Attended[WatchedReport]:
    """One trial in which the methods of these names are timed, in one of so many calls.

    arguments: of methods of which each call is timed, summed up, too.

    Raises:
        OSError: the scratch folder cannot take the agent.
    """
    lines = [f"{every} {name}" for name, every in methods.items()]
    asked = "\n".join([f"{MOST_KEPT}{' arguments' * arguments}", *lines, ""])
    return _attended(target, jar, asked, tell_watched, len(methods), True)


def counted(target: Target, jar: bytes) -> Attended[CallsReport]:
    """One trial in which calls of all methods are counted.

    Raises:
        OSError: the scratch folder cannot take the agent.
    """
    return _attended(target, jar, None, tell_calls)


def _attended(
    target: Target,
    jar: bytes,
    asked: str | None,
    read: Callable[..., ToldReports[AnyReport]],
    *arguments: object,
) -> Attended[AnyReport]:
    """asked: the methods to time, None: all are counted. read: the reader of a folder and `arguments`.

    Raises:
        OSError: the scratch folder cannot take the agent.
    """
    folder = tool_folder(target, "jvm")
    (folder / toolchain.AGENT).write_bytes(jar)
    if asked is not None:
        (folder / "methods.txt").write_text(asked, encoding="utf-8")
    for entry in folder.iterdir():
        entry.chmod(0o644)
    option = toolchain.quoted(f"-javaagent:{folder / toolchain.AGENT}={folder}")
    launched = launch(target, target.words, env=with_options(target, option), slowdown=MOST_SLOWDOWN)
    try:
        left = told(target, read, folder, *arguments, files=[folder])
    except OSError as error:
        return Attended(launched, (), (f"What JVMs left could not be read: {error}.",))
    notes = list(left.notes)
    if not left.began:
        notes.append("No JVM took the agent: the command starts none, or takes JAVA_TOOL_OPTIONS from it.")
    elif (silent := left.began - left.files) > 0:
        notes.append(f"{silent} of {left.began} JVMs ended without a profile (killed, or halted).")
    return Attended(launched, left.reports, tuple(notes))


def tell_calls(folder: Path) -> ToldReports[CallsReport]:
    """A reader: the sum over all JVMs."""
    found = read_reports(folder, ".json")
    calls, damaged = counts([line for content in found.contents.values() for line in content.splitlines()])
    return ToldReports(
        reports=[CallsReport(calls=calls, damaged=damaged)],
        files=len(found.contents),
        unread=found.left,
        began=len(names_in(folder, ".began")),
    )


def with_options(target: Target, *options: str) -> dict[str, str]:
    """JAVA_TOOL_OPTIONS with ours behind the program's own."""
    own = target.env.get("JAVA_TOOL_OPTIONS", "")
    return {"JAVA_TOOL_OPTIONS": " ".join([own, *options]).strip()}


def counts(lines: Sequence[bytes]) -> tuple[dict[str, int], int]:
    """Calls by name, summed over JVMs, and how many lines were damaged."""
    sums: dict[str, int] = {}
    damaged = 0
    for line in lines:
        try:
            name, calls = _COUNT.validate_json(line)
        except ValidationError:
            damaged += 1
            continue
        sums[name] = sums.get(name, 0) + calls
    return sums, damaged
