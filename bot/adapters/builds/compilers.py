"""Keeps debug information in native builds: wrappers that come before the machine's compilers on PATH."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

FLAG = "-g"
"""Adds line tables and does not change the code. After a build's own flags, which stay as they are:
a variable like CFLAGS would replace them, or be ignored."""
ROOM = "-fpatchable-function-entry=5"
"""Leaves room for a tracer in each function, which moves all code: never in what is measured."""

_COMPILER = re.compile(r"(?:[\w.]+-)*(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+)(?:-\d+(?:\.\d+)*)?")


def debugging(folder: Path, env: Mapping[str, str], *, room: bool = False) -> Mapping[str, str]:
    """What a build's environment `env` gets; the wrappers are written into `folder`, which must not exist.

    room: whether functions get room for a tracer, too.

    Compilers that a build calls by their full path keep to their own flags.

    Raises:
        OSError: the wrappers could not be written.
    """
    folder.mkdir(mode=0o755)
    flags = f"{FLAG} {ROOM}" if room else FLAG
    for name, compiler in _compilers(env["PATH"]).items():
        wrapper = folder / name
        wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(str(compiler))} "$@" {flags}\n', encoding="utf-8")
        wrapper.chmod(0o755)
    debug = env.get("CARGO_PROFILE_RELEASE_DEBUG", "1")
    return {"PATH": f"{folder}{os.pathsep}{env['PATH']}", "CARGO_PROFILE_RELEASE_DEBUG": debug}


def _compilers(path: str) -> Mapping[str, Path]:
    """Compilers by name, the first of each name on the path."""
    found: dict[str, Path] = {}
    for folder in path.split(os.pathsep):
        with suppress(OSError):
            for entry in sorted(Path(folder).iterdir()):
                if _COMPILER.fullmatch(entry.name):
                    found.setdefault(entry.name, entry)
    return found
