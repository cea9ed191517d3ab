"""Puts the agent into the Python processes of a target, and brings back what they left."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Generic

from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.python.command_lines import PythonStart, python_start
from bot.adapters.profilers.python.reading import AnyBody, Processes, parse
from bot.adapters.profilers.reports import Reports, read_reports, tool_folder
from bot.model.profiles import Profile, Target, Tool

_SUFFIX = ".report"
_LAUNCHER = "suspects_start.py"
OLDEST = (3, 8)
EVENTS = (3, 12)
"""From this version on Python tells of calls (sys.monitoring)."""
_ASK_VERSION = "import sys; print('suspects-python %d %d' % sys.version_info[:2])"


@dataclass(frozen=True)
class Watched(Generic[AnyBody]):
    """A trial under the agent: how it ended, what its processes left, the agent's folder, notes."""

    launched: Launched
    processes: Processes[AnyBody]
    folder: Path
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
    body: type[AnyBody],
    *,
    parts: Sequence[str],
    settings: Mapping[str, Any],
    slowdown: float,
    compiled_by_us: bool = False,
) -> Watched[AnyBody]:
    """Runs the target once with a watcher in each Python process: `parts[0]`, which may load the others.

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
    try:
        reports = read_reports(folder, _SUFFIX)
    except OSError:  # the program has removed it
        reports = Reports({})
    processes = parse(reports.contents, body)
    return Watched(launched, processes, folder, (*_notes(target, start, processes, launched), *reports.notes))


def not_started(tool: Tool, error: OSError) -> Profile:
    """A profile of nothing, when our own preparation failed."""
    why = f"{tool.name} could not be put beside the program: {error.strerror}."
    return Profile(tool=tool, outcome="not-started", seconds=0.0, notes=(why,))


def _notes(
    target: Target, start: PythonStart | None, processes: Processes[AnyBody], launched: Launched
) -> list[str]:
    notes = []
    if launched.outcome != "ok":
        notes.append(launched.ended.reason("The program, profiled,"))
    if processes.foreign:
        notes.append(f"{processes.foreign} profile files were not the profiler's own and were not read.")
    if not processes.each and launched.outcome != "not-started":
        what = (
            "Python ignores its environment there"
            if start is None
            else "its interpreter is too old or unknown"
        )
        notes.append(f"No Python process of `{target.words[0]}` could be watched; perhaps {what}.")
    silent = sum(process.body is None for process in processes.each)
    if silent:
        notes.append(
            f"{silent} of {len(processes.each)} Python processes ended without a profile "
            "(crashed, killed, or still running at the end); what they did is missing."
        )
    killed = sum(process.body is not None and not process.body.final for process in processes.each)
    if killed:
        notes.append(
            f"{killed} of {len(processes.each)} Python processes were killed while they waited for work; "
            "functions that were running then are missing."
        )
    return notes
