"""Decisions of one machine beside those of four that share its budget.

python -m benchmarks.shards.decide [--repeat 200] [--only no] writes results/decide.md; a run that was stopped
goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.stats import beta

from benchmarks.shards.machines import Case, Kind, measured

RESULTS = Path(__file__).parent / "results"
FAST, SLOW, LOUD = Kind("fast", 0.7, 0.025), Kind("slow", 1.4, 0.035), Kind("loud", 1.0, 0.06)
USUAL = Kind("usual")
LIKE = (USUAL,) * 4
UNLIKE = (USUAL, FAST, SLOW, LOUD)
TWO = (USUAL, USUAL, FAST, FAST)
ONE_ONLY = (USUAL, USUAL, replace(FAST, shows=0.0), replace(FAST, shows=0.0))
FLEETS = {"1 machine": (USUAL,), "4 alike": LIKE, "2 + 2": TWO, "4 unlike": UNLIKE}
CHANGES: dict[str, tuple[tuple[int, ...], float]] = {
    "no change": ((), 0.0),
    "an option, +2 %": ((0,), 0.02),
    "an option, +3 %": ((0,), 0.03),
    "everything, +2 %": ((), 0.02),
    "a pair, +5 %": ((0, 1), 0.05),
}


def cases() -> dict[str, tuple[str, str, Case]]:
    """Key -> what changed, where, and the case."""
    found = {}
    for change, (term, size) in CHANGES.items():
        for fleet, machines in FLEETS.items():
            found[f"{change} | {fleet}"] = (change, fleet, Case(change, term, size, machines))
    found["one kind"] = ("an option, +5 %, on one kind only", "2 + 2", Case("one", (0,), 0.05, ONE_ONLY))
    return found


def play(case: Case, seed: int) -> dict[str, Any]:
    """One pull request: whether it alarmed, what it named, and whether the interval holds the truth."""
    report = measured(case, seed)
    term = [f"o{i}" for i in case.term]
    named = [list(e.term) for e in report.suspects.options]
    right = next((e for e in report.suspects.options if list(e.term) == term), None)
    held = right is not None and right.interval[0] <= np.exp(case.size) <= right.interval[1]
    return {
        "verdict": report.verdict,
        "right": right is not None and case.size != 0.0,
        "wrong": sum(name != term or case.size == 0.0 for name in named),
        "held": bool(held),
        "pairs": report.spent.pairs,
        "only": any("only:" in note for note in report.notes),
    }


def code() -> str:
    """Which decision these results are of."""
    import bot

    home = Path(bot.__file__).parent
    flows = ("shards/*", "pull_request", "run/evidence")
    files = [*(home / "analysis").glob("*.py"), *(home / "sampling").glob("s*.py")]
    files += [path for name in flows for path in (home / "flows").glob(f"{name}.py")]
    files += [*Path(__file__).parent.glob("*s.py"), home / "analysis/machines/merging.py"]
    return hashlib.sha256(b"".join(p.read_bytes() for p in sorted(files))).hexdigest()[:12]


def share(rows: list[dict[str, Any]], what: str) -> str:
    """A rate in %, with a 95 % interval (Clopper and Pearson)."""
    n, k = len(rows), sum(bool(row[what]) for row in rows)
    low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
    high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
    return f"{100 * k / n:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def table(found: dict[str, list[dict[str, Any]]], stamp: str) -> str:
    """The results as Markdown."""
    lines = [
        f"Simulated machines, code {stamp}; each fleet has 60 s in all. Rates in %, with 95 % intervals.",
        "",
        "| change | fleet | n | alarm | named | wrong names per PR | none | interval holds | pairs |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for key, (change, fleet, case) in cases().items():
        rows = found.get(key, [])
        if not rows:
            continue
        for row in rows:
            row["alarm"] = row["verdict"] in ("regression", "improvement", "mixed")
            row["none"] = row["verdict"] == "none"
        right = [row for row in rows if row["right"]]
        lines.append(
            f"| {change} | {fleet} | {len(rows)} | {share(rows, 'alarm')} |"
            f" {share(rows, 'right') if case.size else ''} | {np.mean([r['wrong'] for r in rows]):.3f} |"
            f" {share(rows, 'none')} | {share(right, 'held') if right else ''} |"
            f" {np.mean([r['pairs'] for r in rows]):.0f} |"
        )
    only = found.get("one kind", [])
    if only:
        lines += [
            "",
            f"The change that one kind of machine has: said in {share(only, 'only')} % of {len(only)}.",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Plays what is missing and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    stamp, path = code(), RESULTS / "decide.jsonl"
    found: dict[str, list[dict[str, Any]]] = {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["code"] == stamp:
                found.setdefault(row["case"], []).append(row)
    for number in range(asked.repeat):
        for key, (_, _, case) in cases().items():
            if asked.only not in key or len(found.get(key, [])) > number:
                continue
            row = {"code": stamp, "case": key, **play(case, 1000 + number)}
            found.setdefault(key, []).append(row)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    (RESULTS / "decide.md").write_text(table(found, stamp), encoding="utf-8")
    print(table(found, stamp))


if __name__ == "__main__":
    main()
