"""Writes what the judge found and how the bisections compare, as Markdown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.releases.judge import Counts
from benchmarks.releases.sizes import Key, Size
from benchmarks.releases.steps import THRESHOLD, Step, releases_of

Run = Mapping[str, Any]

MANY = 8
"""Runs of a case, from which on they are counted together instead of one by one."""


def written(
    steps: Sequence[Step], counts: Counts, runs: Sequence[Run], cpu: Mapping[Key, Size] | None = None
) -> str:
    """The whole page; cpu: the steps in CPU time."""
    configurations = len({configuration for _, configuration in counts})
    parts = [
        "# Bisecting Python-Markdown's releases\n",
        f"Exhaustive: {len(releases_of(counts))} releases x {configurations} configurations, one exact count"
        f" of instructions each: {len(counts)} trials. Steps of 5 % or more:\n",
        _judged(steps, cpu or {}),
        _only_seconds(steps, cpu or {}),
        "Below: * marks steps without 5 % of own work; (+1) is one release too late.\n",
    ]
    for kind, noise, share in sorted({(r["kind"], r["noise"], r["share"]) for r in runs}):
        of_case = [r for r in runs if (r["kind"], r["noise"], r["share"]) == (kind, noise, share)]
        parts += [_title(kind, noise, share), (_summed if len(of_case) >= MANY else _compared)(of_case)]
    return "\n".join(parts) + "\n"


def name(term: Sequence[str]) -> str:
    """As readers see it."""
    return " + ".join(term) or "everything"


def _judged(steps: Sequence[Step], cpu: Mapping[Key, Size]) -> str:
    rows = [
        "| release | term | by regression | with only these on | own work | CPU time |",
        "|---|---|---|---|---|---|",
    ]
    for step in steps:
        shares = " | ".join(_share(ratio) for ratio in (step.ratio, step.plain, step.own))
        size = cpu.get((step.release, step.term))
        seconds = f"{size[0] - 1:+.1%} ± {size[1]:.1%}" if size else ""
        place = f"{step.release} | {name(step.term)}"
        rows.append(f"| {place} | {shares}{'' if step.has_work else ' (< 5 %)'} | {seconds} |")
    return "\n".join(rows) + "\n"


def _only_seconds(steps: Sequence[Step], cpu: Mapping[Key, Size]) -> str:
    """Releases that moved everything by 5 % or more in CPU time, but not in instructions."""
    known = {(s.release, s.term) for s in steps}
    large = {
        k: size
        for k, size in cpu.items()
        if k not in known and abs(math.log(size[0])) >= math.log1p(THRESHOLD)
    }
    told = [f"{release} {name(term)} {r - 1:+.1%} ± {e:.1%}" for (release, term), (r, e) in large.items()]
    return f"In CPU time alone: {'; '.join(told) or 'none'}.\n"


def _share(ratio: float) -> str:
    return "not measured" if math.isnan(ratio) else f"{ratio - 1:+.1%}"


def _title(kind: str, noise: float, share: float) -> str:
    subject = f"The judge's counts, noise {noise:.0%}"
    if kind not in ("table", "whole"):
        subject = f"The repository itself, {kind.removeprefix('whole-')}"
    if kind.startswith("whole"):
        subject += ", the whole space of five options"
    return f"## {subject}, {share:.0%} of the exhaustive trials\n"


def _compared(runs: Sequence[Run]) -> str:
    """One line a run, then one line a step with what each run said of it, then what was wrong."""
    rows = [
        "| seed | trials | of exhaustive | found | exact release | with own work | others: real | wrong |",
        "|---|---|---|---|---|---|---|---|",
        *map(_counted, runs),
        "",
        "| step | judge | " + " | ".join(f"seed {r['seed']}" for r in runs) + " |",
        "|---|---|" + "---|" * len(runs),
    ]
    for steps in zip(*(r["steps"] for r in runs), strict=True):
        cells = " | ".join(_said(step) for step in steps)
        first = steps[0]
        place = f"{first['release']} {name(first['term'])}"
        rows.append(f"| {place} | {first['judge'] - 1:+.1%}{'' if first['work'] else ' *'} | {cells} |")
    return "\n".join([*rows, *_wrong(runs)]) + "\n"


def _summed(runs: Sequence[Run]) -> str:
    """All runs of a case in a line, then one line a step with how many found it, then what was wrong."""
    steps = [list(one) for one in zip(*(r["steps"] for r in runs), strict=True)]
    found = [[s for s in of_runs if s["off"] is not None] for of_runs in steps]
    every = sum(all(s["off"] is not None for s in r["steps"]) for r in runs)
    trials = [r["trials"] / r["exhaustive"] for r in runs]
    others = [o for r in runs for o in r["others"]]
    rows = [
        f"{len(runs)} runs (seeds {_ranges([r['seed'] for r in runs])}), {max(trials):.1%} of the trials at "
        f"most: **{sum(map(len, found))} of {len(runs) * len(steps)}** steps found, "
        f"{sum(s['off'] == 0 for of_runs in found for s in of_runs)} at the exact release; every step in "
        f"**{every} of {len(runs)}** runs; {sum(o['real'] for o in others)} others are real, "
        f"{sum(not o['real'] for o in others)} wrong.\n",
        "| step | judge | found in | told, median |",
        "|---|---|---|---|",
    ]
    for of_runs, of_those in zip(steps, found, strict=True):
        first, ratios = of_runs[0], [s["ratio"] for s in of_those if not s.get("reworded")]
        place = f"{first['release']} {name(first['term'])}"
        told = f"{statistics.median(ratios) - 1:+.1%}" if ratios else ""
        rows.append(
            f"| {place} | {first['judge'] - 1:+.1%}{'' if first['work'] else ' *'} "
            f"| {len(of_those)} of {len(runs)} | {told} |"
        )
    return "\n".join([*rows, *_wrong(runs)]) + "\n"


def _wrong(runs: Sequence[Run]) -> list[str]:
    told = [f"seed {r['seed']}: {_claim(o)}" for r in runs for o in r["others"] if not o["real"]]
    return [f"\nWrong: {'; '.join(told)}."] if told else []


def _ranges(numbers: Sequence[int]) -> str:
    """As "3-7, 9"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def _counted(run: Run) -> str:
    exact = [s for s in run["steps"] if s["off"] == 0]
    own = [s for s in run["steps"] if s["work"]]
    real = sum(o["real"] for o in run["others"])
    found = sum(s["off"] is not None for s in run["steps"])
    return (
        f"| {run['seed']} | {run['trials']} | {run['trials'] / run['exhaustive']:.1%} "
        f"| {found} of {len(run['steps'])} | {len(exact)} | {sum(s['work'] for s in exact)} of {len(own)} "
        f"| {real} | {len(run['others']) - real} |"
    )


def _said(step: Mapping[str, Any]) -> str:
    """The ratio that was reported, and how many releases away, if not there."""
    if step["off"] is None:
        return "missed"
    if step.get("reworded"):
        return "in other words"
    return f"{step['ratio'] - 1:+.1%}" + (f" ({step['off']:+d})" if step["off"] else "")


def _claim(other: Mapping[str, Any]) -> str:
    said, judged = other["ratio"] - 1, other["judge"] - 1
    return f"{other['release']} {name(other['term'])} {said:+.1%} (judge: {judged:+.1%})"
