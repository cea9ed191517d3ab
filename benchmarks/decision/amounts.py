"""Which terms are named when options cost unlike amounts, and a change is an amount of work or a share of it.

python -m benchmarks.decision.amounts [--noise recorded] [--seed 11] [--batches 4] [--processes 2]

Every option of the simulated program adds work of its own, so that configurations take unlike times. What is
planted is the same amount of work in every configuration that holds the term (its size is the mean share), or
the same share of each one's time. `without costs` is the estimator that is not told what base took, for which
every effect is a share. Goes on where it was stopped; batches of older code are ignored.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.decision.play import RULES
from benchmarks.decision.run import fingerprint
from benchmarks.decision.world import (
    KINDS,
    PAIR_SECONDS,
    SAMPLES,
    SPACES,
    Case,
    Floats,
    holds,
    noise,
    planted,
    world,
)
from bot.analysis.diagnose import PairedEstimator
from bot.model.space import Configuration, Space, Term
from bot.sampling.schedule import CONTROL_EVERY

RESULTS = Path(__file__).parent / "results"
BATCH = 25
LAWS = ("amount", "share")
CASES = (
    Case("nothing", 60, 64),
    Case("option +5 %", 30, 32, options=(0.05,)),
    Case("option +20 %", 60, 48, options=(0.2,)),
    Case("option +100 %", 60, 48, options=(1.0,)),
    Case("option -20 %", 60, 48, options=(-0.2,)),
    Case("two options, +15 % and +30 %", 60, 64, options=(0.15, 0.3)),
    Case("pair +30 %", 60, 64, pairs=(0.3,)),
    Case("option +20 %, pair +10 %", 60, 64, options=(0.2,), pairs=(0.1,)),
)
UNEVEN = (0.05, 0.2)
"""Standard deviation of an effect between configurations, beside its law, as a share of it."""


def costs(space: Space, chosen: Sequence[Configuration], rng: np.random.Generator) -> Floats:
    """What base takes in each configuration: the values of three options in five add work, log-normally."""
    total = np.ones(len(chosen))
    for column, option in enumerate(space.options):
        own = 0.3 * np.exp(1.2 * rng.standard_normal(len(option.values)))
        own *= rng.random(len(option.values)) < 0.6
        own[0] *= option.kind != "flag"
        total += np.array([own[option.values.index(c[column])] for c in chosen])
    return total


def truth_of(
    terms: dict[Term, float],
    space: Space,
    chosen: Sequence[Configuration],
    *,
    law: str,
    cost: Floats,
    rng: np.random.Generator,
) -> Floats:
    """log(head / base) of each configuration."""
    uneven = rng.uniform(*UNEVEN)
    more, shares = np.zeros(len(chosen)), np.zeros(len(chosen))
    for term, size in terms.items():
        cover = holds(space, term, chosen)
        spread = cover * np.clip(1 + uneven * rng.standard_normal(len(chosen)), 0.2, None)
        if law == "share":
            shares += np.log1p(size) * spread
            continue
        # What is saved was base's, and is at most nine tenths of any configuration.
        amount = (
            size * cost[cover].mean()
            if size > 0
            else max(size * cost[cover].mean(), -0.9 * cost[cover].min())
        )
        more += amount * spread
    return np.log1p(np.maximum(more / cost, -0.95)) + shares


def play(job: tuple[Case, str, str, bool, int, int]) -> dict[str, Any]:
    """One batch of pull requests: how many had all terms named, a wrong one, an alarm."""
    case, kind, law, told, seed, batch = job
    found = {"named": 0, "wrong": 0, "alarms": 0}
    for i in range(BATCH):
        rng = np.random.default_rng([seed, CASES.index(case), LAWS.index(law), batch, i])
        w = world(int(rng.integers(SPACES)))
        chosen = w.samples[int(rng.integers(SAMPLES))][: case.configurations]
        while (terms := planted(case.options, case.pairs, w.space, chosen, rng)) is None:
            pass
        cost = costs(w.space, chosen, rng)
        truth = truth_of(terms, w.space, chosen, law=law, cost=cost, rng=rng)
        truth += rng.uniform(*case.shift) * rng.choice([-1, 1]) + case.each * rng.standard_normal(len(chosen))
        sources = noise(kind, rng)
        draws = [next(sources) for _ in chosen]
        estimator = PairedEstimator(
            space=w.space,
            configurations=chosen,
            rules=RULES,
            false_alarms=0.01,
            equivalent=w.equivalent,
            rng=rng,
        )
        left = int(case.seconds / PAIR_SECONDS * (1 - 1 / CONTROL_EVERY))
        while left > 0 and not estimator.decided_:
            for c in rng.permutation(np.array(estimator.active_))[:left]:
                base, log_ratio = draws[c]()
                value = {"cpu": float(truth[c] + log_ratio)}
                estimator.partial_fit(int(c), value, {"cpu": float(base * cost[c])} if told else {})
                left -= 1
        judged = estimator.judge()
        hits = [[p for p in terms if p == e.term or w.equivalent(p, e.term)] for e in judged.options]
        found["named"] += len({p for hit in hits for p in hit}) == len(terms)
        found["wrong"] += any(not hit for hit in hits)
        found["alarms"] += judged.verdict in ("regression", "improvement", "mixed")
    return {"case": case.name, "noise": kind, "law": law, "told": told, "seed": seed, "batch": batch, **found}


def markdown(done: Sequence[dict[str, Any]], noise_kind: str, seed: int) -> str:
    """The table."""
    lines = [
        "# Changes by an amount of work and by a share of it",
        "",
        f"Noise: {noise_kind}; seed {seed}. In %: alarms; all planted terms named; any wrong name.",
        "",
        "| planted | as | pull requests | alarm | named | wrong | without costs: named | wrong |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for case in CASES:
        for law in LAWS if case.options or case.pairs else LAWS[:1]:
            rows = [
                [b for b in done if (b["case"], b["law"], b["told"]) == (case.name, law, t)]
                for t in (True, False)
            ]
            if not all(rows):
                continue
            n = [BATCH * len(batches) for batches in rows]
            rate = [
                {key: 100 * sum(b[key] for b in batches) / k for key in ("named", "wrong", "alarms")}
                for batches, k in zip(rows, n, strict=True)
            ]
            shown = [f"{r['named']:.0f} | {r['wrong']:.0f}" for r in rate]
            lines.append(f"| {case.name} | {law} | {n[0]} | {rate[0]['alarms']:.0f} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", choices=KINDS, default="recorded")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    code, path = fingerprint(), RESULTS / "amounts.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = [b for b in done if (b["code"], b["seed"], b["noise"]) == (code, chosen.seed, chosen.noise)]
    have = {(b["case"], b["law"], b["told"], b["batch"]) for b in done}
    jobs = [
        (case, chosen.noise, law, told, chosen.seed, batch)
        for batch in range(chosen.batches)
        for case in CASES
        for law in (LAWS if case.options or case.pairs else LAWS[:1])
        for told in (True, False)
        if (case.name, law, told, batch) not in have
    ]
    for number in range(SPACES):
        world(number)  # before the processes fork
    with multiprocessing.get_context("fork").Pool(chosen.processes) as pool, path.open("a") as out:
        for result in pool.imap_unordered(play, jobs):
            done.append({"code": code, **result})
            out.write(json.dumps(done[-1]) + "\n")
            out.flush()
    text = markdown(done, chosen.noise, chosen.seed)
    print(text)
    (RESULTS / "amounts.md").write_text(text)


if __name__ == "__main__":
    main()
