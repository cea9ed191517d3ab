"""The table of compared influence models: errors on the random probe beside the noise floor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

LOST = 1.0
"""Error of a method that a learner gave no model: as if it had said nothing is ever called."""


def markdown(cases: Sequence[dict[str, Any]]) -> str:
    """One block for each source: time of the heaviest methods, calls of all, and what the targets ask."""
    lines: list[str] = []
    for source in ("generated", "recorded"):
        found = [c for c in cases if c["source"] == source]
        if found:
            lines += [f"## {source.capitalize()} systems", ""]
            lines += _block(found, "seconds", "Time of the heaviest methods of each system")
            lines += _block(
                found, "calls", "Calls of all methods" if source == "generated" else "Their calls"
            )
            lines += _kinds(found)
    return "\n".join(lines) + "\n"


def _block(cases: Sequence[dict[str, Any]], quantity: str, title: str) -> list[str]:
    head = (
        "| sample | systems | methods | published: median, < 5 %, < 10 % | ours | ours, learnt only "
        "| share learnt | noise floor | ours better | within 2 x noise |"
    )
    lines = [f"{title}:", "", head, "|---|---|---|---|---|---|---|---|---|---|"]
    for kind in dict.fromkeys(c["kind"] for c in cases):
        of_kind = [c for c in cases if c["kind"] == kind]
        rows = [line for c in of_kind for line in c[quantity]]
        published, ours = _errors(rows, 0), _errors(rows, 1)
        floor = np.array([np.nan if r[2] is None else r[2] for r in rows])
        learnt = np.array([r[4] == "learnt" for r in rows])
        cells = [
            kind,
            str(len(of_kind)),
            str(len(rows)),
            _three(published),
            _three(ours),
            _three(ours[learnt]) if learnt.any() else "-",
            f"{100 * learnt.mean():.0f} %",
            _percent(float(np.nanmedian(floor))),
            _better(published, ours),
            f"{100 * np.mean(ours <= 2 * np.nan_to_num(floor) + 1e-9):.0f} %",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _better(published: np.ndarray, ours: np.ndarray) -> str:
    """Of methods on which the two differ."""
    differ = np.abs(published - ours) > 1e-6
    if not differ.any():
        return "-"
    equal = f" ({100 * np.mean(~differ):.0f} % equal)" if not differ.all() else ""
    return f"{100 * np.mean(ours[differ] < published[differ]):.0f} %{equal}"


def _errors(rows: Sequence[Sequence[Any]], place: int) -> np.ndarray:
    return np.array([LOST if r[place] is None else r[place] for r in rows])


def _three(errors: np.ndarray) -> str:
    small = " / ".join(f"{100 * np.mean(errors < border):.0f} %" for border in (0.05, 0.1))
    return f"{_percent(float(np.median(errors)))}, {small}"


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


def _kinds(cases: Sequence[dict[str, Any]]) -> list[str]:
    """What was chosen, and what it cost."""
    chosen = Counter(line[3].split(";")[0] for c in cases for line in c["seconds"])
    total = sum(chosen.values())
    named = ", ".join(f"{kind} {100 * n / total:.0f} %" for kind, n in chosen.most_common(6))
    ours = sum(c["ours_cpu_seconds"] for c in cases) / len(cases)
    published = sum(c["published_cpu_seconds"] for c in cases) / len(cases)
    return [
        f"Chosen for time: {named}. CPU seconds a system: ours {ours:.0f}, published {published:.1f}.",
        "",
    ]
