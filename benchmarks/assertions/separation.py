"""How few edges tell groups of paths apart: python -m benchmarks.assertions.separation [CASES] [SEED].

Writes results/separation.md.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.assertions.calls import subject
from bot.analysis.assertions.separating import separate
from bot.analysis.assertions.wording import asserted
from bot.model.assertions import NamedPath, PathGroup, PathModel, edges_of

RESULTS = Path(__file__).with_name("results") / "separation.md"
NAMES = "abcde"


def small(rng: np.random.Generator) -> PathModel:
    """Up to twelve paths over five names, in up to four groups by chance."""
    groups: dict[int, dict[NamedPath, int]] = {}
    paths = {}
    for _ in range(rng.integers(2, 13)):
        chain = rng.permutation(list(NAMES))[: rng.integers(1, len(NAMES) + 1)].tolist()
        paths[edges_of(("main", *chain, "f"))] = ("main", *chain, "f")
    for path in paths.values():
        groups.setdefault(int(rng.integers(4)), {})[path] = 10
    return PathModel("f", None, (0.5,), (1.0,), tuple(PathGroup(g, (1.0, 0.0)) for g in groups.values()))


def fewest(model: PathModel) -> int:
    """Edges that are needed, by trying all sets."""
    rows = [(edges_of(path), i) for i, group in enumerate(model.groups) for path in group.paths]
    edges = sorted(frozenset[tuple[str, str]]().union(*(row for row, _ in rows)))
    for size in range(len(edges) + 1):
        for chosen in combinations(edges, size):
            seen: dict[frozenset[tuple[str, str]], int] = {}
            if all(seen.setdefault(row & frozenset(chosen), i) == i for row, i in rows):
                return size
    raise AssertionError("all edges together tell all groups apart")


def proven(cases: int, seed: int) -> list[str]:
    """Rows by the number of edges that brute force needs: how often A* and its first guess need no more."""
    needed, exact, guessed = [], [], []
    for number in range(cases):
        model = small(np.random.default_rng([seed, number]))
        needed.append(fewest(model))
        found = separate(model)
        exact.append(found.exact and len(found.edges) == needed[-1])
        guessed.append(len(separate(model, work=0).edges) == needed[-1])
    rows = []
    for size in sorted(set(needed)):
        at = np.array(needed) == size
        right = [f"{100 * np.mean(np.array(found)[at]):.1f} %" for found in (exact, guessed)]
        rows.append(f"| {size} | {at.sum()} | {' | '.join(right)} |")
    return rows


def planted(cases: int, seed: int) -> list[str]:
    """Rows by size: edges found beside the edges that were planted, and the conditions' length."""
    rows = []
    for paths in (20, 200, 2000):
        for spoilt in (0.0, 0.02):
            over, exact, literals, seconds = [], [], [], []
            for number in range(cases if paths < 2000 else max(cases // 10, 1)):
                rng = np.random.default_rng([seed, paths, number])
                made = subject(rng, paths=paths, calls=1.0, groups=int(rng.integers(2, 6)))
                groups = len(made.slow)
                made = replace(
                    made,
                    group={
                        p: int(rng.integers(groups)) if rng.random() < spoilt else g
                        for p, g in made.group.items()
                    },
                )
                start = time.process_time()
                said = asserted(made.model, mined="", trials=1)  # separates them, too
                seconds.append(time.process_time() - start)
                found = separate(made.model)
                over.append(len(found.edges) - len(made.planted))
                exact.append(found.exact)
                literals += [group.when.text.count("e") for group in said.groups] if said else []
            rows.append(
                f"| {paths:,} | {100 * spoilt:.0f} % | {len(over)} | {100 * np.mean(exact):.0f} % "
                f"| {np.median(over):+.0f} | {max(over):+d} "
                f"| {np.median(literals):.0f} | {max(seconds):.1f} |"
            )
            print(rows[-1], flush=True)
    return rows


def main(cases: int = 300, seed: int = 2026) -> None:
    """Writes both tables."""
    lines = [
        "# The fewest edges that tell groups apart\n",
        f"`python -m benchmarks.assertions.separation`, seed {seed}. Small models against brute force:",
        "how often A* is exact, and how often its first, greedy guess is already as small.\n",
        "| edges needed | models | A* | greedy |",
        "|---:|---:|---:|---:|",
        *proven(10 * cases, seed),
        "\nModels of generated call graphs. Some edges were planted, two to five groups follow from them;",
        "spoilt: paths whose group was drawn by chance instead. Seconds of CPU for edges and conditions",
        "together, the longest, on a machine that was busy.\n",
        "| paths | spoilt | models | exact | edges beyond planted: median | most | atoms a condition | s |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
        *planted(max(cases // 3, 1), seed),
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
