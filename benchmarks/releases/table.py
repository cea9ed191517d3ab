"""Writes what the judge found and how the bisections compare, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.releases.judge import Counts
from benchmarks.releases.steps import Step, releases_of

Run = Mapping[str, Any]


def written(steps: Sequence[Step], counts: Counts, runs: Sequence[Run]) -> str:
    """The whole page."""
    configurations = len({configuration for _, configuration in counts})
    parts = [
        "# Bisecting Python-Markdown's releases\n",
        f"Exhaustive: {len(releases_of(counts))} releases x {configurations} configurations, one exact count"
        f" of instructions each: {len(counts)} trials. Steps of 5 % or more:\n",
        _judged(steps),
    ]
    for kind, noise in sorted({(r["kind"], r["noise"]) for r in runs}):
        parts += [
            _title(kind, noise),
            _compared([r for r in runs if (r["kind"], r["noise"]) == (kind, noise)]),
        ]
    return "\n".join(parts) + "\n"


def name(term: Sequence[str]) -> str:
    """As readers see it."""
    return " + ".join(term) or "everything"


def _judged(steps: Sequence[Step]) -> str:
    rows = [
        "| release | term | by regression | with only these on | own work |",
        "|---|---|---|---|---|",
    ]
    for step in steps:
        shares = " | ".join(f"{ratio - 1:+.1%}" for ratio in (step.ratio, step.plain, step.own))
        rows.append(f"| {step.release} | {name(step.term)} | {shares}{'' if step.has_work else ' (< 5 %)'} |")
    return "\n".join(rows) + "\n"


def _title(kind: str, noise: float) -> str:
    if kind == "git":
        return "## The repository itself: real trials, CPU time\n"
    return f"## The judge's counts as a table, noise {noise:.0%}\n"


def _compared(runs: Sequence[Run]) -> str:
    rows = [
        "| seed | trials | of exhaustive | steps found | at the exact release | with own work | others: real | wrong |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        found = [s for s in run["steps"] if s["off"] is not None]
        exact = [s for s in found if s["off"] == 0]
        own = [s for s in run["steps"] if s["work"]]
        others = run["others"]
        real = sum(o["real"] for o in others)
        rows.append(
            f"| {run['seed']} | {run['trials']} | {run['trials'] / run['exhaustive']:.1%} "
            f"| {len(found)} of {len(run['steps'])} | {len(exact)} "
            f"| {sum(s['work'] for s in exact)} of {len(own)} | {real} | {len(others) - real} |"
        )
    missed = [f"seed {r['seed']}: {_place(s)}" for r in runs for s in r["steps"] if s["off"] != 0]
    wrong = [f"seed {r['seed']}: {_claim(o)}" for r in runs for o in r["others"] if not o["real"]]
    lists = [
        f"\n{what}: {'; '.join(items)}."
        for what, items in (("Missed or off", missed), ("Wrong", wrong))
        if items
    ]
    return "\n".join([*rows, *lists]) + "\n"


def _place(step: Mapping[str, Any]) -> str:
    off = "missed" if step["off"] is None else f"{step['off']:+d} releases"
    return f"{step['release']} {name(step['term'])} {step['judge'] - 1:+.1%} ({off})"


def _claim(other: Mapping[str, Any]) -> str:
    said, judged = other["ratio"] - 1, other["judge"] - 1
    return f"{other['release']} {name(other['term'])} {said:+.1%} (judge: {judged:+.1%})"
