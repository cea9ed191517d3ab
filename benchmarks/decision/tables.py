"""Pull requests on tables that were measured elsewhere: who is alarmed, named, and named wrongly.

python -m benchmarks.decision.tables [--runs 60] [--seed 9000] [--processes 2]

Each is a table of 8 to 64 configurations in a folder, with one noisy value (or three) for each configuration
and revision, and the analysis as `suspects pr` runs it. Half of the tables know base and head alone, half
four earlier revisions, too. Goes on where it was stopped; rows of an older decision are ignored.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decision.run import fingerprint
from bot.adapters.terminal import QuietProgress
from bot.compose.measuring import analyse
from bot.compose.subjects import Asked

RESULTS = Path(__file__).with_name("results")
ROWS, TABLE = RESULTS / "tables.jsonl", RESULTS / "tables.md"
NOISES = (0.0, 0.003, 0.01, 0.03)
CHANGED = ("nothing", "an option", "a pair", "everything")
SIZES = (8, 16, 32, 64)
LEAST_NOISE = 0.01
"""Changes are 3 to 5 times the noise of a value, or of this: what is below the threshold is not told."""


@dataclass(frozen=True)
class Arm:
    """What changed, beside which noise of a value, with how many values in each cell."""

    changed: str
    noise: float
    values: int = 1

    @property
    def name(self) -> str:
        """Its words in the table."""
        several = f", {self.values} values a cell" if self.values > 1 else ""
        return f"{self.changed}, {'exact' if not self.noise else f'noise of {100 * self.noise:g} %'}{several}"


ARMS = tuple(Arm(changed, noise, values) for values in (1, 3) for noise in NOISES for changed in CHANGED)


def write(folder: Path, arm: Arm, seed: int) -> tuple[int, tuple[str, ...] | None, float]:
    """A table and its configuration file; its last revision, the changed term (or None) and the change."""
    rng = np.random.default_rng([seed, *map(ord, arm.name)])
    size = SIZES[seed % len(SIZES)]
    options = 3 if size == 8 else int(rng.integers(int(np.log2(size)), 9))
    every = np.array(list(product((0, 1), repeat=options)))
    rows = every[np.sort(rng.choice(np.arange(1, len(every)), size - 1, replace=False))]
    rows = np.concatenate([every[:1], rows])  # the default configuration is measured
    costs = np.exp(rows @ rng.normal(0.0, 0.2, options))
    levels = {"nothing": 0, "an option": 1, "a pair": 2, "everything": 0}[arm.changed]
    places = np.sort(rng.choice(options, levels, replace=False))
    change = float(rng.uniform(3.0, 5.0)) * max(arm.noise, LEAST_NOISE)
    last = 1 if seed // len(SIZES) % 2 == 0 else 5
    with (folder / "perf.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["commit", *(f"o{i}" for i in range(options)), "perf"])
        for revision in range(last + 1):
            moved = arm.changed != "nothing" and revision == last
            for row, cost in zip(rows, costs, strict=True):
                real = cost * (1.0 + change if moved and row[places].all() else 1.0)
                for _ in range(arm.values):
                    out.writerow([revision, *row, repr(float(real * np.exp(arm.noise * rng.normal())))])
    written = {
        "program": {"table": "perf.csv", "revision": "commit", "metric": "perf"},
        "options": {f"o{i}": {"flag": f"--o{i}"} for i in range(options)},
    }
    (folder / "suspects.yml").write_text(json.dumps(written), encoding="utf-8")
    term = None if arm.changed == "nothing" else tuple(f"o{i}" for i in places)
    return last, term, change


def play(arm: Arm, seed: int) -> dict[str, Any]:
    """One pull request; its row."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        last, term, change = write(folder, arm, seed)
        asked = Asked(
            base=str(last - 1),
            head=str(last),
            config=folder / "suspects.yml",
            seed=seed,
            repository=folder,
            history=str(folder / "history"),
        )
        report = analyse(asked, QuietProgress())
    named = [e for e in report.suspects.options if e.significant]
    right = [e for e in named if tuple(sorted(e.term)) == term]
    return {
        "arm": arm.name,
        "seed": seed,
        "verdict": report.verdict,
        "change": change,
        "named": len(right),
        "held": bool(right) and right[0].interval[0] <= 1.0 + change <= right[0].interval[1],
        "wrong": ["+".join(e.term) or "everything" for e in named if tuple(sorted(e.term)) != term],
        "suspected": ["+".join(e.term) for e in report.suspects.options if not e.significant],
        "pairs": report.spent.pairs,
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """A line for each arm."""
    lines = [
        "# Pull requests on tables",
        "",
        "`suspects pr` on tables of 8, 16, 32 and 64 configurations, half of them with four earlier",
        f"revisions. Changes are 3 to 5 times the noise of a value (of {100 * LEAST_NOISE:g} % where that is",
        "larger). Named: exactly that term; wrong: any other.",
        "",
        "| what changed | pull requests | alarmed | green | named | wrong names |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for arm in ARMS:
        own = [row for row in rows if row["arm"] == arm.name]
        if own:
            alarmed = sum(row["verdict"] in ("regression", "improvement", "mixed") for row in own)
            green = sum(row["verdict"] == "none" for row in own)
            named = "" if arm.changed == "nothing" else sum(row["named"] for row in own)
            wrong = sum(len(row["wrong"]) for row in own)
            lines.append(f"| {arm.name} | {len(own)} | {alarmed} | {green} | {named} | {wrong} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=60, help="of each kind")
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--values", type=int, help="only tables with so many values a cell")
    parser.add_argument("--rows", type=Path, default=ROWS)
    asked = parser.parse_args()
    code = fingerprint()
    lines = asked.rows.read_text(encoding="utf-8").splitlines() if asked.rows.exists() else []
    rows = [row for row in map(json.loads, lines) if row["code"] == code]
    known = {(row["arm"], row["seed"]) for row in rows}
    arms = [arm for arm in ARMS if asked.values in (None, arm.values)]
    jobs = [(arm, asked.seed + i) for i in range(asked.runs) for arm in arms]
    jobs = [job for job in jobs if (job[0].name, job[1]) not in known]
    with ProcessPoolExecutor(asked.processes) as pool, asked.rows.open("a", encoding="utf-8") as file:
        for row in pool.map(play, *zip(*jobs, strict=True)) if jobs else ():
            rows.append({"code": code, **row})
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    told = table(rows)
    if asked.rows == ROWS:
        TABLE.write_text(told, encoding="utf-8")
    sys.stdout.write(told)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
