"""Whether models of several executions agree: python -m benchmarks.assertions.executions [CASES] [SEED].

Generated methods of known groups, published and ours beside each other. Writes results/executions.md.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.assertions.calls import Subject, subject
from bot.adapters.threads import one_thread
from bot.analysis.assertions.comparing import aligned, merged
from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.separating import separate

RESULTS = Path(__file__).with_name("results") / "executions.md"
HEAD = """# Models of five executions

`python -m benchmarks.assertions.executions`, seed {seed}, {cases} generated methods a row: 5, 20 or 60 call
paths in up to four groups whose shares of slow calls differ by 20 points at least. Ten trials an execution;
paths are taken more or less often in each, shares wander a little, and each execution runs on a machine of
another speed. As in the paper's figure 5, each model is compared with the merged ones before it. Target: 80 %
of the calls aligned for 90 % of the comparisons. Agreement: adjusted Rand index of calls, between executions
and with the truth.
"""
EXECUTIONS = 5
CALLS = (100, 1_000, 10_000)
"""Calls in a trial, over all paths."""
KINDS = ("published", "ours")


def executed(made: Subject, kind: str, rng: np.random.Generator, found: dict[str, list[float]]) -> None:
    """Five executions, each on a machine of another speed, compared and merged as in figure 5."""
    mined = [
        model(
            "f",
            None,
            made.executed(rng, speed=rng.uniform(0.5, 2)),
            estimator="ours" if kind == "ours" else "published",
        )
        for _ in range(EXECUTIONS)
    ]
    known = mined[0]
    for other in mined[1:]:
        alike = aligned(known, other)
        found["calls"].append(alike.calls)
        found["paths"].append(alike.paths)
        found["agreement"].append(alike.agreement)
        known = merged(known, other)
    for one in mined:
        found["truth"].append(aligned(one, made.model).agreement)
        found["groups"].append(len(one.groups) == len(made.slow))
        found["edges"].append(len(separate(one, work=20_000).edges))


def main(cases: int = 60, seed: int = 2026) -> None:
    """Writes the table."""
    rows = []
    for calls in CALLS:
        for kind in KINDS:
            found: dict[str, list[float]] = defaultdict(list)
            for number in range(cases):
                rng = np.random.default_rng([seed, calls, number])
                made = subject(
                    rng, paths=int(rng.choice([5, 20, 60])), calls=calls, groups=int(rng.integers(1, 5))
                )
                executed(made, kind, rng, found)
            share = 100 * np.mean(np.array(found["calls"]) >= 0.8)
            rows.append(
                f"| {calls:,} | {kind} | {share:.0f} % | {100 * np.mean(found['calls']):.1f} % "
                f"| {100 * np.mean(found['paths']):.1f} % | {np.mean(found['agreement']):.2f} "
                f"| {100 * np.mean(found['groups']):.0f} % | {np.mean(found['truth']):.2f} "
                f"| {np.median(found['edges']):.0f} | {max(found['edges']):.0f} |"
            )
            print(rows[-1], flush=True)
    lines = [
        HEAD.format(seed=seed, cases=cases),
        "| calls a trial | estimator | comparisons with 80 % of calls aligned | calls aligned "
        "| paths aligned | agreement | right number of groups | agreement with the truth "
        "| edges: median | most |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with one_thread():
        main(*map(int, sys.argv[1:]))
