"""Real A/A pull requests: real programs whose head changes only a README, the whole command, a busy machine.

python -m benchmarks.unchanged.run --runs 50 --budget 30 --cores 2 xz markdown
Resumable: each finished run is a line of results/runs.jsonl. `--table` prints what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

from benchmarks.noise.programs import PROGRAMS
from benchmarks.rates import upper_bound

RESULTS = Path(__file__).parent / "results"
RUNS = RESULTS / "runs.jsonl"
FIRST_SEED = 70_000  # none of these seeds was used for tuning
INPUT = "bench/input"


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(name: str, folder: Path) -> Path:
    """The program, its input and its file, committed; head differs in README only."""
    real = PROGRAMS[name]
    root = folder / name
    (root / "bench").mkdir(parents=True)
    (root / ".github").mkdir()
    real.fetch(root)
    real.write_input(root / INPUT)
    subject = real.subject.model_dump(mode="json", exclude_defaults=True)
    subject["workloads"] = {"input": {"path": INPUT}}
    (root / ".github/suspects.yml").write_text(json.dumps(subject, indent=1))
    git(root, "init", "-q", "-b", "main")
    for text in ("before", "after"):
        (root / "README").write_text(f"{text}\n")
        git(root, "add", "-A", "-f")
        git(root, "commit", "-q", "-m", text)
    return root


@contextmanager
def taken(cores: Queue[str]) -> Iterator[str]:
    mine = cores.get()
    try:
        yield mine
    finally:
        cores.put(mine)


def one(root: Path, seed: int, budget: float, cores: str) -> dict[str, Any]:
    """One pull request through the command line; its figures."""
    with tempfile.TemporaryDirectory() as out:
        report = Path(out, "report.json")
        words = [
            "pr",
            "--base",
            "HEAD~1",
            "--head",
            "HEAD",
            "--seed",
            str(seed),
            "--budget",
            f"{budget}s",
            "-q",
        ]
        began = time.monotonic()
        done = subprocess.run(
            ["taskset", "-c", cores, sys.executable, "-m", "bot", *words, "--json", str(report)],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise RuntimeError(done.stderr.strip()[-300:])  # a defect is not a quiet pull request
        found = json.loads(report.read_text())
        return {
            "program": root.name,
            "code": git(Path(__file__).parent, "rev-parse", "--short", "HEAD"),
            "seed": seed,
            "budget": budget,
            "cores": cores,
            "exit": done.returncode,
            "said": done.stderr.strip()[-300:],
            "wall": round(time.monotonic() - began, 1),
            "load": round(os.getloadavg()[0], 1),
            "verdict": found.get("verdict"),
            "seconds": found.get("spent", {}).get("seconds"),
            "pairs": found.get("spent", {}).get("pairs"),
            "configurations": len(found.get("configurations", [])),
            "named": [e["term"] for e in found.get("suspects", {}).get("options", [])],
            "visible": max(
                (v["slow_down"] or 9.9 for v in found.get("visible", {}).get("options", [])), default=None
            ),
        }


def known() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RUNS.read_text().splitlines()] if RUNS.exists() else []


def measure(programs: Sequence[str], runs: int, budget: float, per_run: int) -> None:
    usable = sorted(os.sched_getaffinity(0))
    cores: Queue[str] = Queue()
    for i in range(0, len(usable) - per_run + 1, per_run):
        cores.put(",".join(map(str, usable[i : i + per_run])))
    code = git(Path(__file__).parent, "rev-parse", "--short", "HEAD")
    done = {(r["program"], r["seed"]) for r in known() if r["code"] == code}
    todo = [(p, FIRST_SEED + i) for i in range(runs) for p in programs if (p, FIRST_SEED + i) not in done]
    RESULTS.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="unchanged-"))
    folder.chmod(0o755)
    try:
        roots = {p: repository(p, folder) for p in programs}

        def run(work: tuple[str, int]) -> None:
            with taken(cores) as mine:
                row = one(roots[work[0]], work[1], budget, mine)
            with RUNS.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(
                row["program"],
                row["seed"],
                row["verdict"],
                row["named"],
                row["pairs"],
                row["wall"],
                flush=True,
            )

        with ThreadPoolExecutor(cores.qsize()) as pool:
            list(pool.map(run, todo))
    finally:
        shutil.rmtree(folder)


HEADER = (
    "code",
    "program",
    "pull requests",
    "alarms",
    "95 % upper bound",
    "none",
    "inconclusive",
    "median seconds",
    "median pairs",
    "median smallest visible",
    "load",
)


def table() -> str:
    rows = known()
    lines = [f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|"]
    groups = [*dict.fromkeys((r["code"], r["program"]) for r in rows), ("all", "all")]
    for code, name in groups:
        mine = [r for r in rows if name == "all" or (code, name) == (r["code"], r["program"])]
        alarms = sum(r["verdict"] in ("regression", "improvement", "mixed") for r in mine)
        counts = [len(mine), alarms, f"{upper_bound(alarms, len(mine)):.1%}"]
        counts += [sum(r["verdict"] == v for r in mine) for v in ("none", "inconclusive")]
        medians = [f"{median(mine, key):.0f}" for key in ("seconds", "pairs")]
        medians += [f"{median(mine, 'visible'):.1%}", f"{median(mine, 'load'):.0f}"]
        lines.append(f"| {' | '.join(map(str, [code, name, *counts, *medians]))} |")
    return "\n".join(lines)


def median(rows: Sequence[dict[str, Any]], key: str) -> float:
    values = sorted(r[key] for r in rows if r[key] is not None)
    return float(values[len(values) // 2]) if values else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=["xz", "markdown"])
    parser.add_argument("--runs", type=int, default=50, help="pull requests of each program")
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--cores", type=int, default=2, help="cores of one run; several runs go on at once")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if not given.table:
        measure(given.programs, given.runs, given.budget, given.cores)
    (RESULTS / "table.md").write_text(table() + "\n")
    print(table())


if __name__ == "__main__":
    main()
