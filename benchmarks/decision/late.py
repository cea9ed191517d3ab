"""How much of a run a late alarm leaves for methods, and what looking sooner costs.

python -m benchmarks.decision.late [--runs 60] [--seed 21] [--processes 2] [--noise recorded]

The same simulated pull requests, with looks before the end (as a run has that can profile) and without.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.decision.play import RULES, estimator_of, score
from benchmarks.decision.world import KINDS, PAIR_SECONDS, SPACES, Case, PullRequest, pull_request, world
from bot.analysis.diagnose import PairedEstimator
from bot.flows.run.evidence import Evidence
from bot.flows.run.reserve import LEAST_SHARE, Reserve
from bot.sampling.schedule import CONTROL_EVERY

RESULTS = Path(__file__).parent / "results"
ENOUGH = 0.45
"""Of the measuring, before pairs give way: of five minutes a third goes to methods, and a fifth to counts."""
CASES = (
    Case("pair +8 %", 16, 17, pairs=(0.08,)),
    Case("pair +15 %", 16, 17, pairs=(0.15,)),
    Case("option +5 %", 16, 17, options=(0.05,)),
    Case("null", 16, 17, shift=(0.0, 0.0), each=0.0),
    Case("layout: all shifted, each by its own", 16, 17, shift=(0.003, 0.005), each=0.003),
)


@dataclass(frozen=True)
class Run:
    """How one simulated pull request ended; left: share of the measuring."""

    alarmed: bool
    named: bool
    wrong: int
    left: float


def play(job: tuple[Case, str, int, int, bool]) -> Run:
    """One pull request; the last says whether pairs are looked at before the end."""
    case, kind, seed, number, looks = job
    name = int.from_bytes(hashlib.sha256(case.name.encode()).digest()[:4], "big")
    rng = np.random.default_rng([seed, name, number])
    pull = pull_request(case, kind, rng)
    estimator, left = measure(pull, case.seconds, rng, looks=looks)
    judgement = estimator.judge()
    found = score(pull, judgement, 0)
    return Run(
        judgement.verdict in ("regression", "improvement", "mixed"), found["named"], found["wrong"], left
    )


def measure(
    pull: PullRequest, seconds: float, rng: np.random.Generator, *, looks: bool
) -> tuple[PairedEstimator, float]:
    """Shuffled rounds until all is decided, or what is certain is to be explained; the share of time left."""
    estimator = estimator_of(pull, rng)
    latest = 1.0 - LEAST_SHARE if looks else None
    reserve = Reserve(Evidence(list(RULES), frozenset(), estimator), ENOUGH, latest)
    budget = int(seconds / PAIR_SECONDS * (1 - 1 / CONTROL_EVERY))
    done = 0
    while done < budget and not estimator.decided_ and not reserve.due(done / budget):
        for c in rng.permutation(np.array(estimator.active_)):
            estimator.partial_fit(int(c), {"cpu": pull.pair(int(c))[1]})
            done += 1
            if done == budget or estimator.decided_ or reserve.due(done / budget):
                break
    return estimator, 1.0 - done / budget


def row(case: Case, kind: str, looks: bool, runs: list[Run]) -> str:
    """A line of the table."""
    alarmed = [run for run in runs if run.alarmed]
    left = np.array([run.left for run in alarmed])
    shares = [f"{np.mean(left >= least):.0%}" if alarmed else "" for least in (0.1, 0.25)]
    cells = [case.name, kind, "yes" if looks else "no", str(len(runs)), str(len(alarmed))]
    cells += [str(sum(run.named for run in runs)), str(sum(run.wrong for run in runs)), *shares]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=60, help="of each case")
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--noise", choices=KINDS, nargs="+", default=["recorded", "loud"])
    chosen = parser.parse_args()
    lines = [
        "# Time that a late alarm leaves",
        "",
        f"17 configurations, {int(16 / PAIR_SECONDS)} pairs with controls; seed {chosen.seed}. "
        "Looks: whether pairs are "
        "looked at before the end. Pairs give way to methods after "
        f"{ENOUGH:.0%} of the measuring, once a change is certain. "
        "Left: share of the alarmed runs with so much of the measuring left.",
        "",
        "| case | noise | looks | runs | alarmed | named exactly | wrong names | left: 10 % | left: 25 % |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for number in range(SPACES):
        world(number)  # before the processes fork
    with multiprocessing.get_context("fork").Pool(chosen.processes) as pool:
        for case in CASES:
            for kind in chosen.noise:
                for looks in (False, True):
                    jobs = [(case, kind, chosen.seed, number, looks) for number in range(chosen.runs)]
                    lines.append(row(case, kind, looks, pool.map(play, jobs)))
                    print(lines[-1], flush=True)
                    (RESULTS / "late.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
