"""How long mining thinks: python -m benchmarks.assertions.speed writes results/speed.md.

Targets: 10,000,000 durations partitioned in 2 s; 2,000 call paths grouped and told apart in 10 s.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.assertions.calls import Subject, subject
from bot.analysis.assertions.borders import borders, published_borders
from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.separating import separate
from bot.analysis.assertions.wording import asserted

RESULTS = Path(__file__).with_name("results") / "speed.md"


def timed(work: Callable[[], object], *, times: int = 3) -> float:
    """CPU seconds, the best of some."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def partitioned() -> list[str]:
    """Rows of the table of borders."""
    rng, rows = np.random.default_rng(1), []
    for calls in (1_000, 100_000, 10_000_000):
        exact = np.concatenate(
            [rng.lognormal(-9, 0.8, calls // 2), rng.lognormal(-5, 0.5, calls - calls // 2)]
        )
        for clock, drawn in (("exact", exact), ("1 us", np.round(exact, 6))):
            took = [timed(lambda f=find, d=drawn: f(d)) for find in (published_borders, borders)]  # type: ignore[misc]
            rows.append(f"| {calls:,} | {clock} | {took[0]:.4f} | {took[1]:.4f} |")
    return rows


def told_apart() -> list[str]:
    """Rows of the table of paths: groups that a few edges tell apart, and groups spoilt by chance."""
    rows = []
    for paths in (20, 200, 2000):
        for groups, spoilt in ((2, 0.0), (4, 0.0), (3, 0.05)):
            rng = np.random.default_rng([paths, groups])
            made = _spoilt(subject(rng, paths=paths, calls=50.0 * paths, groups=groups), spoilt)
            seen = made.executed(np.random.default_rng(2))
            mined = model("f", None, seen)
            took = [
                timed(lambda s=seen: model("f", None, s), times=1),  # type: ignore[misc]
                timed(lambda m=mined: asserted(m, mined="", trials=1), times=1),  # type: ignore[misc]
                timed(lambda m=made: separate(m.model), times=1),  # type: ignore[misc]
            ]
            told, true = separate(mined), separate(made.model)
            bound = "exact" if true.exact else f"at least {true.least}"
            rows.append(
                f"| {paths:,} | {groups} | {100 * spoilt:.0f} % | {len(mined.groups)} | {len(told.edges)} "
                f"| {took[0]:.2f} | {took[1]:.2f} | {len(true.edges)} ({bound}) | {took[2]:.2f} |"
            )
            print(rows[-1], flush=True)
    return rows


def _spoilt(made: Subject, share: float) -> Subject:
    """With some paths in groups of their own choice."""
    rng = np.random.default_rng(3)
    groups = len(made.slow)
    return replace(
        made,
        group={p: int(rng.integers(groups)) if rng.random() < share else g for p, g in made.group.items()},
    )


def main() -> None:
    """Writes both tables."""
    lines = [
        "# How long mining thinks\n",
        "`python -m benchmarks.assertions.speed`, CPU seconds of one core of a shared virtual machine.",
        "Targets: 10,000,000 durations in 2 s; 2,000 call paths grouped and told apart in 10 s.\n",
        "| durations | clock | published: s | ours: s |",
        "|---:|---|---:|---:|",
        *partitioned(),
        "\nTen trials with 50 calls a path each; spoilt: paths whose group was drawn by chance, so that",
        "no few edges tell the true groups apart. Mined models need eight edges at most; the last two",
        "columns are of the true groups, which may need more.\n",
        "| paths | groups | spoilt | mined: groups | edges | model: s | assertion: s | true: edges | s |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *told_apart(),
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
