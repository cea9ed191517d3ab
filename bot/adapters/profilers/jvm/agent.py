"""Runs a trial with our agent in each JVM: it counts all methods' calls, or times those of chosen ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from bot.adapters.profilers.call_series import MOST_KEPT
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.reports import names_in, read_reports, tool_folder
from bot.model.profiles import Target

MOST_SLOWDOWN = 10.0
_COUNT: TypeAdapter[tuple[str, int]] = TypeAdapter(tuple[str, Annotated[int, Field(ge=0, le=1 << 53)]])


@dataclass(frozen=True)
class Attended:
    """How the trial ended, the lines that the JVMs wrote, and sentences about both."""

    launched: Launched
    lines: Sequence[bytes]
    notes: tuple[str, ...]


def attended(target: Target, jar: bytes, timed: Sequence[str] | None, *, arguments: bool = False) -> Attended:
    """One trial; `timed`: names of the methods to time, None: all are counted. arguments: summed up, too.

    Raises:
        OSError: the scratch folder cannot take the agent.
    """
    folder = tool_folder(target, "jvm")
    (folder / toolchain.AGENT).write_bytes(jar)
    if timed is not None:
        (folder / "methods.txt").write_text(
            "\n".join([f"{MOST_KEPT}{' arguments' * arguments}", *timed, ""]), encoding="utf-8"
        )
    for entry in folder.iterdir():
        entry.chmod(0o644)
    option = toolchain.quoted(f"-javaagent:{folder / toolchain.AGENT}={folder}")
    launched = launch(target, target.words, env=with_options(target, option), slowdown=MOST_SLOWDOWN)
    reports = read_reports(folder, ".json")
    notes = list(reports.notes)
    began = len(names_in(folder, ".began"))
    if not began:
        notes.append("No JVM took the agent: the command starts none, or takes JAVA_TOOL_OPTIONS from it.")
    elif began > len(reports.contents):
        silent = began - len(reports.contents)
        notes.append(f"{silent} of {began} JVMs ended without a profile (killed, or halted).")
    lines = [line for content in reports.contents.values() for line in content.splitlines()]
    return Attended(launched, lines, tuple(notes))


def with_options(target: Target, *options: str) -> dict[str, str]:
    """JAVA_TOOL_OPTIONS with ours behind the program's own."""
    own = target.env.get("JAVA_TOOL_OPTIONS", "")
    return {"JAVA_TOOL_OPTIONS": " ".join([own, *options]).strip()}


def counts(lines: Sequence[bytes]) -> tuple[dict[str, int], list[str]]:
    """Calls by name, summed over JVMs, and a note when lines were damaged."""
    sums: dict[str, int] = {}
    damaged = 0
    for line in lines:
        try:
            name, calls = _COUNT.validate_json(line)
        except ValidationError:
            damaged += 1
            continue
        sums[name] = sums.get(name, 0) + calls
    return sums, [f"{damaged} counts of calls were damaged and left out."] if damaged else []
