"""A short range on a machine that stalls: some trials take up to thirty times as long, whichever they are.

python -m benchmarks.change_points.stalls [--seeds 12] [--first 500]

Twelve revisions, three options, a trial of 17 ms beside one at the last revision (2 % noise each); with
`beta` it doubles at the sixth, with `gamma` it gains as much at the tenth. As on a virtual machine whose host
is busy: of all trials, the anchor's too, a share takes 1.2 to 33 times as long. 150 pairs at most.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bot.adapters.processes.threads import one_thread
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

PAGE = Path(__file__).with_name("results") / "stalls.md"
SPACE = Space(tuple(Option(name, "flag", (False, True), False) for name in ("alpha", "beta", "gamma")))
REVISIONS, SECONDS, NOISE = 12, 0.017, 0.02
STEPS = {(("beta",), 5), (("gamma",), 9)}
SHARES = (0.0, 0.05, 0.1, 0.25)


def stalling(*, seed: int, share: float, most: int) -> Sequence[ChangePoint]:
    """What the search says at its end. share: of trials that are spoilt."""
    rng = np.random.default_rng([seed, 1])
    last = REVISIONS - 1
    solver = ConstraintSolver(SPACE)
    search = ShortRangeFinder(SPACE, REVISIONS, solver, rng=np.random.default_rng(seed), anchor=last)

    def seconds(probe: Probe, revision: int) -> float:
        _, beta, gamma = probe.configuration
        steps = 1.0 + (bool(beta) and revision >= 5) + (bool(gamma) and revision >= 9)
        stall = math.exp(rng.uniform(0.2, 3.5)) if rng.random() < share else 1.0
        return SECONDS * steps * stall * math.exp(rng.normal(0.0, NOISE))

    asked = 0
    while asked < most and (wishes := search.wishes()[: most - asked]):
        pairs = [(p, seconds(p, p.revision), seconds(p, last)) for p in wishes]
        search.partial_fit([Observation(p, value / anchor, anchor=anchor) for p, value, anchor in pairs])
        asked += len(wishes)
    return search.change_points_


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first", type=int, default=500)
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    lines = [
        "# A short range on a machine that stalls",
        "",
        f"Seeds {seeds[0]} to {seeds[-1]}, 150 pairs at most.",
        "",
    ]
    lines += ["| spoilt trials | steps found | runs with a wrong name | wrong names |", "|---|---|---|---|"]
    for share in SHARES:
        with one_thread():
            told = [{(p.term, p.revision) for p in stalling(seed=s, share=share, most=150)} for s in seeds]
        wrong = [len(one - STEPS) for one in told]
        found = sum(len(one & STEPS) for one in told)
        spoilt = sum(n > 0 for n in wrong)
        lines.append(f"| {share:.0%} | {found} of {2 * len(told)} | {spoilt} of {len(told)} | {sum(wrong)} |")
        print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
