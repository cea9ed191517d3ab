"""How many trials of a long range are lost to options that old revisions do not know, or that fail together.

python -m benchmarks.change_points.failing [--seeds 6] [--first 15000] [--seconds 900]

Four hundred revisions, twelve flags, five steps of 8 to 25 % of what the plain configuration takes; each
trial beside one at the last revision, where all options are known (1 % noise each, or none). Some options are
known from a revision of the first three quarters on; some pairs of the others work nowhere; or nothing works
without one option, and some options not without another one; or any trial may fail by chance. 600 pairs of
trials at most. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.known_runs import carry_on, known_runs
from bot.compose.searching import long_range
from bot.flows.ranges.chaining import Chained
from bot.model.change_points import ChangePointSearch, Observation, Probe
from bot.model.space import Configuration, Option, Space, Term
from bot.sampling.constraints import ConstraintSolver

RUNS = Path(__file__).with_name("results") / "failing.jsonl"
TABLE = Path(__file__).with_name("results") / "failing.md"
REVISIONS, OPTIONS, STEPS, TRIALS = 400, 12, 5, 600
KINDS = [(0, 0, 0, 0.0), (3, 0, 0, 0.0), (6, 0, 0, 0.0), (0, 1, 0, 0.0), (0, 2, 0, 0.0), (4, 1, 0, 0.0)]
KINDS += [(0, 0, 1, 0.0), (0, 0, 3, 0.0), (3, 1, 3, 0.0), (0, 0, 0, 0.03), (0, 0, 0, 0.1), (3, 0, 0, 0.1)]
"""Young options, pairs that fail together, options that something does not work without (the first of them:
anything), and how probably any trial fails."""
KEYS = ("young", "pairs", "needed", "chance")
NOISES = (0.01, 0.0)
"""Of each trial."""
NEAR = 2
"""A step is found by its term at a revision so far away at most."""


class World:
    """A program: what its options cost, its steps, since when it knows each option, what fails together."""

    def __init__(
        self,
        young: int,
        pairs: int,
        needed: int,
        chance: float,
        noise: float,
        seed: int,
        *,
        revisions: int = REVISIONS,
        options: int = OPTIONS,
        steps: int = STEPS,
    ) -> None:
        rng = np.random.default_rng([seed, young, pairs])
        self.revisions = revisions
        self.names = [f"o{i}" for i in range(options)]
        self.space = Space(tuple(Option(n, "flag", (False, True), False) for n in self.names))
        self.costs = rng.gamma(0.7, 0.25, options)
        self.known = np.zeros(options, dtype=int)
        new = rng.permutation(options)[:young]
        self.known[new] = rng.integers(revisions // 8, 3 * revisions // 4, young)
        old = [i for i in range(options) if i not in new]
        every = list(combinations(old, 2))
        self.pairs = [every[k] for k in rng.permutation(len(every))[:pairs]]
        others = [i for i in old if not any(i in pair for pair in self.pairs)]
        drawn = np.random.default_rng([seed, 4]).permutation(others).tolist()
        self.always = drawn[: min(needed, 1)]
        self.needs = [(drawn[k], drawn[k + 1]) for k in range(1, 2 * needed - 2, 2)]
        self.noise, self.noises = noise, np.random.default_rng([seed, 1])
        self.chance, self.chances = chance, np.random.default_rng([seed, 3])
        self.steps: list[tuple[tuple[int, ...], int, float]] = []
        while len(self.steps) < steps:
            term = tuple(sorted(rng.permutation(options)[: rng.choice([0, 1, 1, 1, 2])].tolist()))
            first = int(max([20, *(self.known[i] + 20 for i in term)]))
            at = int(rng.integers(first, revisions - 10))
            size = float(rng.uniform(0.08, 0.25)) * (1 if rng.random() < 0.7 else -0.5)
            apart = all(abs(at - other) > 10 for _, other, _ in self.steps)
            if apart and not any(set(pair) <= set(term) for pair in self.pairs):
                self.steps.append((term, at, size))

    def whole(self, term: Iterable[str]) -> Term:
        """A term with all that it does not work without: one of several names of it."""
        named = {*term, *(self.names[i] for i in self.always)}
        return tuple(sorted(named | {self.names[b] for a, b in self.needs if self.names[a] in named}))

    def seconds(self, configuration: Configuration, revision: int) -> float:
        """What one trial takes; NaN: it fails."""
        on = np.array(configuration, dtype=bool)
        if (on & (self.known > revision)).any() or any(on[a] and on[b] for a, b in self.pairs):
            return math.nan
        if not on[self.always].all() or any(on[a] and not on[b] for a, b in self.needs):
            return math.nan
        moved = sum(size for term, at, size in self.steps if revision >= at and on[list(term)].all())
        return float(
            (1.0 + self.costs[on].sum() + moved) * math.exp(self.noise * self.noises.standard_normal())
        )

    def observe(self, probe: Probe) -> Observation:
        """A trial beside the last revision."""
        value, anchor = (self.seconds(probe.configuration, r) for r in (probe.revision, self.revisions - 1))
        here, there = self.chances.random(2) < self.chance
        if math.isnan(anchor) or there:
            return Observation(probe, math.nan, anchor=0.0)
        if here:
            return Observation(probe, math.nan, anchor=anchor)
        return Observation(probe, value / anchor, anchor=anchor)


def run(young: int, pairs: int, needed: int, chance: float, noise: float, seed: int) -> dict[str, Any]:
    """How one search ends."""
    world, began = World(young, pairs, needed, chance, noise, seed), time.process_time()
    solver, rng = ConstraintSolver(world.space), np.random.default_rng([seed, 2])
    search = Chained(long_range(world.space, REVISIONS, solver, rng=rng, trials=TRIALS))
    found = searched(world, search, TRIALS)
    case = dict(zip(KEYS, (young, pairs, needed, chance), strict=True)) | {"noise": noise, "seed": seed}
    return case | found | {"cpu": round(time.process_time() - began, 1)}


def searched(world: World, search: ChangePointSearch, trials: int) -> dict[str, int]:
    """How many steps of a program a search finds, and what it took."""
    known: list[Observation] = []
    while len(known) < trials and (wishes := search.wishes()[: trials - len(known)]):
        known += (answers := [world.observe(probe) for probe in wishes])
        search.partial_fit(answers)
    told = [(world.whole(p.term), p.revision) for p in search.change_points_]
    true = [(world.whole(world.names[i] for i in term), at) for term, at, _ in world.steps]
    return {
        "trials": len(known),
        "failed": sum(math.isnan(o.value) for o in known),
        "found": _matched(true, told),
        "wrong": len(told) - _matched(told, true),
    }


def _matched(steps: Sequence[tuple[Term, int]], others: Sequence[tuple[Term, int]]) -> int:
    """How many steps have one of the same term among others, near enough."""
    return sum(any(term == t and abs(at - r) <= NEAR for t, r in others) for term, at in steps)


def write_table() -> None:
    """One row for each kind of program."""
    runs: dict[tuple[float, ...], list[dict[str, Any]]] = defaultdict(list)
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        runs[one["noise"], *(one[key] for key in KEYS)].append(one)
    lines = [
        "# Options that long ranges lose trials to",
        "",
        f"{REVISIONS} revisions, {OPTIONS} options, {STEPS} steps, at most {TRIALS} pairs of trials."
        " Trials and seconds: medians.",
        "",
        "| noise | young options | failing pairs | needed | by chance | ranges | steps found | wrong | trials"
        " | failed | CPU s |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (noise, *kind, chance), some in sorted(runs.items()):
        found, wrong = (sum(one[k] for one in some) for k in ("found", "wrong"))
        trials, failed, cpu = (np.median([one[k] for one in some]) for k in ("trials", "failed", "cpu"))
        found_of = f"{found} of {STEPS * len(some)}"
        kinds = f"{noise:.0%}", *kind, f"{chance:.0%}"
        row = *kinds, len(some), found_of, wrong, f"{trials:.0f}", f"{failed:.0f}"
        lines.append(f"| {' | '.join(map(str, row))} | {cpu:.1f} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _missing(seeds: Sequence[int]) -> list[tuple[int, int, int, float, float, int]]:
    """Runs that are not known yet."""
    known = known_runs(RUNS, (*KEYS, "noise", "seed"))
    cases = [(*kind, noise, seed) for seed, kind, noise in product(seeds, KINDS, NOISES)]
    return [case for case in cases if case not in known]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=15000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    carry_on(RUNS, _missing(seeds), run, seconds=asked.seconds)
    write_table()
    print(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
