"""Puts the agent into the Python processes of a target, and brings back what they left."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Generic, TypeVar

from bot.adapters.profilers.evidence import readable_by, told
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.python.command_lines import PythonStart, python_start
from bot.adapters.profilers.python.reading import Left
from bot.adapters.profilers.reports import tool_folder, unread
from bot.model.profiles import Profile, Target, Tool

_LAUNCHER = "suspects_start.py"
OLDEST = (3, 8)
EVENTS = (3, 12)
"""From this version on Python tells of calls (sys.monitoring)."""
_ASK_VERSION = "import sys; print('suspects-python %d %d' % sys.version_info[:2])"


AnyLeft = TypeVar("AnyLeft", bound=Left)


@dataclass(frozen=True)
class Watched(Generic[AnyLeft]):
    """A trial under the agent: how it ended, what its processes left, notes."""

    launched: Launched
    left: AnyLeft
    notes: tuple[str, ...]


def version_of(target: Target) -> tuple[int, int] | None:
    """The version of the interpreter that the target's command starts; None: it hides it, or does not run."""
    start = python_start(target)
    if start is None:
        return None
    asked = launch(target, (start.interpreter, "-E", "-S", "-c", _ASK_VERSION))
    found = re.search(r"suspects-python (\d+) (\d+)", asked.ended.log)
    return (int(found[1]), int(found[2])) if found else None


def too_old(target: Target) -> tuple[str, ...]:
    """A sentence when the target's interpreter cannot run the agent."""
    version = version_of(target)
    if version is None or version >= OLDEST:
        return ()
    return (f"Python {version[0]}.{version[1]} cannot be profiled: {OLDEST[0]}.{OLDEST[1]} is the oldest.",)


def run_watched(
    target: Target,
    read: Callable[..., AnyLeft],
    *arguments: object,
    empty: AnyLeft,
    parts: Sequence[str],
    settings: Mapping[str, Any],
    slowdown: float,
    compiled_by_us: bool = False,
) -> Watched[AnyLeft]:
    """Runs the target once with a watcher in each Python process: `parts[0]`, which may load the others.

    read: the reader of what they leave, of the agent's folder, the checkout and `arguments`; empty: what it
    says of nothing.

    compiled_by_us: the watcher changes code before Python 3.12, also that of the script itself.

    Raises:
        OSError: the agent could not be put into the target's scratch.
    """
    agent = resources.files("bot.adapters.profilers.python.agent")
    names = (
        "sitecustomize.py",
        "suspects_session.py",
        _LAUNCHER,
        *(f"suspects_{part}.py" for part in ("names", *parts)),
    )
    with resources.as_file(agent) as place:
        sources = [place / name for name in names]
        folder = tool_folder(target, "python", sources, {**settings, "watcher": parts[0]})
    start = python_start(target)
    words: Sequence[str] = target.words
    version = version_of(target)
    if (
        start is not None
        and version is not None
        and version >= OLDEST
        and (start.deaf or (start.kind == "script" and compiled_by_us and version < EVENTS))
    ):
        words = start.started_by(str(folder / _LAUNCHER))
    path = ":".join(p for p in (str(folder), target.env.get("PYTHONPATH", "")) if p)
    launched = launch(target, words, env={"PYTHONPATH": path}, slowdown=slowdown)
    failed: list[str] = []
    try:
        files = [folder, *readable_by(target)]
        left = told(target, read, folder, target.root, *arguments, files=files)
    except OSError as error:
        left = empty
        failed = [f"What Python processes left could not be read: {error}."]
    notes = failed or _notes(target, start, left, launched)
    return Watched(launched, left, (*notes, *unread(left.unread)))


def not_started(tool: Tool, error: OSError) -> Profile:
    """A profile of nothing, when our own preparation failed."""
    why = f"{tool.name} could not be put beside the program: {error.strerror}."
    return Profile(tool=tool, outcome="not-started", seconds=0.0, notes=(why,))


def _notes(target: Target, start: PythonStart | None, left: Left, launched: Launched) -> list[str]:
    notes = []
    if launched.outcome != "ok":
        notes.append(launched.ended.reason("The program, profiled,"))
    if left.foreign:
        notes.append(f"{left.foreign} profile files were not the profiler's own and were not read.")
    if left.wrong:
        notes.append(
            f"{left.wrong} Python processes left a profile that contradicts itself; it was not used."
        )
    if not left.processes and launched.outcome != "not-started":
        what = (
            "Python ignores its environment there"
            if start is None
            else "its interpreter is too old or unknown"
        )
        notes.append(f"No Python process of `{target.words[0]}` could be watched; perhaps {what}.")
    silent = sum(not process.told for process in left.processes)
    if silent:
        notes.append(
            f"{silent} of {len(left.processes)} Python processes ended without a profile "
            "(crashed, killed, or still running at the end); what they did is missing."
        )
    killed = sum(not process.final for process in left.processes)
    if killed:
        notes.append(
            f"{killed} of {len(left.processes)} Python processes were killed while they waited for work; "
            "functions that were running then are missing."
        )
    return notes
