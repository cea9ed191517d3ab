"""Runs a trial with a hook preloaded into each Node process and worker thread, and gathers what it left."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from bot.adapters.processes.process import PATH
from bot.adapters.processes.tool_versions import version_line
from bot.adapters.profilers.evidence import told
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.reports import AnyReport, ToldReports, tool_folder
from bot.model.profiles import Target

HERE = Path(__file__).resolve().parent
OLDEST = 16
"""The first major version of Node with everything that the hooks call."""
_NODE = re.compile(r"node(js)?([-.]?\d+)?")
_VERSION = re.compile(r"v(\d{1,4})(?:\.\d{1,5}){2}")


@dataclass(frozen=True)
class Hooked(Generic[AnyReport]):
    """A trial that ran with a hook: how it ended, what the hook reported, and sentences about both."""

    launched: Launched
    reports: Sequence[AnyReport]
    notes: tuple[str, ...]


def interpreter(target: Target) -> str | None:
    """The Node that runs the target: its first word if that is one, else the one on its PATH, if any."""
    first = target.words[0]
    search = target.env.get("PATH", PATH)
    if _NODE.fullmatch(Path(first).name):
        found = shutil.which(first, path=search) if "/" not in first else str(target.cwd / first)
    else:
        found = shutil.which("node", path=search)
    return found if found and os.access(found, os.X_OK) else None


def version(target: Target) -> str:
    """The interpreter's version as `v20.1.0`; empty when it is not known before it runs.

    A node that lies in the checkout is the subject's code: it is not run as ourselves to ask it.
    """
    node = interpreter(target)
    if node is None or Path(node).resolve().is_relative_to(target.root.resolve()):
        return ""
    said = version_line(node)
    return said if _VERSION.fullmatch(said) else ""


def what_is_missing(target: Target) -> list[str]:
    """What a hook needs and does not find, one sentence each."""
    if interpreter(target) is None:
        return ["There is no `node` on the PATH of trials, which Node programs are profiled with."]
    known = _VERSION.fullmatch(version(target))
    if known and int(known[1]) < OLDEST:
        return [f"Node {known[0]} is too old to be profiled: {OLDEST} or newer is needed."]
    return []


def run_hooked(
    target: Target,
    hook: str,
    settings: Mapping[str, Any],
    read: Callable[..., ToldReports[AnyReport]],
    *arguments: object,
    extra: Sequence[Path] = (),
    slowdown: float,
) -> Hooked[AnyReport]:
    """One trial with `hook` (a file beside this one) preloaded, which writes `.began` first and `.json` last.

    read: the reader of what it writes, of its folder and `arguments`.

    Raises:
        OSError: the scratch folder cannot take the hook.
    """
    folder = tool_folder(target, "node", [HERE / hook, *extra], settings)
    options = f"--require {_quoted(str(folder / hook))} {target.env.get('NODE_OPTIONS', '')}".strip()
    launched = launch(
        target, target.words, env={"NODE_OPTIONS": options}, slowdown=slowdown, one_core=target.one_core
    )
    (folder / "settings.json").unlink(missing_ok=True)
    try:
        left = told(target, read, folder, *arguments, files=[folder])
    except OSError as error:
        return Hooked(launched, (), (f"What Node processes left could not be read: {error}.",))
    return Hooked(launched, left.reports, (*left.notes, *_silent(left.began, left.files)))


def _silent(began: int, files: int) -> list[str]:
    if not began:
        return ["No Node process was seen: the command starts none, or takes NODE_OPTIONS from it."]
    silent = began - files
    if silent > 0:
        return [
            f"{silent} of {began} Node processes and threads ended without a profile (killed, or aborted)."
        ]
    return []


def _quoted(path: str) -> str:
    """As NODE_OPTIONS wants a path that may hold spaces."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
