"""Passive peers: a full history of a covering sample, change points series by series, terms by regression.

python -m benchmarks.change_points.passive --peers FOLDER [--systems 3]
FOLDER holds the virtual environments `ruptures` and `otava` (their numpy pins conflict with each other's):
python -m venv FOLDER/ruptures && FOLDER/ruptures/bin/pip install ruptures==1.1.10; the same with
apache-otava==0.8.0. Resumable: results/passive.jsonl. Writes results/passive.md.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.change_points import table
from benchmarks.change_points.cases import CASES, Case
from benchmarks.change_points.matching import LARGE, tally
from benchmarks.change_points.published_scoring import TOLERANCE
from benchmarks.change_points.run import FIRST_SEED, RESULTS, system_of
from benchmarks.change_points.truth import ExactTerms, System
from bot.model.change_points import ChangePoint, Probe
from bot.model.space import Configuration, Term
from bot.sampling.covering import CoveringSampler
from bot.sampling.random_uniform import UniformDraw

RUNS = RESULTS / "passive.jsonl"
PEERS = ("ruptures", "otava")
NAMES = (
    "1000x16, 3, cov 0.0",
    "1000x16, 3, cov 0.01",
    "1000x32, 3, cov 0.03",
    "hard 16",
    "hard 32",
    "hard 16 null",
    "1000x16, 0, cov 0.03",
)
VOTES = 2  # series that must change within the tolerance
WINDOW = 30  # commits on either side that tell how much a series moved
MOST_TERMS = 3  # of one cluster
HEAD = """# Passive peers on full histories

