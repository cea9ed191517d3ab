"""Prints the table of the decision: false alarms, power, names and calibration on simulated pull requests.

python -m benchmarks.decision.run [--quick] [--noise student] [--processes 3] [--seed 7] [--only null]

Every batch is appended to results/batches.jsonl as it ends, so a run that was stopped goes on where it was;
batches of older code are ignored.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import bot.analysis
from benchmarks.decision import rivals, table
from benchmarks.decision.play import measure, score
from benchmarks.decision.world import KINDS, SPACES, Case, pull_request, world

RESULTS = Path(__file__).parent / "results"
BATCH = 50
CASES = (
    (Case("null", 60, 64, shift=(0.0, 0.0), each=0.0), 4000),
    (Case("layout: all shifted", 60, 64, shift=(0.003, 0.005), each=0.0), 4000),
    (Case("layout: half shifted, each its own", 60, 64, shift=(0.003, 0.005), some=True, each=0.003), 4000),
    (Case("layout, 32 configurations", 300, 32, shift=(0.003, 0.005), each=0.003), 1000),
    (Case("option +5 %", 30, 32, options=(0.05,)), 1000),
    (Case("option +5 %, even", 30, 32, options=(0.05,), uneven=(0.0, 0.0)), 500),
    (Case("option -5 %", 30, 32, options=(-0.05,)), 500),
    (Case("pair +5 %", 60, 64, pairs=(0.05,)), 1000),
    (Case("option +2 %", 180, 96, options=(0.02,)), 600),
    (Case("option +2 %, 32 configurations", 180, 32, options=(0.02,)), 600),
    (Case("two options +5 %", 60, 64, options=(0.05, 0.05)), 1000),
    (Case("option +20 %, pair +10 %", 60, 64, options=(0.2,), pairs=(0.1,)), 500),
)  # fmt: skip


def play(job: tuple[Case, str, int, int]) -> dict[str, Any]:
    """One batch of simulated pull requests, added up."""
    case, kind, seed, batch = job
    verdicts: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    configurations: Counter[str] = Counter()
    total: dict[str, Any] = {
        "named": 0,
        "overall": 0,
        "wrong": 0,
        "pairs": 0,
        "claims": [],
        "covered": [],
        "within": [0, 0],
    }
    for i in range(BATCH):
        name = int.from_bytes(hashlib.sha256(case.name.encode()).digest()[:4], "big")
        rng = np.random.default_rng([seed, name, batch, i])
        pull = pull_request(case, kind, rng)
        estimator, pairs = measure(pull, case.seconds, rng)
        result = score(pull, estimator.judge(), pairs)
        verdicts[result["verdict"]] += 1
        for key in ("named", "wrong", "pairs", "overall"):
            total[key] += result[key]
        total["claims"] += [(round(p, 3), ok) for p, ok in result["claims"]]
        total["covered"] += result["covered"]
        total["within"] = [a + b for a, b in zip(total["within"], result["within"], strict=True)]
        if batch < 10:
            for rule, count in rivals.conclude(pull, pairs, rng).items():
                alarms[rule] += count > 0
                configurations[rule] += count
    few = {"n": BATCH if batch < 10 else 0, "alarms": alarms, "configurations": configurations}
    return {"case": case.name, "noise": kind, "seed": seed, "batch": batch, "n": BATCH, "verdicts": verdicts,
            "of": case.configurations, **total, "rivals": few}  # fmt: skip


def fingerprint() -> str:
    """Of the code that decides."""
    sources = sorted(Path(bot.analysis.__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one batch of each case, nothing written")
    parser.add_argument("--noise", choices=KINDS, default="recorded")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--batches", type=int, default=10**6, help="at most so many of each case")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    code, path = fingerprint(), RESULTS / "batches.jsonl"
    RESULTS.mkdir(exist_ok=True)
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = [b for b in done if b["code"] == code and b["seed"] == chosen.seed and b["noise"] == chosen.noise]
    if chosen.quick:
        done = []
    have = {(b["case"], b["batch"]) for b in done}
    jobs = [
        (case, chosen.noise, chosen.seed, batch)
        for batch in range(1 if chosen.quick else chosen.batches)
        for case, wanted in CASES
        if batch < wanted // BATCH and chosen.only in case.name and (case.name, batch) not in have
    ]
    if jobs and not chosen.table:
        for number in range(SPACES):
            world(number)  # before the processes fork
        with multiprocessing.get_context("fork").Pool(chosen.processes) as pool:
            for result in pool.imap_unordered(play, jobs):
                done.append({"code": code, **result})
                if not chosen.quick:
                    with path.open("a") as out:
                        out.write(json.dumps(done[-1]) + "\n")
    text = table.markdown([c.name for c, _ in CASES], done, code=code, noise=chosen.noise, seed=chosen.seed)
    print(text)
    if not chosen.quick:
        (RESULTS / f"{chosen.noise}.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
