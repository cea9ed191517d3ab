"""Bisects the example with all of its 14 options: the judge's counts, continued to all configurations.

python -m benchmarks.releases.continued [--first 0] [--seeds 12] [--seconds 600]

28 configurations were counted; a search may ask for any of 16,384. A release adds to a configuration what
the judge's regression found for its terms (from 1 % of the plainest run on); in each release each
configuration is off by 0.2 % of its own, which stays the same in every trial. Trials of `md_in_html` fail
before 3.2. Found are the judge's steps with 5 % or more of own work, by their term and release. Goes on where
it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.known_runs import carry_on, known_runs
from benchmarks.releases.judge import EXAMPLE, read_counts
from benchmarks.releases.scoring import score
from benchmarks.releases.steps import Step, fit, judged, releases_of, steps
from bot.adapters.documents.subject_file import load_subject
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver

RUNS = Path(__file__).with_name("results") / "continued.jsonl"
PAGE = Path(__file__).with_name("results") / "continued.md"
COMPLETE, YOUNG, SINCE = "3.2.2", "md_in_html", "3.2"
"""A release in which every configuration ran; an option, and since when it exists."""
LEAST, OFF, THRESHOLD = 0.01, 0.002, 0.02
NOISES = (0.0, 0.01)
Floats = npt.NDArray[np.float64]


class Continued:
    """Counts of any configuration in any release, in those of the plainest one in the first."""

    def __init__(self, space: Space) -> None:
        counts = read_counts(space)
        self.space, self.releases = space, releases_of(counts)
        chosen = [c for r, c in counts if r == COMPLETE]
        self._costs = np.linalg.lstsq(_with_ones(chosen), [counts[COMPLETE, c] or 0 for c in chosen])[0]
        self._added = [
            (at, term, fitted.added[term])
            for at, fitted in enumerate(fit(space, counts), 1)
            for term, share in fitted.work.items()
            if abs(share) >= LEAST
        ]
        self._complete, self._since = self.releases.index(COMPLETE), self.releases.index(SINCE)

    def level(self, probe: Probe) -> float:
        """NaN: the trial fails."""
        configuration, at = probe.configuration, probe.revision
        if configuration[self.space.names.index(YOUNG)] and at < self._since:
            return math.nan
        level = float((_with_ones([configuration]) @ self._costs)[0])
        for step, term, added in self._added:
            if self.space.carries(term, configuration):
                level += added * ((step <= at) - (step <= self._complete))
        own = np.random.default_rng([at, *map(int, configuration)]).normal(0.0, OFF)
        return level * (1.0 + own) / float(self._costs[0])


def _with_ones(chosen: Sequence[Configuration]) -> Floats:
    return np.column_stack([np.ones(len(chosen)), np.array(chosen, dtype=np.float64)])


def run(noise: float, seed: int) -> dict[str, Any]:
    """One bisection and how it compares with the judge."""
    space = load_subject(EXAMPLE / "suspects.yml").space
    world, rng, used = Continued(space), np.random.default_rng(seed + 1), 0
    trials = int(0.15 * len(read_counts(space)))
    search = ShortRangeFinder(
        space,
        len(world.releases),
        ConstraintSolver(space),
        rng=np.random.default_rng(seed),
        threshold=THRESHOLD,
    )
    while used < trials and (wished := search.wishes()[: trials - used]):
        levels = [world.level(probe) * math.exp(noise * rng.standard_normal()) for probe in wished]
        search.partial_fit([Observation(p, level) for p, level in zip(wished, levels, strict=True)])
        used += len(wished)
    points = [asdict(p) | {"label": world.releases[p.revision]} for p in search.change_points_]
    kept = [{key: p[key] for key in ("label", "term", "aliases", "ratio")} for p in points]
    return {"noise": noise, "seed": seed, "trials": used, "change_points": kept}


def write_table() -> None:
    """What was found, by noise and step."""
    space = load_subject(EXAMPLE / "suspects.yml").space
    counts = read_counts(space)
    wanted = [s for s in steps(space, counts) if s.has_work]
    ratios = judged(space, counts)
    lines = ["# The example with all of its 14 options", "", *(__doc__ or "").splitlines()[4:], ""]
    lines += ["| noise | seeds | trials | found | others: real | wrong |", "|---|---|---|---|---|---|"]
    found: dict[float, Counter[tuple[str, str]]] = {}
    told = [json.loads(line) for line in RUNS.read_text(encoding="utf-8").splitlines()]
    for noise in NOISES:
        rows = [r for r in told if r["noise"] == noise]
        scored = [score(wanted, ratios, releases_of(counts), r["change_points"]) for r in rows]
        hits = [(s["release"], " + ".join(s["term"])) for x in scored for s in x["steps"] if s["off"] == 0]
        real = [o["real"] for x in scored for o in x["others"]]
        found[noise] = Counter(hits)
        most = max((r["trials"] for r in rows), default=0)
        every = f"**{len(hits)}** of {len(rows) * len(wanted)}"
        lines.append(
            f"| {noise:.0%} | {len(rows)} | {most} | {every} | {sum(real)} | {len(real) - sum(real)} |"
        )
    lines += ["", "| step | own work | " + " | ".join(f"found at {n:.0%}" for n in NOISES) + " |"]
    lines += ["|---|---|" + "---|" * len(NOISES), *(_row(step, found) for step in wanted)]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(step: Step, found: dict[float, Counter[tuple[str, str]]]) -> str:
    name = " + ".join(step.term)
    times = " | ".join(str(found[noise][step.release, name]) for noise in NOISES)
    return f"| {step.release} {name or 'everything'} | {step.own - 1:+.1%} | {times} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=math.inf, help="no case is begun after so many")
    asked = parser.parse_args()
    known = known_runs(RUNS, ("noise", "seed"))
    every = ((noise, seed) for seed in range(asked.first, asked.first + asked.seeds) for noise in NOISES)
    carry_on(RUNS, (case for case in every if case not in known), run, seconds=asked.seconds)
    write_table()
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