`python -m benchmarks.change_points.passive`: every commit of a covering sample of 2n configurations is
measured. ruptures (KernelCPD, linear, penalty 2.5 x variance x log length) or apache-otava (defaults) finds
the change points of each series. Those within 5 commits in two series or more are a cluster, whose changes
are explained by orthogonal matching pursuit over everything, levels and pairs. Scored like ours.
"""

Floats = NDArray[np.float64]


def play(peer: str, folder: Path, case: Case, seed: int) -> dict[str, Any]:
    """One peer on one system."""
    system, key = system_of(case, seed)
    sample = covering(system, np.random.default_rng([seed, key, 2]))
    series = np.array(
        [[system.observe(Probe(c, r)).value for r in range(system.commits)] for c in sample], dtype=np.float64
    )
    series[series <= 0] = math.nan  # some systems of the published kind go below zero
    places, cpu = _places(peer, folder, series)
    started = time.process_time()
    terms = ExactTerms(system.space, system.solver)
    found = list(_explained(system, terms, sample, series, places))
    return {
        "peer": peer,
        "case": case.name,
        "seed": seed,
        "trials": int(series.size),
        "cpu": round(cpu + time.process_time() - started, 2),
        "raw": sum(map(len, places)),
        **tally(system, found, terms),
    }


def covering(system: System, rng: np.random.Generator) -> list[Configuration]:
    """Twice as many configurations as options: all pairs of values first, then random ones."""
    wanted = 2 * len(system.space.options)
    found = CoveringSampler()(system.space, system.solver, wanted, rng=rng)
    draw = UniformDraw(system.space, system.solver)
    return [*found, *(draw(rng) for _ in range(wanted - len(found)))]


def _places(peer: str, folder: Path, series: Floats) -> tuple[list[list[int]], float]:
    """Change points of each series, and CPU seconds."""
    with tempfile.TemporaryDirectory() as work:
        source, target = Path(work) / "series.npy", Path(work) / "found.json"
        np.save(source, series)
        script = Path(__file__).with_name("passive_series.py")
        words = [str(folder / peer / "bin" / "python"), str(script), peer, str(source), str(target)]
        subprocess.run(words, check=True, capture_output=True, timeout=600)
        answer = json.loads(target.read_text())
    return answer["found"], answer["cpu"]


def _explained(
    system: System,
    terms: ExactTerms,
    sample: Sequence[Configuration],
    series: Floats,
    places: list[list[int]],
) -> Iterator[ChangePoint]:
    """The terms that carry each cluster of change points."""
    names, covers = _candidates(system, sample)
    for at, low, high in _clusters(places):
        moved = {}
        for unit, values in (("seconds", series), ("logarithms", np.log(series))):
            change, error = _changes(values, low, high)
            known = ~np.isnan(change) & (error > 0)
            if known.sum() >= 4:
                moved[unit] = _pursuit(covers[:, known], change[known], error[known])
        if not moved:
            continue
        chosen, _ = min(moved.values(), key=lambda m: m[1])
        for term in dict.fromkeys(terms.canonical(names[k]) for k in chosen):
            yield ChangePoint(at, (low, high), term, (), 1.0, (1.0, 1.0), 0.5)


def _clusters(places: list[list[int]]) -> Iterator[tuple[int, int, int]]:
    """Commits close to each other that enough series have: the most frequent, the first and the last."""
    commits = sorted(c for own in places for c in own)
    group: list[int] = []
    for commit in [*commits, 10**9]:
        if group and commit - group[-1] > TOLERANCE:
            if len(group) >= VOTES:
                values, counts = np.unique(group, return_counts=True)
                yield int(values[np.argmax(counts)]), group[0], group[-1]
            group = []
        group.append(commit)


def _changes(values: Floats, low: int, high: int) -> tuple[Floats, Floats]:
    """How much each series moved from before a cluster to after it, and the standard error of that."""
    before, after = values[:, max(low - WINDOW, 0) : low], values[:, high + 1 : high + 1 + WINDOW]
    change = np.full(len(values), np.nan)
    error = np.zeros(len(values))
    for k, (one, other) in enumerate(zip(before, after, strict=True)):
        left, right = one[~np.isnan(one)], other[~np.isnan(other)]
        if len(left) > 2 and len(right) > 2:
            change[k] = np.median(right) - np.median(left)
            error[k] = math.hypot(left.std() / math.sqrt(len(left)), right.std() / math.sqrt(len(right)))
            error[k] += 1e-6 * abs(left[0])
    return change, error


def _candidates(system: System, sample: Sequence[Configuration]) -> tuple[list[Term], Floats]:
    """Everything, levels and pairs that sampled configurations tell apart, the shortest of each kind."""
    levels = system.space.levels
    holds = np.array([[system.space.holds(level, c) for c in sample] for level in levels])
    distinct: dict[bytes, tuple[Term, NDArray[np.bool_]]] = {}
    for degree in range(3):
        for members in combinations(range(len(levels)), degree):
            cover = np.asarray(holds[list(members)].all(axis=0))
            if cover.sum() >= VOTES:
                term = tuple(sorted(str(levels[k]) for k in members))
                distinct.setdefault(cover.tobytes(), (term, cover))
    return [term for term, _ in distinct.values()], np.array([c for _, c in distinct.values()], dtype=float)


def _pursuit(covers: Floats, change: Floats, error: Floats) -> tuple[list[int], float]:
    """Orthogonal matching pursuit with an extended BIC (Chen and Chen, 2008): terms, and the criterion."""
    weight = 1.0 / error
    design, wanted = covers * weight, change * weight
    norm = np.linalg.norm(design, axis=1)
    chosen: list[int] = []
    residual = wanted
    best = (_criterion(wanted, 0, len(covers)), list(chosen))
    for _ in range(MOST_TERMS):
        score = np.abs(design @ residual) / np.where(norm > 0, norm, np.inf)
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
        fitted, *_ = np.linalg.lstsq(design[chosen].T, wanted, rcond=None)
        residual = wanted - fitted @ design[chosen]
        best = min(best, (_criterion(residual, len(chosen), len(covers)), list(chosen)))
    return best[1], best[0] - _criterion(wanted, 0, len(covers))


def _criterion(residual: Floats, used: int, candidates: int) -> float:
    n = len(residual)
    return n * math.log(float(residual @ residual) / n + 1e-12) + used * (
        math.log(n) + 2.0 * math.log(candidates)
    )


def report(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    lines = [
        HEAD,
        "| systems | by | runs | F1 | at 10 % | precision | recall | exact | false a run | trials "
        "| change points of all series | CPU s |",
        "|" + "---|" * 12,
    ]
    for name in NAMES:
        for peer in PEERS:
            own = [r for r in runs if r["case"] == name and r["peer"] == peer]
            if not own:
                continue
            whole = table.total(own)
            cells = [name, peer, str(len(own)), f"{whole.f1:.2f}", f"{table.total(own, least=LARGE).f1:.2f}"]
            cells += [f"{whole.precision:.2f}", f"{whole.recall:.2f}", f"{table.exact(own):.2f}"]
            cells += [f"{whole.false / len(own):.1f}", f"{np.median([r['trials'] for r in own]):.0f}"]
            cells += [table.quartiles((r[key] for r in own), "{:.0f}") for key in ("raw", "cpu")]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--systems", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=300.0)
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    runs = [json.loads(line) for line in RUNS.read_text().splitlines()] if RUNS.exists() else []
    have = {(r["peer"], r["case"], r["seed"]) for r in runs}
    until = time.monotonic() + chosen.seconds
    for seed in range(FIRST_SEED, FIRST_SEED + chosen.systems):
        for case in (c for name in NAMES for c in CASES if c.name == name):
            for peer in PEERS:
                if (peer, case.name, seed) not in have and time.monotonic() < until:
                    runs.append(play(peer, chosen.peers, case, seed))
                    with RUNS.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(runs[-1]) + "\n")
    (RESULTS / "passive.md").write_text(report(runs), encoding="utf-8")
    print(report(runs))


if __name__ == "__main__":
    main()
