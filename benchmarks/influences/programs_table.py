"""The table of the models of real programs' methods, and of what profiling costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def markdown(lines: Sequence[dict[str, Any]]) -> str:
    """What the models of real programs are worth, and whether profiling keeps the order of configurations."""
    rows = [
        "| program | profiler | seed | sample + probe | quantity | methods | published: median, < 5 % | ours "
        "| noise floor | ours better | within 2 x noise |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        for quantity, scores in line["quantities"].items():
            errors = [np.array([1.0 if s[i] is None else s[i] for s in scores]) for i in (0, 1)]
            repeated = any(s[2] is not None for s in scores)
            floor = np.array([0.0 if s[2] is None else s[2] for s in scores])
            differ = np.abs(errors[0] - errors[1]) > 1e-6
            better = f"{100 * np.mean((errors[1] < errors[0])[differ]):.0f} %" if differ.any() else "-"
            cells = [
                line["program"],
                line["tool"],
                str(line["seed"]),
                f"{line['sample']} + {line['probe']}",
                quantity,
                str(len(scores)),
                *(f"{100 * np.median(e):.2g} %, {100 * np.mean(e < 0.05):.0f} %" for e in errors),
                f"{100 * np.median(floor):.2g} %" if repeated else "not repeated",
                f"{better} ({100 * np.mean(~differ):.0f} % equal)",
                f"{100 * np.mean(errors[1] <= 2 * floor + 1e-9):.0f} %" if repeated else "-",
            ]
            rows.append(f"| {' | '.join(cells)} |")
    rows += [
        "",
        "| program | seed | configurations | profiles of each | profiled / unprofiled | Pearson | Spearman "
        "| drive the overhead (rank correlation) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for line in (one for one in lines if "pearson" in one):
        drivers = ", ".join(f"{option} {strength:+.2f}" for option, strength in line["drivers"]) or "none"
        seen = map(str, line.get("profiled", ("", "", "")))
        cells = [
            line["program"],
            *seen,
            f"{line['times']:.1f}",
            f"{line['pearson']:.3f}",
            f"{line['spearman']:.3f}",
        ]
        rows.append(f"| {' | '.join([*cells, drivers])} |")
    return "\n".join(rows) + "\n"
