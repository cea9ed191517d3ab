"""False alarms of the real hyperfine and pyperf, at their defaults: two identical copies of a program.

python -m benchmarks.decision.peers --budget 1200 xz markdown
Resumable: each comparison is a line of results/peers.jsonl. `--table` prints what is there. Hyperfine decides
nothing itself; its documentation compares two results by a t-test at 5 % (scripts/welch_ttest.py), so do we.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, ttest_ind

from benchmarks.noise.programs import PROGRAMS, Real
from benchmarks.noise.record import configurations, sites
from bot.model.invocation import invocation

RESULTS = Path(__file__).parent / "results"
RUNS = RESULTS / "peers.jsonl"


def commands(real: Real, folder: Path, rng: np.random.Generator) -> list[str]:
    """The shell command of base and of head in a random configuration."""
    chosen = configurations(real, 2, rng)[1]
    words = invocation(real.subject, chosen).words
    found = []
    for site in sites(real, folder).values():
        given = [w.replace("{workload}", str(site.workloads["input"])) for w in words]
        program = site.root / given[0]
        given[0] = str(program) if program.exists() else given[0]
        given = [str(site.root / w) if (site.root / w).is_file() else w for w in given]
        found.append((site.root, shlex.join(given)))
    return [f"cd {shlex.quote(str(root))} && {command}" for root, command in found]


def hyperfine(two: Sequence[str], folder: Path) -> dict[str, Any]:
    """One call with both commands, defaults only."""
    out = folder / "hyperfine.json"
    subprocess.run(["hyperfine", "--export-json", str(out), *two], check=True, capture_output=True)
    base, head = (np.array(r["times"]) for r in json.loads(out.read_text())["results"])
    found = ttest_ind(base, head, equal_var=False)
    return {"alarm": bool(found.pvalue < 0.05), "ratio": float(head.mean() / base.mean()), "runs": len(base)}


def pyperf(two: Sequence[str], folder: Path) -> dict[str, Any]:
    """`pyperf command` for each, then `pyperf compare_to`, defaults only."""
    files = [folder / "base.json", folder / "head.json"]
    for command, out in zip(two, files, strict=True):
        words = [sys.executable, "-m", "pyperf", "command", "-o", str(out), "sh", "-c", command]
        subprocess.run(words, check=True, capture_output=True)
    words = [sys.executable, "-m", "pyperf", "compare_to", *map(str, files)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    values = [[v for run in json.loads(f.read_text())["benchmarks"][0]["runs"] for v in run.get("values", [])]
              for f in files]  # fmt: skip
    ratio = float(np.mean(values[1]) / np.mean(values[0]))
    return {"alarm": "not significant" not in said, "ratio": ratio, "runs": len(values[0])}


TOOLS = {"hyperfine + Welch": hyperfine, "pyperf": pyperf}


def compare(tool: str, program: str, seed: int) -> dict[str, Any]:
    """One comparison of two identical copies."""
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        two = commands(PROGRAMS[program], folder, np.random.default_rng(seed))
        two = [f"{c} > /dev/null 2>&1" for c in two]
        began = time.monotonic()
        found = TOOLS[tool](two, folder)
        return {"tool": tool, "program": program, "seed": seed, **found, "seconds": time.monotonic() - began}


def table(runs: Sequence[dict[str, Any]]) -> str:
    """False alarms per comparison and their 95 % interval."""
    lines = [
        "Two byte-identical copies of a program, real tools at their defaults, one configuration each time.",
        "",
        "| tool | program | comparisons | called different | 95 % interval | median, largest | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for tool in TOOLS:
        for program in sorted({r["program"] for r in runs}):
            own = [r for r in runs if r["tool"] == tool and r["program"] == program]
            if not own:
                continue
            n, k = len(own), sum(r["alarm"] for r in own)
            low = float(beta.ppf(0.025, k, n - k + 1)) if k else 0.0
            high = float(beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0
            seconds = np.median([r["seconds"] for r in own])
            off = 100 * np.abs(np.array([r["ratio"] for r in own]) - 1)
            lines.append(
                f"| {tool} | {program} | {n} | {100 * k / n:.0f} % | {100 * low:.0f} to {100 * high:.0f} % "
                f"| {np.median(off):.1f} %, {off.max():.1f} % | {seconds:.0f} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=["xz"])
    parser.add_argument(
        "--budget", type=float, default=1200.0, help="seconds; the last comparison is finished"
    )
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    runs = [json.loads(line) for line in RUNS.read_text().splitlines()] if RUNS.exists() else []
    began, seed = time.monotonic(), max((r["seed"] for r in runs), default=0)
    while not chosen.table and time.monotonic() - began < chosen.budget:
        seed += 1
        program = chosen.programs[seed % len(chosen.programs)]
        # pyperf takes several times longer: one of its comparisons for three of hyperfine's.
        for tool in TOOLS if seed % 3 == 0 else ["hyperfine + Welch"]:
            runs.append(compare(tool, program, seed))
            with RUNS.open("a") as out:
                out.write(json.dumps(runs[-1]) + "\n")
    print(table(runs))
    (RESULTS / "peers.md").write_text(table(runs) + "\n")


if __name__ == "__main__":
    main()
