"""How often the intervals of influences cover the truth, on generated systems whose truth is known.

python -m benchmarks.influences.coverage [--systems 5] [--seed 1] [--minutes 5]

Nominal: 90 %. A method's terms are those that the model names, right or wrong; resumable.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

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
METHODS, POPULATION = 15, 400
SIZES = {(11, 5): 6, (24, 8): 2, (40, 12): 2, (150, 50): 1}
"""Configurations of the sample and of the probe: a first short night's to those of weeks. Systems per size,
times `--systems`."""
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


def one(seed: int, k: int, size: tuple[int, int]) -> list[list[object]]:
    """Of each influence: method's or system's, levels in the term, covered, relative width, told, wrong.

    wrong: it has the other sign.
    """
    rng = np.random.default_rng([seed, k, *size])
    system = generate(rng, methods=METHODS)
    solver = ConstraintSolver(system.space)
    draw = UniformDraw(system.space, solver)
    sample = system.measure(random_uniform(system.space, solver, size[0], rng=rng), rng)
    # As a night draws it: with replacement, so that small spaces do not run out.
    probe = system.measure(list(dict.fromkeys(draw(rng) for _ in range(size[1]))), rng)
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
        wrong = bool(true * i.influence < 0)
        result.append(
            ["system" if i.method is None else "method", len(i.term), covered, round(width, 4), i.sure, wrong]
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5.0, help="no system begins after so many")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    path = RESULTS / "coverage.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    have = {(d["seed"], d["case"], tuple(d["size"])) for d in done}
    end = time.monotonic() + 60.0 * chosen.minutes
    cases = [(k, size) for size, times in SIZES.items() for k in range(times * chosen.systems)]
    for k, size in cases:
        if (chosen.seed, k, size) in have or time.monotonic() > end:
            continue
        done.append({"seed": chosen.seed, "case": k, "size": size, "told": one(chosen.seed, k, size)})
        with path.open("a") as out:
            out.write(json.dumps(done[-1]) + "\n")
    text = table(done)
    (RESULTS / "coverage.md").write_text(text)
    print(text)


def table(done: list[dict[str, Any]]) -> str:
    """Markdown: a row per size, place and levels of the term."""
    lines = [
        "Covered: by the interval, nominal 90 %. Told: those whose interval, twice as wide, leaves zero out.",
        "",
        "| learnt from + held out | systems | influence on | levels | found | covered | half width | told |"
        " covered | wrong sign |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        of_size = [d for d in done if tuple(d["size"]) == size]
        rows = [row for d in of_size for row in d["told"]]
        for key in sorted({(r[0], r[1]) for r in rows}):
            found = [r for r in rows if (r[0], r[1]) == key]
            told = [r for r in found if r[4]]
            width = f"{100 * np.median([r[3] for r in found]):.0f} %"
            cells = [f"{size[0]} + {size[1]}", len(of_size), *key, len(found), _covered(found), width]
            cells += [len(told), _covered(told), sum(r[5] for r in told)]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _covered(rows: list[list[Any]]) -> str:
    return f"{100 * np.mean([r[2] for r in rows]):.1f} %" if rows else ""


if __name__ == "__main__":
    main()
