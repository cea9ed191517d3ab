"""Simulated pull requests one after another in one process, and the memory after each.

    python -m tests.reliability.many FOLDER COUNT

Each is analysed, told as comment and page, and published as a fork's. Prints a line of JSON: the resident
MiB after each, and how many had another verdict than the truth's.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

from bot.adapters.github.artifacts import parse_report
from bot.adapters.terminal import QuietProgress
from bot.compose.measuring import analyse
from bot.compose.subjects import Asked
from bot.flows.publishing.check_run import check_run
from bot.flows.publishing.disarm import disarm
from bot.report.render import comment, page
from tests.reliability.kills import CONFIG, PROGRAM

SLOWER, PAGE_EVERY = 12, 10


def one(folder: Path, number: int) -> bool:
    """One pull request; whether its verdict is the truth."""
    head = number % 20
    asked = Asked(
        base="3", head=str(head), config=folder / "suspects.yml", budget=60.0, seed=number, repository=folder
    )
    report = analyse(asked, QuietProgress())
    if number % PAGE_EVERY == 0:
        page(report)
    named = report.model_copy(
        update={
            side: ref.model_copy(update={"revision": str(ref.revision).rjust(40, "0")})
            for side, ref in (("base", report.base), ("head", report.head))
            if ref is not None
        }
    )
    shown = disarm(parse_report(named.model_dump_json().encode()), head_sha="a" * 40)
    check_run(shown, markdown=comment(shown, fork=True), fork=True)
    return report.verdict == ("regression" if head >= SLOWER else "none")


def resident() -> float:
    """MiB of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> None:
    """The runs, then the line."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as name:
        folder = Path(name)
        (folder / "suspects.yml").write_text(CONFIG, "utf-8")
        (folder / "program.py").write_text(PROGRAM, "utf-8")
        os.chdir(folder)
        memory, wrong = [], 0
        for number in range(int(sys.argv[2])):
            wrong += not one(folder, number)
            gc.collect()
            memory.append(round(resident(), 1))
    print(json.dumps({"memory": memory, "wrong": wrong}))  # noqa: T201


if __name__ == "__main__":
    main()
