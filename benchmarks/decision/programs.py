"""Whole pull requests of simulated programs: who is named, exactly, and who wrongly.

python -m benchmarks.decision.programs [--runs 30] [--seed 5000] [--budget 300] [--processes 2]

Each is a callable program in a folder, and the command `suspects pr` as a user runs it. Goes on where it was
stopped; rows of another budget or an older decision are ignored.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.decision.callable_programs import KINDS, Kind, system
from benchmarks.decision.run import fingerprint

RESULTS = Path(__file__).with_name("results")
ROWS, TABLE = RESULTS / "programs.jsonl", RESULTS / "programs.md"
ROOT = Path(__file__).resolve().parents[2]


def play(kind: Kind, seed: int, budget: int) -> dict[str, Any]:
    """One pull request; its row."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = system(kind, seed)
        made.write(folder)
        words = ["pr", "--config", "suspects.yml", "--base", "0", "--head", "1", "--budget", f"{budget}s"]
        words += ["--seed", str(seed), "--json", "report.json", "--history", "history", "-q"]
        subprocess.run(
            [sys.executable, "-m", "bot", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    left = set(made.changes)
    wrong = []
    for effect in report["suspects"]["options"]:
        term = tuple(sorted(effect["term"]))
        if effect["significant"] and term not in left:
            wrong.append(term)
        elif effect["significant"]:
            left.remove(term)
    return {
        "kind": kind.name,
        "seed": seed,
        "verdict": report["verdict"],
        "changes": len(made.changes),
        "named": len(made.changes) - len(left),
        "wrong": wrong,
        "pairs": report["spent"]["pairs"],
    }


def table(rows: Sequence[dict[str, Any]], budget: int) -> str:
    """A line for each kind."""
    lines = [
        "# Pull requests of simulated programs",
        "",
        f"`suspects pr` with {budget} seconds of simulated measuring; trials take about a second. Six to",
        "fourteen switches; noise of a trial .5, 1 or 2 % unless told otherwise. Named: exactly that term;",
        "wrong: any other.",
        "",
        "| what changed | pull requests | alarmed | named | wrong names | pairs, mean |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for kind in KINDS:
        own = [row for row in rows if row["kind"] == kind.name]
        if own:
            alarmed = sum(row["verdict"] in ("regression", "improvement", "mixed") for row in own)
            changes, named = (sum(row[key] for row in own) for key in ("changes", "named"))
            wrong = sum(len(row["wrong"]) for row in own)
            pairs = sum(row["pairs"] for row in own) / len(own)
            lines.append(
                f"| {kind.name} | {len(own)} | {alarmed} | {f'{named} of {changes}' if changes else ''} "
                f"| {wrong} | {pairs:.0f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=30, help="of each kind")
    parser.add_argument("--seed", type=int, default=5000)
    parser.add_argument("--budget", type=int, default=300, help="seconds")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    told = {"code": fingerprint(), "budget": asked.budget}
    lines = ROWS.read_text(encoding="utf-8").splitlines() if ROWS.exists() else []
    rows = [row for row in map(json.loads, lines) if {key: row[key] for key in told} == told]
    known = {(row["kind"], row["seed"]) for row in rows}
    jobs = [(kind, asked.seed + i, asked.budget) for i in range(asked.runs) for kind in KINDS]
    with ThreadPoolExecutor(asked.processes) as pool:
        for row in pool.map(lambda job: play(*job), [j for j in jobs if (j[0].name, j[1]) not in known]):
            rows.append(told | row)
            with ROWS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
            TABLE.write_text(table(rows, asked.budget), encoding="utf-8")
    print(table(rows, asked.budget))


if __name__ == "__main__":
    main()
