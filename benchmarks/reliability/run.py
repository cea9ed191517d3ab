"""Prints the table of faults and kills: how many were tried, and how many lost, doubled or broke something.

python -m benchmarks.reliability.run [--minutes 30] [--kills 100] [--pulls 500] [--table]

Every row is appended to results/rows.jsonl as it ends, so a run that was stopped goes on where it was. The
cases are those of the tests (`make soak` runs them all): tests/github/fault_matrix.py, tests/reliability.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.reliability.table import markdown
from tests.github.fault_matrix import FOR_GOOD, KINDS, LASTING, clean, tried
from tests.github.operations import OPERATIONS
from tests.nursery import CODE, Nursery
from tests.reliability.kills import MODES, kill

RESULTS = Path(__file__).parent / "results"
BATCH = 20
"""Kills of one row."""


def faulted(name: str, kind: Any) -> dict[str, Any]:
    """One operation with one kind of fault at each of its calls."""
    calls, left = clean(name)
    results = [
        tried(call, kind, left, times=times)
        for call in calls
        for times in ((1, FOR_GOOD) if kind in LASTING else (1,))
        if not (call.storage and kind == "revoked")
    ]
    return {
        "tried": len(results),
        "survived": sum(one.said is None for one in results),
        "wrong": [one.wrong for one in results if one.wrong],
    }


def killed(mode: str, number: int) -> dict[str, Any]:
    """Twenty kills of one mode."""
    nursery = Nursery()
    try:
        with tempfile.TemporaryDirectory() as folder:
            toll = kill(nursery, mode, Path(folder, "ground"), points=BATCH, seed=number)
    finally:
        nursery.close()
    return {"tried": toll.killed, "ended": toll.ended, "wrong": list(toll.problems)}


def many(pulls: int) -> dict[str, Any]:
    """Simulated pull requests in one process: the memory after the twentieth and the most after it."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "tests.reliability.many", folder, str(pulls)]
        said = subprocess.run(words, cwd=CODE, capture_output=True, text=True, check=True).stdout
    memory = json.loads(said.splitlines()[-1])["memory"]
    return {"tried": pulls, "settled": memory[19], "most": max(memory[20:]), "wrong": []}


def cases(kills: int, pulls: int) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Part and name of each row, and what makes it."""
    for number in range(-(-kills // BATCH)):
        for mode in MODES:
            yield "kills", f"{mode} {number}", partial(killed, mode, number)
    yield "many", str(pulls), partial(many, pulls)
    for kind in KINDS:
        for name in OPERATIONS:
            yield "faults", f"{kind}: {name}", partial(faulted, name, kind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="no row begins after so many")
    parser.add_argument("--kills", type=int, default=100, help="of each mode")
    parser.add_argument("--pulls", type=int, default=500)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "rows.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    have = {(row["part"], row["name"]) for row in done}
    end = time.monotonic() + 60.0 * chosen.minutes
    for part, name, make in cases(chosen.kills, chosen.pulls):
        if chosen.table or (part, name) in have or time.monotonic() > end:
            continue
        row = {"part": part, "name": name, **make()}
        done.append(row)
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, file=sys.stderr)
    text = markdown(done)
    (RESULTS / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
