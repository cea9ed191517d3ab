"""What a diff-aware sample is worth: seconds to the same power, its terms being right, partly right or wrong.

python -m benchmarks.decision.aimed [--noise student] [--processes 1] [--seed 11] [--only pair] [--batches 4]

A run that was stopped goes on where it was; batches of older code are ignored.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import bot.sampling
from benchmarks.decision import worth_table
from benchmarks.decision.past import culprit
from benchmarks.decision.run import RESULTS
from benchmarks.decision.run import fingerprint as deciding
from benchmarks.decision.world import KINDS, SAMPLES, SPACES, PullRequest, World, holds, noise, world
from benchmarks.decision.worth import Case, marks, played
from bot.model.space import Term
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.weighted import weighted_sample

BATCH = 10
ARMS = ("none", "right", "partly right", "misleading")
TERMS = 3
"""Terms that a model tells, one of them the culprit where it is right."""
RARE = 0.15
"""Share of today's samples below which a pair of levels is called rare."""
POWERS = (0.5, 0.8)

CASES = (
    Case("an option, +3 %", "level", 0.03, 32, 90, 200),
    Case("a value of a choice or a number, +3 %", "value", 0.03, 32, 90, 200),
    Case("a pair of levels, +5 %", "pair", 0.05, 64, 110, 200),
    Case("a rare pair of levels, +10 %", "rare", 0.1, 32, 60, 200),
    Case("no change", "nothing", 0.0, 64, 60, 200),
)  # fmt: skip


def play(job: tuple[Case, str, str, int, int]) -> dict[str, Any]:
    """One batch of pull requests; the same changes in each arm, which differ in their samples."""
    case, arm, kind, seed, batch = job
    name = int.from_bytes(hashlib.sha256(case.name.encode()).digest()[:4], "big")
    results = []
    for i in range(BATCH):
        # Each with its own stream: what an arm draws must not change the pull requests.
        drawing, telling, choosing, changing, playing = np.random.default_rng([seed, name, batch, i]).spawn(5)
        w = world(int(drawing.integers(SPACES)))
        term = guilty(case, w, drawing)
        pull = pull_request(case, w, term, told=told(arm, w, term, telling), kind=kind,
                            rngs=(choosing, changing))  # fmt: skip
        results.append(played(case, pull, term if case.size else None, None, playing))
    return {"case": case.name, "arm": arm, "noise": kind, "seed": seed, "batch": batch, "results": results}


def guilty(case: Case, w: World, rng: np.random.Generator) -> Term:
    """What changed: a term that some sample of today's exercises, not the one that is measured."""
    sample = w.samples[int(rng.integers(SAMPLES))][: case.configurations]
    while True:
        term = culprit(w, sample, 2 if case.what in ("pair", "rare") else 1, rng)
        if case.what == "value" and _kind(w, term) == "flag":
            continue
        if case.what == "rare" and holds(w.space, term, sample).mean() > RARE:
            continue
        return term


def told(arm: str, w: World, term: Term, rng: np.random.Generator) -> tuple[Term, ...]:
    """The terms that a model tells: the culprit or what is like it; others share no option with it."""
    first = {"right": (term,), "partly right": (_like(w, term, rng),)}.get(arm, ())
    found = dict.fromkeys(first)
    while len(found) < TERMS:
        other = culprit(w, w.samples[0][:32], 1 + int(rng.random() < 0.3), rng)
        if not _options(w, other) & _options(w, term):
            found[other] = None
    return () if arm == "none" else tuple(found)


def pull_request(
    case: Case,
    w: World,
    term: Term,
    *,
    told: tuple[Term, ...],
    kind: str,
    rngs: tuple[np.random.Generator, np.random.Generator],
) -> PullRequest:
    """A pull request whose sample knows these terms; rngs: for the sample, and for what changed."""
    choosing, rng = rngs
    if told:
        chosen = weighted_sample(w.space, w.solver, case.configurations, terms=told, rng=choosing)
    else:
        chosen = pull_request_sample(w.space, w.solver, case.configurations, rng=choosing)
    sample = tuple(chosen)
    shift = rng.uniform(0, 0.003) * rng.choice([-1, 1])
    uneven = rng.uniform(0.2, 0.4)
    truth = shift + 0.0015 * rng.standard_normal(len(sample))
    effect = np.log1p(case.size) * (1 + uneven * rng.standard_normal(len(sample)))
    truth += holds(w.space, term, sample) * effect
    planted = {term: case.size} if case.size else {}
    return PullRequest(w, sample, planted, truth, list(islice(noise(kind, rng), len(sample))))


def _like(w: World, term: Term, rng: np.random.Generator) -> Term:
    """Of a pair one level, of a value another one of its option, of a flag a pair with it."""
    if len(term) > 1:
        return (term[int(rng.integers(len(term)))],)
    option = w.space.options[w.space.index[w.space.level_of[term[0]].option]]
    if option.kind != "flag" and len(option.levels) > 2:
        others = [str(level) for level in option.levels if str(level) != term[0]]
        return (others[int(rng.integers(len(others)))],)
    while True:
        other = culprit(w, w.samples[0][:32], 1, rng)
        both = tuple(sorted((*term, *other)))
        if option.name not in _options(w, other) and w.solver.possible(both):
            return both


def _options(w: World, term: Term) -> set[str]:
    return {w.space.level_of[text].option for text in term}


def _kind(w: World, term: Term) -> str:
    return w.space.options[w.space.index[w.space.level_of[term[0]].option]].kind


def fingerprint() -> str:
    """Of the code that decides and the code that samples."""
    sources = sorted(Path(bot.sampling.__file__).parent.glob("*.py"))
    sampling = b"".join(p.read_bytes() for p in sources)
    return hashlib.sha256(deciding().encode() + sampling).hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", choices=KINDS, default="recorded")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--batches", type=int, default=10**6, help="at most so many of each case")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    code, path = fingerprint(), RESULTS / "aimed.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = [b for b in done if b["code"] == code and b["seed"] == chosen.seed and b["noise"] == chosen.noise]
    have = {(b["case"], b["arm"], b["batch"]) for b in done}
    jobs = [
        (case, arm, chosen.noise, chosen.seed, batch)
        for batch in range(max(case.count for case in CASES) // BATCH)
        for case in CASES
        for arm in ARMS
        if batch < min(case.count // BATCH, chosen.batches)
        and chosen.only in case.name
        and (case.name, arm, batch) not in have
    ]
    if jobs and not chosen.table:
        for number in range(SPACES):
            world(number)  # before the processes fork
        with multiprocessing.get_context("fork").Pool(chosen.processes) as pool:
            for result in pool.imap_unordered(play, jobs):
                done.append({"code": code, **result})
                with path.open("a") as out:
                    out.write(json.dumps(done[-1]) + "\n")
    cases = {case.name: marks(case) for case in CASES}
    arms = worth_table.Arms("model", ARMS, POWERS)
    text = worth_table.markdown(cases, done, code=code, noise=chosen.noise, seed=chosen.seed, arms=arms)
    print(text)
    (RESULTS / f"aimed_{chosen.noise}.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
