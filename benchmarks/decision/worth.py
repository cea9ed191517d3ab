"""What history is worth: seconds to the same power with a helpful one, with none, with a misleading one.

python -m benchmarks.decision.worth [--noise student] [--processes 1] [--seed 11] [--only pair] [--batches 4]

A run that was stopped goes on where it was; batches of older code are ignored.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import multiprocessing
import os
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.decision import worth_table
from benchmarks.decision.past import Habits, culprit, experience, program, pull_request
from benchmarks.decision.play import estimator_of
from benchmarks.decision.run import RESULTS, fingerprint
from benchmarks.decision.table import ALARMS
from benchmarks.decision.world import KINDS, PAIR_SECONDS, SPACES, PullRequest, world
from bot.analysis.diagnose import PairedEstimator
from bot.analysis.experience import Experience
from bot.flows.history.diff_aware import MOST_TERMS
from bot.model.space import Term
from bot.sampling.schedule import CONTROL_EVERY

BATCH = 20
ARMS = ("none", "helpful", "misleading")
MARKS = tuple(float(t) for t in 2.0 * 1.2 ** np.arange(23))
"""Seconds at which a verdict is asked for."""


@dataclass(frozen=True)
class Case:
    """What changed in the pull request, how much, the sample, the longest budget, and how many are played."""

    name: str
    what: str
    size: float
    configurations: int
    seconds: float
    count: int


CASES = (
    Case("an option that changes often, +3 %", "option", 0.03, 32, 90, 200),
    Case("a pair of options that changes often, +5 %", "pair", 0.05, 64, 110, 200),
    Case("whatever the program's habits bring, +3 %", "habit", 0.03, 32, 90, 200),
    Case("an option that never changed before, +3 %", "new", 0.03, 32, 90, 200),
    Case("no change", "nothing", 0.0, 64, 60, 1000),
    Case("no change, 32 configurations", "nothing", 0.0, 32, 300, 200),
)  # fmt: skip


def play(job: tuple[Case, str, str, int, int]) -> dict[str, Any]:
    """One batch of pull requests on as many programs; the same ones in each arm."""
    case, arm, kind, seed, batch = job
    name = int.from_bytes(hashlib.sha256(case.name.encode()).digest()[:4], "big")
    results = []
    for i in range(BATCH):
        # Each with its own stream: what an arm draws must not change the pull requests.
        drawing, telling, changing, playing = np.random.default_rng([seed, name, batch, i]).spawn(4)
        if i == 0 or case.what != "nothing":  # otherwise one program serves a batch
            habits = program(kind, drawing)
            term = _changed(case, habits, changing)
            told = _told(arm, habits, kind, term, telling)
        rare = told.rare(habits.world.space)[:MOST_TERMS] if told else ()
        pull = pull_request(habits, term, case.size, case.configurations, rng=changing, rare=rare, kind=kind)
        results.append(played(case, pull, term, told, playing))
    return {"case": case.name, "arm": arm, "noise": kind, "seed": seed, "batch": batch, "results": results}


def _changed(case: Case, habits: Habits, rng: np.random.Generator) -> Term | None:
    sample = habits.world.samples[0][: case.configurations]
    match case.what:
        case "option":
            return habits.often[int(rng.choice(3, p=habits.weights[:3] / habits.weights[:3].sum()))]
        case "pair":
            return habits.often[3]
        case "habit":
            return habits.changed(rng)
        case "new":
            while (term := culprit(habits.world, sample, 1, rng)) in habits.often:
                pass
            return term
    return None


def _told(
    arm: str, habits: Habits, kind: str, term: Term | None, rng: np.random.Generator
) -> Experience | None:
    """The experience of an arm; a misleading one is of other habits, noise and sizes."""
    if arm == "none":
        return None
    if arm == "helpful":
        return experience(habits, rng)
    while (other := program(kind, rng)).world is not habits.world or term in other.often:
        pass
    return experience(Habits(habits.world, habits.draws, other.often, other.weights), rng, wrong=True)


def played(
    case: Case, pull: PullRequest, term: Term | None, told: Experience | None, rng: np.random.Generator
) -> dict[str, Any]:
    """Plays one pull request; what it would have said at each mark (right twice running: for good)."""
    estimator = estimator_of(pull, rng, experience=told)
    pairs, most = 0, _pairs(case.seconds)
    at = marks(case)
    seen: list[tuple[bool, bool]] = []
    while pairs < most and not estimator.decided_ and seen[-2:] != [(True, True)] * 2:
        for c in rng.permutation(np.array(estimator.active_)):
            estimator.partial_fit(int(c), {"cpu": pull.pair(int(c))[1]})
            pairs += 1
            if len(seen) < len(at) and pairs >= _pairs(at[len(seen)]):
                seen.append(_glance(estimator, pull, term))
            if pairs == most or estimator.decided_:
                break
    judgement = estimator.judge()
    right = [_is(pull, effect.term, term) for effect in judgement.options]
    seen += [(judgement.verdict in ALARMS, any(right))] * (len(at) - len(seen))
    return {
        "named": [number for number, said in enumerate(seen) if all(said)],  # of its marks
        "verdict": judgement.verdict,
        "right": any(right),
        "wrong": len(right) - sum(right),
        "pairs": pairs,
    }


def marks(case: Case) -> list[float]:
    """The marks within a case's budget; none where nothing is to be named."""
    return [m for m in MARKS if m < case.seconds] if case.size else []


def _glance(estimator: PairedEstimator, pull: PullRequest, term: Term | None) -> tuple[bool, bool]:
    """Whether a run that ended now would alarm, and name the term."""
    shared = [pull.world, estimator.space, estimator.configurations, estimator.equivalent]
    shared += [watch.found for watch in estimator._watches.values()]
    ended = copy.deepcopy(estimator, {id(thing): thing for thing in shared})
    watch = ended._watches["cpu"]
    watch.weigh()
    watch.look(watch.found)
    if not watch.alarms.any():  # and then nothing is named
        return False, False
    return True, any(_is(pull, effect.term, term) for effect in ended.judge().options)


def _is(pull: PullRequest, told: Term, term: Term | None) -> bool:
    return term is not None and (told == term or pull.world.equivalent(told, term))


def _pairs(seconds: float) -> int:
    """Pairs of base and head in a budget; the others are controls."""
    return int(seconds / PAIR_SECONDS * (1 - 1 / CONTROL_EVERY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", choices=KINDS, default="recorded")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--batches", type=int, default=10**6, help="at most so many of each case")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    code, path = fingerprint(), RESULTS / "worth.jsonl"
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
    text = worth_table.markdown(cases, done, code=code, noise=chosen.noise, seed=chosen.seed)
    print(text)
    (RESULTS / f"worth_{chosen.noise}.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
