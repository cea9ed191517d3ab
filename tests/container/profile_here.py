"""Runs inside the image, by its own Python: one coarse and one fine profile of a program, told as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bot.adapters.processes import process
from bot.adapters.profilers.fine import FineProfiler
from bot.adapters.profilers.profiling import COARSE
from bot.model.profiles import Method, Target

UID = process.FIRST_UID + 900
"""Not one of a run beside us: a run ends all that its accounts run, and limits count by account."""


def main(runtime: str, root: str, wanted: str, *words: str) -> None:
    """`words` start the program in `root`; `wanted` is the method that is timed."""
    scratch = Path(root, "scratch")
    scratch.mkdir()
    scratch.chmod(0o777)
    target = Target(
        words,
        {"PATH": process.PATH, "LC_ALL": "C.UTF-8"},
        Path(root),
        Path(root),
        scratch,
        account=process.accounts("auto", first=UID).of["base"],
    )
    profile = COARSE[runtime]().profile(target)
    found = next((method for method in profile.methods if method.name == wanted), Method(wanted))
    watched = FineProfiler(runtime, overhead=10.0).watch(target, [found], profile)
    told = {
        "coarse": profile.tool.name,
        "share": profile.methods[found].self_share if found in profile.methods else 0.0,
        "fine": watched.tool.name,
        "calls": sum(series.calls for series in watched.series if series.method == found),
        "notes": [*profile.notes, *watched.notes],
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
