"""What other tools' rules conclude from the same runs (the real tools: see peers.py)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from benchmarks.decision.world import Floats, PullRequest

Rule = Callable[[Floats, Floats, np.random.Generator], bool]


def welch(base: Floats, head: Floats, _rng: np.random.Generator) -> bool:
    """Hyperfine's bundled script: Welch's t-test at 5 %, here for slower."""
    found = stats.ttest_ind(head, base, equal_var=False)
    return bool(found.pvalue < 0.05 and head.mean() > base.mean())


def pyperf_like(base: Floats, head: Floats, _rng: np.random.Generator) -> bool:
    """Pyperf, compare_to: Student's t-test at 95 % on the values."""
    found = stats.ttest_ind(head, base)
    return bool(found.pvalue < 0.05 and head.mean() > base.mean())


def ratio(limit: float) -> Rule:
    """github-action-benchmark: this run's one value against the stored one."""

    def decide(base: Floats, head: Floats, _rng: np.random.Generator) -> bool:
        return bool(head[-1] > limit * base[0])

    return decide


def criterion_like(base: Floats, head: Floats, rng: np.random.Generator) -> bool:
    """criterion: bootstrap of the difference of means at 5 %, and its interval beyond 1 % noise."""
    draws = 400
    b = base[rng.integers(0, len(base), (draws, len(base)))].mean(axis=1)
    h = head[rng.integers(0, len(head), (draws, len(head)))].mean(axis=1)
    low = float(np.quantile(h / b - 1.0, 0.025))
    return low > 0.01


RULES: dict[str, Rule] = {
    "hyperfine + Welch": welch,
    "pyperf-like t": pyperf_like,
    "ratio > 110 %": ratio(1.1),
    "ratio > 150 %": ratio(1.5),
    "criterion-like bootstrap": criterion_like,
}


def conclude(pull: PullRequest, pairs: int, rng: np.random.Generator) -> dict[str, int]:
    """In how many configurations each rule calls head slower, with the same number of runs as ours.

    Each rule gets two arms in blocks, as the tools run them: the base times of some duets, then the head
    times of the next ones.
    """
    rounds = max(pairs // len(pull.configurations), 2)
    counts = dict.fromkeys(RULES, 0)
    for c in range(len(pull.configurations)):
        drawn = [pull.pair(c) for _ in range(2 * rounds)]
        base = np.array([b for b, _ in drawn[:rounds]])
        head = np.array([b * np.exp(r) for b, r in drawn[rounds:]])
        for name, rule in RULES.items():
            counts[name] += rule(base, head, rng)
    return counts
