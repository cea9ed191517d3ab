"""What searches find in short ranges with few trials, side by side on the same systems.

python -m benchmarks.short_ranges.run [--systems 8] [--seed 9700] [--seconds 600]

A step of 5 % or more counts as found when its exact term is told at its exact revision, or all that is told
there says the same in other words ("without a by x" is "everything by x, and with a by -x": a change and what
takes a part of it back are told in one direction). What is told beside is wrong when no step has that term
there, with the same exception. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.known_runs import known_runs
from benchmarks.short_ranges.systems import REVISIONS, System, draw
from bot.adapters.processes.threads import one_thread
from bot.flows.change_points.search import ChangePointFinder
from bot.flows.published.search import PublishedSearch
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePointSearch
from bot.model.space import Term
from bot.sampling.constraints import ConstraintSolver

RUNS = Path(__file__).with_name("results") / "runs.jsonl"
TABLE = Path(__file__).with_name("results") / "table.md"
CASES = [(noise, trials) for noise in (0.0, 0.01, 0.02) for trials in (155, 310, 620)]
SEARCHES = ("short ranges", "long ranges", "published")
LARGE, TOLD = 0.05, 0.03


def search_of(name: str, system: System, trials: int, seed: int) -> ChangePointSearch:
    """A search by its row's name."""
    solver, rng = ConstraintSolver(system.space), np.random.default_rng(seed)
    if name == "short ranges":
        return ShortRangeFinder(system.space, REVISIONS, solver, rng=rng)
    if name == "long ranges":
        return ChangePointFinder(system.space, REVISIONS, solver, rng=rng, trials=trials)
    return PublishedSearch(system.space, REVISIONS, solver, rng=rng, most_measurements=trials)


def run(name: str, noise: float, trials: int, seed: int) -> dict[str, Any]:
    """One search of one system."""
    system = draw(np.random.default_rng(seed))
    search, rng = search_of(name, system, trials, seed), np.random.default_rng(seed + 1)
    used, began = 0, time.process_time()
    while used < trials and (wishes := search.wishes()[: trials - used]):
        search.partial_fit(system.observed(wishes, noise, rng))
        used += len(wishes)
    truth = {(at, tuple(sorted(map(str, term)))): size for at, term, size in system.steps}
    told = {(p.revision, p.term): p.ratio for p in search.change_points_}
    large = [step for step, size in truth.items() if abs(size) >= LARGE]
    same = {at for at in range(REVISIONS) if in_plain_words(at, told) == in_plain_words(at, truth)}
    wrong = sum(
        (at, term) not in truth and abs(ratio - 1.0) >= TOLD and at not in same
        for (at, term), ratio in told.items()
    )
    found = sum(step in told or step[0] in same for step in large)
    seconds = time.process_time() - began
    return {"search": name, "noise": noise, "trials": trials, "seed": seed, "used": used} | {
        "steps": len(large),
        "found": found,
        "told": len(told),
        "wrong": wrong,
        "cpu": seconds,
    }


def in_plain_words(at: int, steps: Iterable[tuple[int, Term]]) -> set[Term]:
    """The terms of a revision's steps; one without an option as the same whatever that is, and with it."""
    found: set[Term] = set()
    for term in (term for revision, term in steps if revision == at):
        absent = [level for level in term if level.startswith("!")]
        present = set(term) - set(absent)
        for more in chain.from_iterable(combinations(absent, n) for n in range(len(absent) + 1)):
            found.add(tuple(sorted(present | {level.removeprefix("!") for level in more})))
    return found


def write_table() -> None:
    """One row for each case."""
    cases: dict[tuple[float, int, str], list[dict[str, Any]]] = defaultdict(list)
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        cases[told["noise"], told["trials"], told["search"]].append(told)
    cells = 2**14 * REVISIONS
    lines = [
        "# Short ranges with dense steps",
        "",
        f"{REVISIONS} revisions, 14 flags ({cells:,} cells), steps in every third; 5 % or more count.",
        "",
        "| noise | trials | search | systems | found | exactly, in all | told | wrong | CPU s |",
        "|---:|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for (noise, trials, name), found in sorted(
        cases.items(), key=lambda i: (*i[0][:2], SEARCHES.index(i[0][2]))
    ):
        total = {key: sum(f[key] for f in found) for key in ("steps", "found", "told", "wrong")}
        cpu, share = float(np.median([f["cpu"] for f in found])), total["found"] / max(total["steps"], 1)
        lines.append(
            f"| {noise:.0%} | {trials} | {name} | {len(found)} | **{share:.0%}** | "
            f"{total['found']} of {total['steps']} | {total['told']} | {total['wrong']} | {cpu:.1f} |"
        )
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--seed", type=int, default=9700)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    asked = parser.parse_args()
    RUNS.parent.mkdir(exist_ok=True)
    known = known_runs(RUNS, ("search", "noise", "trials", "seed"))
    end = time.monotonic() + asked.seconds
    with one_thread():
        for seed in range(asked.seed, asked.seed + asked.systems):
            for noise, trials in CASES:
                for name in SEARCHES:
                    if (name, noise, trials, seed) in known or time.monotonic() > end:
                        continue
                    with RUNS.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(run(name, noise, trials, seed)) + "\n")
                    write_table()
    write_table()
    print(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
