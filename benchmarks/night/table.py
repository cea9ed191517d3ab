"""Adds worlds up and writes the table of simulated nights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

METHODS = ("ours", "uniform x1", "uniform x2", "uniform x4")
HEADER = (
    "| options | noise | kind | worlds | method | trials a night | found in two nights | first night "
    "| exact commit | false | blamed on a commit when the machine moved |"
)


def markdown(cells: Sequence[tuple[int, float, int, str]], worlds: Sequence[Mapping[str, Any]]) -> str:
    """The whole page."""
    seeds = sorted({w["seed"] for w in worlds})
    lines = [
        "# Ten nights over a program that keeps moving",
        "",
        f"Seeds {seeds}. 10-20 commits a day; every second day or so one of them makes a term of one or two",
        "options 5-20 % slower or faster (of the median configuration that holds it); on one night another",
        "machine measures, 10-30 % faster or slower, unevenly; without noise, trials are counts, the same",
        "on every machine. Heavy tails: one trial in a hundred takes 20-100 % too long; record: each trial",
        "repeats its value, as in a table, and no machine measures it; restless: each commit moves all",
        "and each option by .05 % of the cheapest configuration; young: with a third of the options nothing",
        "works at the anchor and for up to 30 commits after it; broken: with a third of them nothing ever",
        "works; large: a change doubles to quintuples its term. Found: the exact term in an interval",
        "that holds the commit, told in the night after it or the one after that. False: all else that",
        "was told in any night, each once.",
        "Uniform: random configurations (8 trials each) at random revisions since the night before last, 1,",
        "2 and 4 times as many trials as ours took, read by the same model with the same prior and",
        "thresholds. First night, exact commit: of those found.",
        "",
        HEADER,
        "|---:|---:|---|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for options, noise, _, kind in cells:
        own = [w for w in worlds if (w["options"], w["noise"], w["kind"]) == (options, noise, kind)]
        if own:
            lines += [_row(own, m, f"{options} | {noise:.2f} | {kind} | {len(own)}") for m in METHODS]
    if worlds:
        lines += [_row(worlds, m, f"all | | | {len(worlds)}") for m in METHODS]
        lines += ["", *_machines([w for w in worlds if w["noise"] and w["kind"] != "record"])]
    return "\n".join(lines) + "\n"


def _row(own: Sequence[Mapping[str, Any]], method: str, cell: str) -> str:
    runs = [w[method] for w in own]
    changes = [c for r in runs for c in r["changes"]]
    found = [c for c in changes if c["told"] is not None and c["told"] <= c["night"] + 1]
    first = sum(c["told"] == c["night"] for c in found)
    exact = sum(c["placed"] for c in found)
    false = sum(len(r["false"]) for r in runs)
    blamed = sum(r["blamed"] for r in runs)
    trials = np.mean([t for r in runs for t in r["trials"]])
    share = f"{len(found)} of {len(changes)} ({100 * len(found) / max(len(changes), 1):.0f} %)"
    return (
        f"| {cell} | {method} | {trials:.0f} | {share} | {_percent(first, len(found))} "
        f"| {_percent(exact, len(found))} | {false} | {blamed} |"
    )


def _machines(worlds: Sequence[Mapping[str, Any]]) -> list[str]:
    noted = sum(w["ours"]["moved"] in w["ours"]["noted"] for w in worlds)
    else_ = sum(len(set(w["ours"]["noted"]) - {w["ours"]["moved"]}) for w in worlds)
    nights = sum(len(w["ours"]["trials"]) - 2 for w in worlds)
    cpu = float(np.median([w["ours"]["cpu_seconds"] / len(w["ours"]["trials"]) for w in worlds]))
    return [
        f"The other machine was told in {noted} of {len(worlds)} worlds on its first night; in {else_} of"
        f" {nights} other nights a move was told that was none. A night's own computing takes {cpu:.1f} s"
        " (median).",
    ]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"
