"""What programs of this machine say of their versions."""

from __future__ import annotations

import re
import shutil
import subprocess

from bot.adapters.processes.process import PATH, run_trusted

PATIENCE = 10.0
"""Seconds for a program to say it: while others measure, it may wait for a core."""
_LONGEST = 100
_VERSION = re.compile(r"\d\S*")


def version_line(program: str) -> str:
    """First line of a program's `--version`; empty: it is not there, or says nothing in time.

    program: its name on the plain PATH, or its place. It runs as ourselves: never one from a checkout.
    """
    path = shutil.which(program, path=PATH)
    if path is None:
        return ""
    try:
        said = run_trusted([path, "--version"], timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (said.output.decode("utf-8", "replace") or said.error).splitlines()
    return lines[0][:_LONGEST].strip() if lines else ""


def version_of(program: str) -> str:
    """The version in that line, as `3.19.0` in `valgrind-3.19.0`: the first word from its first digit on."""
    found = _VERSION.search(version_line(program))
    return found[0] if found else "none"
