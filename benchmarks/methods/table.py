"""The table of blamed methods: one row for each runtime, and what was missed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

NEAR = 0.15
"""Distance of a share from the truth (one) that counts as right."""


def markdown(results: Path) -> str:
    """From all rows of each file."""
    lines = [
        "# Who is blamed for planted slow-downs",
        "",
        "Guilty first: the changed method (its caller, when it is inlined) is the first that is named; "
        "among: it is named at all; without texts: first when no source text is known. "
        "Share within 15 points: where it is named (the truth is all); without those that are called more "
        "often, whose cost is that of what they call, and with them. Cases whose change cannot be told "
        "from none, after all, are left out: nobody is asked for then. Equal programs: "
        "nothing named: by what was measured; even if claimed: when changes of 2 and 10 %, up and down, are "
        "claimed that are not there.",
        "",
        "| runtime | cases | guilty first | without texts | among | share within 15 | calls, too | "
        "interval holds 1 | equal programs | nothing named | even if claimed | s per case (median) |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    missed: list[str] = []
    for path in sorted(results.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if "skipped" not in row and row.get("unexplained", 0.0) is not None]
        planted, same = [r for r in rows if not r["same"]], [r for r in rows if r["same"]]
        shared = [r for r in planted if r["share"] is not None]
        near = [r for r in shared if r["kind"] != "calls"]
        cells = [
            _share([r["right"] for r in planted]),
            _share([r["blind"] for r in planted]),
            _share([r["among"] for r in planted]),
            _share([abs(r["share"] - 1.0) <= NEAR for r in near]),
            _share([abs(r["share"] - 1.0) <= NEAR for r in shared]),
            _share([r["interval"][0] <= 1.0 <= r["interval"][1] for r in near]),
            str(len(same)),
            _share([not r["named"] for r in same if "named" in r]),
            _share([not r["claimed"] for r in same]),
            f"{np.median([r['seconds'] for r in planted]):.0f}" if planted else "",
        ]
        lines.append(f"| {path.stem} | {len(planted)} | {' | '.join(cells)} |")
        missed += [_missed(r) for r in planted if not r["right"]]
    if missed:
        lines += ["", "Missed:", "", *missed]
    return "\n".join(lines) + "\n"


def _share(held: Sequence[bool]) -> str:
    return f"{sum(held)} of {len(held)} ({np.mean(held):.0%})" if held else ""


def _missed(row: dict[str, Any]) -> str:
    named = ", ".join(f"`{name}`" for name in row["named"][:3]) or "nobody"
    what = f"{row['kind']}{', one option' if row['gated'] else ''}, +{row['effect']:.0%}"
    return f"* {row['runtime']} {row['seed']}: {row['program']}, `{row['method']}` ({what}): {named}"
