"""How often the intervals of influences cover the truth, on generated systems whose truth is known.

python -m benchmarks.influences.coverage [--systems 10] [--seed 1] [--minutes 5]

Nominal: 90 %. A method's terms are those that the model names, right or wrong; resumable.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.influences.systems import System, generate
from bot.analysis.influences.contrasts import contrast
from bot.analysis.influences.costs import Floats
from bot.analysis.influences.explaining import explain
from bot.analysis.influences.learning import InfluenceModels
from bot.model.space import Configuration, Term
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import UniformDraw, random_uniform

RESULTS = Path(__file__).parent / "results"
METHODS, SAMPLE, PROBE, POPULATION = 15, 150, 50, 400
MANY = 4000
"""Configurations whose exact costs make the truth."""


def truth(system: System, term: Term, many: list[Configuration], rng: np.random.Generator) -> Floats | None:
    """True influence of a term on each method, shape (n_methods,)."""
    if not term:
        return np.asarray(system.truth(many)[1].mean(axis=0))
    levels = [system.space.level_of[text] for text in term]
    found = contrast(system.space, levels, many, probe=many, valid=lambda _: True, rng=rng, most=MANY)
    if found is None:
        return None
    costs = system.truth([v for versions in found.versions for v in versions])[1]
    return np.asarray(
        np.einsum("bcm,c->m", costs.reshape(len(found.versions), len(found.signs), -1), found.signs)
        / len(found.versions)
    )


def one(seed: int, k: int) -> list[list[object]]:
    """Of each influence that is told: method's or system's, levels in the term, covered, relative width."""
    rng = np.random.default_rng([seed, k, 5])
    system = generate(rng, methods=METHODS)
    solver = ConstraintSolver(system.space)
    draw = UniformDraw(system.space, solver)
    sample = system.measure(random_uniform(system.space, solver, SAMPLE, rng=rng), rng)
    # As a night draws it: with replacement, so that small spaces do not run out.
    probe = system.measure(list(dict.fromkeys(draw(rng) for _ in range(PROBE))), rng)
    models = InfluenceModels(rng=rng).fit(sample, probe)
    population = [draw(rng) for _ in range(POPULATION)]
    many = [draw(rng) for _ in range(MANY)]
    known: dict[Term, Floats | None] = {}
    result: list[list[object]] = []
    for i in explain(models, population, valid=solver.valid, rng=rng):
        if i.term not in known:
            known[i.term] = truth(system, i.term, many, rng)
        each = known[i.term]
        if each is None:
            continue
        true = float(each.sum() if i.method is None else each[system.methods.index(i.method)])
        width = (i.interval[1] - i.interval[0]) / 2 / abs(true) if true else 0.0
        covered = bool(i.interval[0] <= true <= i.interval[1])
        result.append(["system" if i.method is None else "method", len(i.term), covered, round(width, 4)])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5.0, help="no system begins after so many")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    path = RESULTS / "coverage.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    have = {(d["seed"], d["case"]) for d in done}
    end = time.monotonic() + 60.0 * chosen.minutes
    for k in range(chosen.systems):
        if (chosen.seed, k) in have or time.monotonic() > end:
            continue
        done.append({"seed": chosen.seed, "case": k, "told": one(chosen.seed, k)})
        with path.open("a") as out:
            out.write(json.dumps(done[-1]) + "\n")
    rows = [row for d in done for row in d["told"]]
    lines = [
        "| influence on | levels | told | covered (nominal 90 %) | median half width |",
        "|---|---|---|---|---|",
    ]
    for key in sorted({(r[0], r[1]) for r in rows}):
        found = [r for r in rows if (r[0], r[1]) == key]
        covered = 100 * np.mean([r[2] for r in found])
        width = 100 * np.median([r[3] for r in found])
        lines.append(f"| {key[0]} | {key[1]} | {len(found)} | {covered:.1f} % | {width:.0f} % |")
    text = "\n".join([f"{len(done)} systems.", "", *lines]) + "\n"
    (RESULTS / "coverage.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
