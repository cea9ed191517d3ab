"""Writes the table of what history is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.decision.table import ALARMS
from benchmarks.decision.world import PAIR_SECONDS
from bot.sampling.schedule import CONTROL_EVERY

Batch = Mapping[str, Any]
DRAWS = 400


class Arms(NamedTuple):
    """What the arms of a comparison know from, their names (`none` knows nothing), and two powers."""

    of: str = "history"
    names: tuple[str, ...] = ("none", "helpful", "misleading")
    powers: tuple[float, float] = (0.8, 0.9)


HISTORY = Arms()


def markdown(
    cases: Mapping[str, Sequence[float]],
    batches: Sequence[Batch],
    *,
    code: str,
    noise: str,
    seed: int,
    arms: Arms = HISTORY,
) -> str:
    """Seconds until two shares of the pull requests are alarmed and named rightly; false alarms without.

    cases: name -> the marks at which its runs were looked at.
    """
    first, second = (f"{100 * power:.0f} % named" for power in arms.powers)
    lines = [
        f"Noise {noise}, seed {seed}, code {code}. Seconds of measuring until so many pull requests",
        f"are alarmed and the right term is named; beside it, as a share of the seconds without {arms.of}",
        "(95 % bootstrap interval, the same pull requests in all arms).",
        "",
        f"| case | {arms.of} | n | {first} | of none | {second} | of none | named at last | wrong names |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    quiet = []
    for case, marks in cases.items():
        runs = {arm: _runs(batches, case, arm) for arm in arms.names}
        n = min(len(r) for r in runs.values())
        if n and any(r["named"] for r in runs["none"]):
            times = {arm: _times(r[:n], marks) for arm, r in runs.items()}
            lines += [
                _row(case, arm, runs[arm][:n], named=times, marks=marks, powers=arms.powers)
                for arm in arms.names
            ]
        elif n:
            quiet += [_quiet(case, arm, runs[arm][:n]) for arm in arms.names]
    head = ["", f"| case | {arms.of} | n | false alarms | none | seconds |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + (head + quiet if quiet else []))


def _runs(batches: Sequence[Batch], case: str, arm: str) -> list[Mapping[str, Any]]:
    own = sorted((b for b in batches if b["case"] == case and b["arm"] == arm), key=lambda b: b["batch"])
    return [r for b in own for r in b["results"]]


def _times(runs: Sequence[Mapping[str, Any]], marks: Sequence[float]) -> np.ndarray:
    """Whether each run would have named the term at each mark, (n_runs, n_marks)."""
    return np.array([[number in r["named"] for number in range(len(marks))] for r in runs])


def _row(
    case: str,
    arm: str,
    runs: Sequence[Mapping[str, Any]],
    *,
    named: Mapping[str, np.ndarray],
    marks: Sequence[float],
    powers: Sequence[float],
) -> str:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(runs), (DRAWS, len(runs)))
    cells = [case, arm, str(len(runs))]
    for power in powers:
        cells.append(f"{_seconds(named[arm], power, marks):.1f}")
        share = [
            _seconds(named[arm][r], power, marks) / _seconds(named["none"][r], power, marks) for r in rows
        ]
        low, high = np.nanquantile(share, [0.025, 0.975])
        middle = _seconds(named[arm], power, marks) / _seconds(named["none"], power, marks)
        cells.append("" if arm == "none" else f"{middle:.2f} ({low:.2f} to {high:.2f})")
    cells.append(f"{100 * np.mean([r['right'] for r in runs]):.1f} %")
    cells.append(f"{np.mean([r['wrong'] for r in runs]):.3f}")
    return "| " + " | ".join(cells) + " |"


def _seconds(named: np.ndarray, power: float, marks: Sequence[float]) -> float:
    """When the share of named runs reaches a power for good, between marks on a logarithmic scale."""
    share = named.mean(axis=0)
    below = np.flatnonzero(share < power)
    i = int(below[-1]) + 1 if len(below) else 0
    if i >= len(marks):
        return float("nan")
    if i == 0:
        return float(marks[0])
    part = (power - share[i - 1]) / (share[i] - share[i - 1])
    return float(marks[i - 1] * (marks[i] / marks[i - 1]) ** part)


def _quiet(case: str, arm: str, runs: Sequence[Mapping[str, Any]]) -> str:
    alarms = sum(r["verdict"] in ALARMS for r in runs)
    none = np.mean([r["verdict"] == "none" for r in runs])
    seconds = np.mean([r["pairs"] for r in runs]) * PAIR_SECONDS / (1 - 1 / CONTROL_EVERY)
    return f"| {case} | {arm} | {len(runs)} | {alarms} | {100 * none:.1f} % | {seconds:.1f} |"
