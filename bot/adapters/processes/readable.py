"""Which files a command may read besides the system's: what its words and its environment name."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from bot.model.sites import Site

OURS = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]))
"""Our interpreter and package: profilers that run with a program come from there."""
_RUNNER = ("GITHUB_", "RUNNER_", "ACTIONS_")
"""Variables with these names tell where a runner keeps what is not for the program."""
_PATH = re.compile(r"(?:^|[=:,@])(/[^\s:,=]+)")


class Box(NamedTuple):
    """What a command may touch besides the system's: folders and files to write, and to read.

    calls: profilers may ask the kernel for events, too.
    """

    write: Sequence[Path]
    read: Sequence[Path] = ()
    calls: Literal["ordinary", "profiler"] = "ordinary"


def readable(words: Sequence[str], env: Mapping[str, str], own: Iterable[Path] = ()) -> list[str]:
    """Absolute paths: `own`, ours, and those in words and variables (PATH, JAVA_HOME), in any order.

    Both come from a configuration that is trusted. Top-level folders do not count: nobody means all of /home.
    What lies beside a folder of programs (`bin`) goes with it: their libraries.
    """
    variables = (value for name, value in sorted(env.items()) if not name.startswith(_RUNNER))
    named = (path for text in (*words, *variables) for path in _PATH.findall(text))
    programs = (str(Path(word).parent) for word in words[:1] if word.startswith("/"))
    found = dict.fromkeys((*OURS, *map(str, own)))
    for path in (*named, *programs):
        found.update(dict.fromkeys(_with_libraries(path)))
    return list(found)


def files_of(site: Site, cwd: Path, stdin: Path | None) -> tuple[Path, ...]:
    """What a trial at a site reads: the checkout, the place it runs in, its inputs and the folder of each.

    Bundlers and linters list the folder of a file before they read it.
    """
    inputs = (place for file in site.workloads.values() for place in (file, file.parent))
    return (cwd, site.root, *([] if stdin is None else [stdin]), *inputs)


@cache
def _with_libraries(path: str) -> tuple[str, ...]:
    place = Path(path)
    if len(place.parts) <= 2 or ".." in place.parts:  # the root, and a folder in it
        return ()
    beside = place.parent
    home = len(beside.parts) <= 2 or beside.parent == Path("/home")
    return (path, str(beside)) if place.name == "bin" and not home else (path,)
