"""What calibrated unit costs are worth: their fit, how they repeat, and what they say of real programs' time.

python -m benchmarks.resources.calibration [--runs 5] [--seconds 30]

Uses the counts that benchmarks.resources.noise has stored. Goes on where it was stopped, then writes the
table.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.resources import noise
from bot.adapters.resources.calibration import KERNELS, timed_kernels
from bot.analysis.resources.unit_costs import PRIOR, UnitCosts, calibrated
from bot.model.resources import Count

RESULTS = Path(__file__).with_name("results")
ROWS, TABLE = RESULTS / "calibration.jsonl", RESULTS / "calibration.md"
TIMES = 7
NOT_COMPARED = ("JIT", "JVM", "threads", "forks")
"""Their counted trials are not their timed ones: a JIT compiles other code, a fork is simulated twice."""


def measure(runs: int, seconds: float) -> None:
    """One row for each calibration: kernels, their counts and seconds, and the time it took."""
    for _ in range(runs - len(rows("calibration"))):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
            began, before = time.monotonic(), _spent()
            kernels, notes = timed_kernels(Path(name), stop=lambda: False, seconds=seconds)
            took = {"seconds": time.monotonic() - began, "cpu": _spent() - before}
        _append({"kind": "calibration", "kernels": list(kernels), "notes": list(notes), **took})
    if not rows("program"):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
            noise.prepare(Path(name))
            for case in noise.CASES:
                if not any(word in case.nature for word in NOT_COMPARED):
                    cpu = [_cpu(case.words, Path(name)) for _ in range(TIMES)]
                    _append({"kind": "program", "case": case.name, "cpu": float(np.median(cpu))})


def _append(row: Mapping[str, Any]) -> None:
    with ROWS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _cpu(words: tuple[str, ...], folder: Path) -> float:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    before = _spent()
    subprocess.run(
        words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
    )
    return _spent() - before


def _spent() -> float:
    """CPU seconds of everything that was started and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rows(kind: str) -> list[dict[str, Any]]:
    """What is stored of one kind."""
    lines = ROWS.read_text(encoding="utf-8").splitlines() if ROWS.exists() else []
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


def _counts(case: str) -> Mapping[Count, float]:
    """Medians of all counts of a real program."""
    seen: dict[Count, list[float]] = {}
    for row in noise.rows():
        if row["case"] == case and row["outcome"] == "ok":
            for count, number in row["counts"].items():
                seen.setdefault(count, []).append(number)
    return {count: float(np.median(numbers)) for count, numbers in seen.items()}


def markdown() -> str:
    """The costs, how they repeat, and seconds they say real programs take."""
    found = [
        (row, calibrated([(counts, seconds) for counts, seconds in row["kernels"]]))
        for row in rows("calibration")
    ]
    fits = [costs for _, costs in found if costs.error is not None]
    took, cpu = [row["seconds"] for row, _ in found], [row["cpu"] for row, _ in found if "cpu" in row]
    whole = sum(len(row["kernels"]) == len(KERNELS) for row, _ in found)
    lines = [
        "# What events cost on this machine",
        "",
        f"{len(found)} calibrations of {len(KERNELS)} kernels took {min(took):.0f} to {max(took):.0f} s "
        f"beside other work (load 20 on 4 cores), of CPU {', '.join(f'{one:.0f} s' for one in cpu)}.",
        f"{whole} of them ran all kernels, {len(fits)} were believed.",
        "Mean relative error on kernels that the fit had not seen:",
        f"{', '.join(f'{costs.error:.0%}' for costs in fits)}.",
        "",
        "| event | prior, ns | median fit, ns | least to most |",
        "|---|---:|---:|---:|",
    ]
    for count, prior in PRIOR.items():
        values = np.array([costs.seconds[count] for costs in fits]) * 1e9
        same = not len(values) or np.allclose(values, prior * 1e9)
        cells = (
            "| | |" if same else f"| {_ns(np.median(values))} | {_ns(min(values))} to {_ns(max(values))} |"
        )
        lines.append(f"| {count.replace('_', ' ')} | {_ns(prior * 1e9)} {cells}")
    lines += ["", *_programs(fits)]
    return "\n".join([*lines, ""])


def _ns(value: float) -> str:
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.2g}"


def _programs(fits: list[UnitCosts]) -> list[str]:
    lines = [
        "CPU time of real programs that their counts come to, over the measured one:",
        "",
        "| program | measured, ms | prior | calibrated |",
        "|---|---:|---:|---:|",
    ]
    for row in rows("program"):
        counts = _counts(row["case"])
        prior, *others = (
            sum(costs[count] * number for count, number in counts.items()) / row["cpu"]
            for costs in (PRIOR, *(fit.seconds for fit in fits))
        )
        after = f"{np.median(others):.2f}" if others else ""
        lines.append(f"| {row['case']} | {row['cpu'] * 1e3:.0f} | {prior:.2f} | {after} |")
    return lines


def main() -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=30.0)
    words = parser.parse_args()
    measure(words.runs, words.seconds)
    TABLE.write_text(markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
