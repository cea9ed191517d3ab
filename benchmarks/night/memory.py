"""Prints what nights still know of changes that were found long ago.

python -m benchmarks.night.memory [--nights 40] [--worlds 2] [--seed 5] [--minutes 30] [--table]

Every world is appended to results/memory.jsonl as it ends, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.night.play import nights, score
from benchmarks.night.run import CELLS, RESULTS
from benchmarks.night.world import World
from bot.flows.nights.archive import alike, archived, believed
from bot.flows.nights.past import NIGHTS as REMEMBERED
from bot.flows.nights.search import NightSearch
from bot.flows.nights.window import Window

HEADER = """\
# What nights still know of old changes

{nights} nights over programs that keep moving ({seeds}; worlds as in [table.md](table.md)). Told: in any of
the first fifteen nights and every fifth after them, by the exact term in an interval that holds its commit.
14 nights: still told at the end, by the newest 14 nights alone; all: with the archive of all nights. False:
told, and none; in any of these nights, and at the end.

| options | noise | worlds | changes | told | 14 nights | all | false | false at the end | archive, CPU s |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""

LOOKED_AT = 5
"""After the first fifteen nights what is told is worked out for one in so many: the archive takes seconds."""


def play(options: int, noise: float, budget: int, *, seed: Sequence[int], count: int) -> dict[str, Any]:
    """One world."""
    key = [*seed, options, round(1000 * noise)]
    world = World(options, noise, np.random.default_rng(key), count)
    past, told, _ = nights(world, budget, np.random.default_rng([*key, 1]))
    shown, seconds = list(told[: REMEMBERED + 1]), 0.0
    for night in range(len(told) - 1, REMEMBERED, -LOOKED_AT)[::-1]:
        began = time.process_time()
        archive, _ = archived(past[:night], lambda revisions: _search(world, revisions), since=0)
        seconds = time.process_time() - began
        tonight = believed(told[night], archive, recent=world.tips[night - REMEMBERED])
        shown.append([*tonight, *(p for p in archive if not any(alike(p, other) for other in tonight))])
    ever, fourteen, everything = (score(world, points) for points in (shown, [tonight], shown[-1:]))
    return {
        "changes": len(world.changes),
        **{
            name: sum(c["told"] is not None for c in found["changes"])
            for name, found in (("told", ever), ("fourteen", fourteen), ("all", everything))
        },
        "false": len(ever["false"]),
        "false_at_the_end": len(everything["false"]),
        "archive_seconds": seconds,
    }


def _search(world: World, revisions: int) -> NightSearch:
    return NightSearch(world.space, Window(revisions), world.solver, rng=np.random.default_rng(0))


def markdown(done: Sequence[dict[str, Any]]) -> str:
    """The whole page."""
    lines = [HEADER.format(nights=done[0]["nights"], seeds=f"seed {done[0]['seed']}")]
    for options, noise, _ in CELLS:
        own = [d for d in done if (d["options"], d["noise"]) == (options, noise)]
        if own:
            lines.append(_row(own, f"{options} | {noise:.2f}"))
    return "\n".join([*lines, _row(done, "all |"), ""])


def _row(worlds: Sequence[dict[str, Any]], name: str) -> str:
    names = ("changes", "told", "fourteen", "all", "false", "false_at_the_end")
    counts = [sum(world[name] for world in worlds) for name in names]
    seconds = float(np.median([world["archive_seconds"] for world in worlds]))
    return f"| {name} | {len(worlds)} | " + " | ".join(map(str, counts)) + f" | {seconds:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=int, default=40)
    parser.add_argument("--worlds", type=int, default=2, help="of each cell")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=30.0, help="no world begins after so many")
    parser.add_argument("--options", type=int, help="only cells with so many")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    path = RESULTS / "memory.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = [d for d in done if (d["seed"], d["nights"]) == (chosen.seed, chosen.nights)]
    have = {(d["options"], d["noise"], d["world"]) for d in done}
    end = time.monotonic() + 60.0 * chosen.minutes
    for world in range(chosen.worlds):
        for options, noise, budget in CELLS:
            if (options, noise, world) in have or chosen.table or time.monotonic() > end:
                continue
            if chosen.options not in (None, options):
                continue
            key = {"seed": chosen.seed, "nights": chosen.nights, "options": options, "noise": noise}
            found = play(options, noise, budget, seed=[chosen.seed, world], count=chosen.nights)
            done.append({**key, "world": world, **found})
            with path.open("a") as out:
                out.write(json.dumps(done[-1]) + "\n")
    text = markdown(done)
    (RESULTS / "memory.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
