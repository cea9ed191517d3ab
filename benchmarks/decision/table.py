"""Adds batches up and writes the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.rates import upper_bound

Batch = Mapping[str, Any]
ALARMS = ("regression", "improvement", "mixed")


def markdown(cases: Sequence[str], batches: Sequence[Batch], *, code: str, noise: str, seed: int) -> str:
    """All tables of one run."""
    lines = [
        f"Noise {noise}, seed {seed}, code {code}. Rates in %; [..]: 95 % upper bound of an alarm rate.",
        "",
        "| case | n | alarm | none | inconclusive | named | wrong names per PR | pairs "
        "| intervals hold: effect | configuration | mean |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case in cases:
        own = [b for b in batches if b["case"] == case]
        if own:
            lines.append(_row(case, own))
    lines += ["", "| claimed probability | n | claimed | true |", "|---|---|---|---|", *_calibration(batches)]
    lines += ["", *_rivals(cases, batches)]
    return "\n".join(lines)


def _row(case: str, own: Sequence[Batch]) -> str:
    n = sum(b["n"] for b in own)
    verdicts: Counter[str] = sum((Counter(b["verdicts"]) for b in own), Counter())
    alarmed = sum(verdicts[v] for v in ALARMS)
    covered = [c for b in own for c in b["covered"]]
    within = np.sum([b["within"] for b in own], axis=0)
    planted = not case.startswith(("null", "layout"))
    cells = [
        case,
        str(n),
        f"{100 * alarmed / n:.1f}" + ("" if planted else f" [{100 * upper_bound(alarmed, n):.2f}]"),
        f"{100 * verdicts['none'] / n:.1f}",
        f"{100 * verdicts['inconclusive'] / n:.1f}",
        f"{100 * sum(b['named'] for b in own) / n:.1f}" if planted else "",
        f"{sum(b['wrong'] for b in own) / n:.3f}",
        f"{sum(b['pairs'] for b in own) / n:.0f}",
        f"{100 * np.mean(covered):.1f}" if covered else "",
        f"{100 * within[0] / within[1]:.1f}",
        f"{100 * sum(b['overall'] for b in own) / n:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _calibration(batches: Sequence[Batch]) -> list[str]:
    claims = [c for b in batches for c in b["claims"]]
    rows = []
    for low, high in (
        (0.0, 0.5),
        (0.5, 0.7),
        (0.7, 0.8),
        (0.8, 0.9),
        (0.9, 0.95),
        (0.95, 0.99),
        (0.99, 1.01),
    ):
        own = [(p, ok) for p, ok in claims if low <= p < high]
        if own:
            p, ok = np.mean(own, axis=0)
            rows.append(f"| {low:.2f} to {min(high, 1):.2f} | {len(own)} | {100 * p:.1f} | {100 * ok:.1f} |")
    return rows


def _rivals(cases: Sequence[str], batches: Sequence[Batch]) -> list[str]:
    names = sorted({r for b in batches for r in b["rivals"]["configurations"]})
    rows = [
        "Pull requests with an alarm (and share of configurations called slower), same noise, same seconds:",
        "",
        "| case | ours | " + " | ".join(names) + " |",
        "|---|---|" + "---|" * len(names),
    ]
    for case in cases:
        own = [b for b in batches if b["case"] == case and b["rivals"]["n"]]
        if not own:
            continue
        n = sum(b["n"] for b in own)
        ours = sum(b["verdicts"].get(v, 0) for b in own for v in ALARMS)
        cells = [case, f"{100 * ours / n:.1f}"]
        for name in names:
            prs = sum(b["rivals"]["alarms"].get(name, 0) for b in own)
            each = sum(b["rivals"]["configurations"].get(name, 0) for b in own) / (n * own[0]["of"])
            cells.append(f"{100 * prs / n:.0f} ({100 * each:.1f})")
        rows.append("| " + " | ".join(cells) + " |")
    return rows
