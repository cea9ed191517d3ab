"""Prints the table of change points: terms, places, trials and seconds, next to the published algorithm.

python -m benchmarks.change_points.run [--estimator ours] [--only hard] [--systems 20] [--seconds 600]

Every search is a line of results/runs*.jsonl, so a run that was stopped goes on where it was; lines of older
code are ignored. Seeds are visited one after the other over all cases, so whatever is there is balanced.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import resource
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import bot
from benchmarks.change_points import table
from benchmarks.change_points.cases import CASES, Case
from benchmarks.change_points.matching import tally
from benchmarks.change_points.truth import ExactTerms, System
from bot.compose.searching import long_range
from bot.flows.published.search import PublishedSearch
from bot.flows.ranges.failing_runs import failing_runs
from bot.model.change_points import ChangePointSearch, Observation

RESULTS = Path(__file__).parent / "results"
RUNS = {"ours": RESULTS / "runs.jsonl", "published": RESULTS / "runs_published.jsonl"}
CODE = {
    "ours": (
        "analysis/change_points/*",
        "flows/change_points/[!_]*",
        "sampling/contrast.py",
        "sampling/constraints.py",
    ),
    "published": ("analysis/published/*", "flows/published/search.py", "sampling/published/*"),
}
IMPORTS = re.compile(r"^(?:from \S+ )?import (?:\([^)]*\)|[^\n(]*)$\n*", re.MULTILINE)
OTHERS = ("influences", "utilisation")  # beside the search, and no part of it
SYSTEMS = (
    "kinds.py",
    "published_systems.py",
    "systems.py",
    "hard_systems.py",
    "hard_spaces.py",
    "truth.py",
    "wording.py",
)
"""Without `multiplied.py` and `uneven.py`: the published algorithm's long runs of the others stay."""
FIRST_SEED = 70_000  # none of these seeds was used for tuning
CPU = 60.0  # seconds after which a search is not asked again
GRACE = 3.0  # so many times that, and it is ended
TRIALS = 200_000


def search(estimator: str, system: System, rng: np.random.Generator) -> ChangePointSearch:
    """A new search of a system."""
    kind = long_range if estimator == "ours" else PublishedSearch
    return kind(system.space, system.commits, system.solver, rng=rng)


def number(case: Case) -> int:
    """Of a case, whatever others there are."""
    return int.from_bytes(hashlib.sha256(case.name.encode()).digest()[:4], "big")


def system_of(case: Case, seed: int) -> tuple[System, int]:
    """The system of a case and seed, and the number of the case."""
    return case.make(np.random.default_rng([seed, number(case)])), number(case)


def play(job: tuple[str, Case, int, float]) -> dict[str, Any]:
    """One search of one fresh system; what it raises, or that it had to be cut, is its result."""
    estimator, case, seed, cpu = job
    system, key = system_of(case, seed)
    head = {"estimator": estimator, "row": case.row, "case": case.name, "seed": seed}
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, cpu * GRACE)
    try:
        return head | _searched(estimator, system, np.random.default_rng([seed, key, 1]), cpu)
    except Exception as error:  # noqa: BLE001 - a benchmark goes on and says so
        empty = {"trials": 0, "distinct": 0, "cpu": cpu, "megabytes": 0.0, "cut": True}
        terms = ExactTerms(system.space, system.solver)
        return head | tally(system, (), terms) | empty | {"error": repr(error)[:200]}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _late(*_: object) -> None:
    raise TimeoutError("one step of the search took too long")


def _searched(estimator: str, system: System, rng: np.random.Generator, cpu: float) -> dict[str, Any]:
    trials, spent, distinct = 0, 0.0, set[tuple[Any, ...]]()
    known: list[Observation] = []
    started = time.process_time()
    asked = search(estimator, system, rng)
    wishes = asked.wishes()
    while wishes and spent < cpu and trials < TRIALS:
        spent += time.process_time() - started
        observations = [system.observe(probe) for probe in wishes]
        known += observations
        trials += len(wishes)
        distinct.update((p.configuration, p.revision) for p in wishes)
        started = time.process_time()
        asked.partial_fit(observations)
        wishes = asked.wishes()
    found = asked.change_points_
    spent += time.process_time() - started
    terms, failing = ExactTerms(system.space, system.solver), failing_runs(system.space, known)
    return tally(system, found, terms, failing) | {
        "trials": trials,
        "distinct": len(distinct),
        "cpu": round(spent, 3),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "cut": bool(wishes),
    }


def fingerprint(estimator: str) -> str:
    """Of the code that searches and of the systems; its imports, and so where a module lies, do not count."""
    root, here = Path(bot.__file__).parent, Path(__file__).parent
    sources = [p for pattern in CODE[estimator] for p in root.glob(pattern) if p.suffix == ".py"]
    sources = [p for p in sources if p.stem not in OTHERS]
    sources += [here / name for name in SYSTEMS]
    texts = sorted(IMPORTS.sub("", p.read_text(encoding="utf-8")) for p in sources)
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:12]


def stored(estimator: str, code: str) -> list[dict[str, Any]]:
    """The runs of an estimator with one code."""
    path = RUNS[estimator]
    lines = path.read_text().splitlines() if path.exists() else []
    return [r for r in map(json.loads, lines) if r["code"] == code]


def balanced(cases: Sequence[Case]) -> list[Case]:
    """A random case of every row first, then the next of every row: whatever is there speaks for all."""
    place = Counter[str]()
    order: list[tuple[int, int, Case]] = []
    for case in sorted(cases, key=number):
        order.append((place[case.row], len(order), case))
        place[case.row] += 1
    return [case for *_, case in sorted(order, key=lambda o: o[:2])]


def measure(
    code: str, jobs: Sequence[tuple[str, Case, int, float]], *, seconds: float, processes: int
) -> None:
    """Adds runs until the time is over or all are there."""
    until = time.monotonic() + seconds
    # A fresh process for each: its peak of memory is its own.
    with multiprocessing.get_context("fork").Pool(processes, maxtasksperchild=1) as pool:
        for result in pool.imap_unordered(play, jobs):
            with RUNS[result["estimator"]].open("a", encoding="utf-8") as out:
                out.write(json.dumps({"code": code, **result}) + "\n")
            if time.monotonic() > until:
                pool.terminate()
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--estimator", choices=sorted(CODE), default="ours")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="rows or cases whose name contains this")
    parser.add_argument("--systems", type=int, default=10, help="seeds of each case")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cpu", type=float, default=CPU, help="CPU seconds of one search")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    codes = {estimator: fingerprint(estimator) for estimator in CODE}  # before somebody edits it
    have = {(r["case"], r["seed"]) for r in stored(chosen.estimator, codes[chosen.estimator])}
    jobs = [
        (chosen.estimator, case, seed, chosen.cpu)
        for seed in range(chosen.seed, chosen.seed + chosen.systems)
        for case in balanced(CASES)
        if chosen.only in f"{case.row}: {case.name}" and (case.name, seed) not in have
    ]
    if jobs and not chosen.table:
        measure(codes[chosen.estimator], jobs, seconds=chosen.seconds, processes=chosen.processes)
    text = table.markdown({estimator: stored(estimator, code) for estimator, code in codes.items()}, codes)
    (RESULTS / "table.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
