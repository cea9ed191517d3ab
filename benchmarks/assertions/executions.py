"""Whether models of several executions agree: python -m benchmarks.assertions.executions [CASES] [SEED].

Generated methods of known groups, published and ours beside each other. Writes results/executions.md.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np

from benchmarks.assertions.calls import APART, NEAR, Subject, subject
from bot.adapters.processes.threads import one_thread
from bot.analysis.assertions.comparing import aligned, merged
from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.replication import replicated
from bot.analysis.assertions.separating import separate
from bot.model.assertions import CallObservation, PathModel

RESULTS = Path(__file__).with_name("results") / "executions.md"
HEAD = """# Models of five executions

`python -m benchmarks.assertions.executions`, seed {seed}, {cases} generated methods a row: 5, 20 or 60 call
paths in up to four groups whose shares of slow calls differ by 20 points at least. The calls of a slower
cluster take 3 to 20 times as long as those of a faster one ("far"), or 1.3 to 2.2 times ("near"). Ten
trials an execution; paths are taken more or less often in each, shares wander a little, and each execution
runs on a machine of another speed; "uneven": each trial, too (by a tenth). As in the paper's figure 5, each
model is compared with the merged ones before it. Target: 80 % of the calls aligned for 90 % of the
comparisons. Agreement: adjusted Rand index of calls, between executions and with the truth. All of ours:
also models that half of the trials would not have found, which ours refuses (share of the models).
"""
EXECUTIONS = 5
CALLS = (100, 1_000, 10_000)
"""Calls in a trial, over all paths."""
KINDS = ("published", "all of ours", "ours")
CLUSTERS = {"far": (APART, 0.0), "near": (NEAR, 0.0), "near, uneven": (NEAR, 0.1)}
"""How far apart clusters are, and by how much the machine's speed differs from trial to trial."""


def mined(kind: str, trials: Sequence[CallObservation]) -> PathModel | None:
    """What one execution says of the method."""
    if kind == "ours":
        return replicated("f", None, trials)
    return model("f", None, trials, estimator="published" if kind == "published" else "ours")


def executed(
    made: Subject, kind: str, rng: np.random.Generator, found: dict[str, list[float]], *, uneven: float
) -> None:
    """Five executions, each on a machine of another speed, compared and merged as in figure 5."""
    each = [
        mined(kind, made.executed(rng, speed=rng.uniform(0.5, 2), uneven=uneven)) for _ in range(EXECUTIONS)
    ]
    models = [one for one in each if one is not None]
    found["refused"].append(1 - len(models) / EXECUTIONS)
    for place, other in enumerate(models[1:], 1):
        alike = aligned(reduce(merged, models[:place]), other)
        found["calls"].append(alike.calls)
        found["paths"].append(alike.paths)
        found["agreement"].append(alike.agreement)
    for one in models:
        found["truth"].append(aligned(one, made.model).agreement)
        found["groups"].append(len(one.groups) == len(made.slow))
        found["edges"].append(len(separate(one, work=20_000).edges))


def row(clusters: str, calls: int, kind: str, *, cases: int, seed: int) -> str:
    """Of the table: so many generated methods."""
    found: dict[str, list[float]] = defaultdict(list)
    for number in range(cases):
        rng = np.random.default_rng([seed, calls, number])
        paths, groups = int(rng.choice([5, 20, 60])), int(rng.integers(1, 5))
        apart, uneven = CLUSTERS[clusters]
        made = subject(rng, paths=paths, calls=calls, groups=groups, apart=apart)
        executed(made, kind, rng, found, uneven=uneven)
    share = 100 * np.mean(np.array(found["calls"]) >= 0.8)
    return (
        f"| {clusters} | {calls:,} | {kind} | {100 * np.mean(found['refused']):.0f} % | {share:.0f} % "
        f"| {100 * np.mean(found['calls']):.1f} % "
        f"| {100 * np.mean(found['paths']):.1f} % | {np.mean(found['agreement']):.2f} "
        f"| {100 * np.mean(found['groups']):.0f} % | {np.mean(found['truth']):.2f} "
        f"| {np.median(found['edges']):.0f} | {max(found['edges']):.0f} |"
    )


def main(cases: int = 60, seed: int = 2026) -> None:
    """Writes the table."""
    rows = []
    for clusters in CLUSTERS:
        for calls in CALLS:
            for kind in KINDS:
                rows.append(row(clusters, calls, kind, cases=cases, seed=seed))
                print(rows[-1], flush=True)
    lines = [
        HEAD.format(seed=seed, cases=cases),
        "| clusters | calls a trial | estimator | refused | comparisons with 80 % of calls aligned "
        "| calls aligned | paths aligned | agreement | right number of groups | agreement with the truth "
        "| edges: median | most |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with one_thread():
        main(*map(int, sys.argv[1:]))
