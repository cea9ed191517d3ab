"""Cluster borders of generated calls: python -m benchmarks.assertions.synthetic [CASES] [SEED].

Published and ours beside each other. Writes results/synthetic.md. The thresholds were tuned on seed 1; the
table is of another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.assertions.durations import DEEPEST, FAMILIES, UNIMODAL, Case, clusters, unimodal
from bot.analysis.assertions.borders import CLOSE, borders, published_borders
from bot.model.assertions import Floats

RESULTS = Path(__file__).with_name("results") / "synthetic.md"
FINDERS: dict[str, Callable[[Floats], Floats]] = {"published": published_borders, "ours": borders}
HEAD = f"""# Borders of generated calls

`python -m benchmarks.assertions.synthetic`. Durations are drawn from densities with two to four clusters, or
with one. "Number": as many borders as the density has minima; "places": each minimum has a border within
{100 * CLOSE:.0f} % of the calls; "both": number and places. With a tick, durations are whole numbers of a
coarse clock (the fastest cluster's median is 3 to 40 ticks). Targets: number and places in 95 %, no border
in one cluster in 95 %. A valley has at most these shares of its smaller peak's density, a cluster at least
these shares of calls: {{depths}}.

"""


def scored(case: Case, found: Floats) -> tuple[bool, bool]:
    """Whether the number of borders is right, and whether each minimum has one that is near enough."""
    at = case.below(found)
    near = [
        bool(len(at)) and min(max(low - place, place - high, 0.0) for place in at) <= CLOSE
        for low, high in case.minima
    ]
    return len(found) == len(case.minima), all(near)


def several(calls: int, family: str, *, ticks: bool, cases: int, seed: int) -> str:
    """A row of the table of clusters."""
    scores: dict[str, list[tuple[bool, bool]]] = {name: [] for name in FINDERS}
    for number in range(cases):
        rng = np.random.default_rng([seed, calls, FAMILIES.index(family), ticks, number])
        case = clusters(rng, calls=calls, family=family, ticks=ticks)
        drawn = case.drawn(calls, rng)
        for name, find in FINDERS.items():
            scores[name].append(scored(case, find(drawn)))
    cells = []
    for rows in scores.values():
        right = np.array(rows)
        cells += [f"{100 * share:.1f} %" for share in (*right.mean(axis=0), right.all(axis=1).mean())]
    return f"| {calls:,} | {family} | {'tick' if ticks else 'exact'} | {' | '.join(cells)} |"


def one(calls: int, *, ticks: bool, cases: int, seed: int) -> list[str]:
    """Rows of the table of single clusters."""
    none: dict[tuple[str, str], list[bool]] = {}
    for number in range(len(UNIMODAL) * cases):
        rng = np.random.default_rng([seed, calls, len(FAMILIES), ticks, number])
        case = unimodal(rng, ticks=ticks)
        drawn = case.drawn(calls, rng)
        for name, find in FINDERS.items():
            none.setdefault((case.family, name), []).append(not len(find(drawn)))
    rows = []
    for family in UNIMODAL:
        cells = [f"{100 * np.mean(none.get((family, name), [np.nan])):.1f} %" for name in FINDERS]
        rows.append(f"| {calls:,} | {family} | {'tick' if ticks else 'exact'} | {' | '.join(cells)} |")
    return rows


def main(cases: int = 200, seed: int = 2026) -> None:
    """Writes both tables; a tenth of the cases where each has a million calls."""
    several_rows, one_rows = [], []
    for calls in DEEPEST:
        fewer = cases if calls < max(DEEPEST) else max(cases // 10, 1)
        for ticks in (False, True):
            for family in FAMILIES:
                several_rows.append(several(calls, family, ticks=ticks, cases=fewer, seed=seed))
                print(several_rows[-1], flush=True)
            one_rows += one(calls, ticks=ticks, cases=fewer, seed=seed)
            print(*one_rows[-len(UNIMODAL) :], sep="\n", flush=True)
    depths = "; ".join(f"{n:,} calls: {100 * d:.0f} %, {100 * s:.0f} %" for n, (d, s) in DEEPEST.items())
    lines = [
        HEAD.format(depths=depths)
        + f"Seed {seed}, {cases} cases a row ({max(cases // 10, 1)} of a million calls).\n",
        "| calls | clusters | clock | published: number | places | both | ours: number | places | both |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|",
        *several_rows,
        "\nOne cluster, share of cases without a border:\n",
        "| calls | density | clock | published | ours |",
        "|---:|---|---|---:|---:|",
        *one_rows,
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
