"""Learns from profiles of real programs, the examples; judged on random configurations.

python -m benchmarks.influences.programs DIR [--seed 1] [--sample 45] [--probe 25] [--minutes 30]

DIR keeps the examples' repositories and every profile, so that a run that was stopped goes on where it was;
nothing of it belongs into the repository. With --minutes 0 it learns from what is there. Half of the sample
covers pairs of values, those of numbers too, half is random, as a night's; the probe is random. Repetitions
far apart, of the probe first (it tells the noise floor), and as many trials without a profiler.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.influences.programs_table import markdown
from bot.adapters.builds.workshop import Workshop
from bot.adapters.processes.process import accounts
from bot.adapters.profilers.profiling import SiteProfiler
from bot.adapters.repositories.git import Repository
from bot.adapters.trials.bench import PairBench
from bot.adapters.trials.site_targets import SiteTargets
from bot.analysis.influences.costs import CostTable, noise_floor
from bot.analysis.influences.learning import InfluenceModels
from bot.analysis.influences.overhead import overhead
from bot.analysis.influences.tabulating import tabulate
from bot.analysis.published.influences.coarse import CoarseModels
from bot.compose.subjects import load_checked
from bot.model.profiles import Profile
from bot.model.revisions import Comparison
from bot.model.space import Configuration, Space
from bot.model.trials import Wish
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.covering import pair_wise
from bot.sampling.random_uniform import random_uniform

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
PROGRAMS = {
    "lz4": ("examples/lz4/make_repository.py", ()),
    "python-markdown": ("examples/python-markdown/make_range.py", ("3.11.3",)),
    "terser": ("examples/terser/make_repository.py", ()),
    "brotli": ("benchmarks/influences/brotli/make_repository.py", ()),
}
"""Examples of three runtimes, and a second native program; how their repositories are made."""
PROFILING = ("pearson", "spearman", "times", "drivers", "profiled")
RELEVANT = 0.01
"""Of the program's time: methods that cost as much are relevant to its performance."""


def main() -> None:
    """Measures what is missing, learns, and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", choices=list(PROGRAMS), nargs="*", default=list(PROGRAMS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=45)
    parser.add_argument("--probe", type=int, default=25)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=30.0, help="no profile begins after so many")
    parser.add_argument("--relevant", action="store_true", help="learn only methods of 1 %% of the cost")
    parser.add_argument("--no-overhead", dest="overhead", action="store_false", help="profiles only")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    end = time.monotonic() + 60 * chosen.minutes
    path = RESULTS / "programs.jsonl"
    for name in chosen.program:
        kept = chosen.folder / f"{name}-{chosen.seed}.pickle"
        chosen.folder.mkdir(parents=True, exist_ok=True)
        record = pickle.loads(kept.read_bytes()) if kept.exists() else {}
        with ExitStack() as stack:
            for state in _measure(name, record, chosen, stack, end):
                fresh = kept.with_suffix(".new")
                fresh.write_bytes(pickle.dumps(state))
                fresh.replace(kept)
        new = _judged(name, record, chosen.seed, relevant=chosen.relevant)
        # What profiling costs stays as it was last measured; programs that were not asked for, too.
        lines = {line["program"]: line for line in map(json.loads, path.read_text().splitlines())}
        old = {key: value for key, value in lines.get(name, {}).items() if key in PROFILING}
        lines[name] = old | new if chosen.overhead else new | old
        print(markdown([lines[name]]))
        path.write_text("".join(json.dumps(line) + "\n" for line in lines.values()))
        (RESULTS / "programs.md").write_text(markdown(list(lines.values())))


def _measure(
    name: str, record: dict[Any, Any], chosen: argparse.Namespace, stack: ExitStack, end: float
) -> Iterator[dict[Any, Any]]:
    """Adds a configuration's profiles and trials to the record, again and again."""
    place = chosen.folder / name
    if not place.exists():
        script, more = PROGRAMS[name]
        words = [sys.executable, str(ROOT / script), str(place), *more]
        subprocess.run(words, check=True)
    (path,) = [p for p in (place / ".github/suspects.yml", place / "suspects.yml") if p.exists()]
    subject = load_checked(path)
    rng = np.random.default_rng([chosen.seed, *name.encode()])
    wanted = configurations(subject.space, sample=chosen.sample, probe=chosen.probe, rng=rng)
    record.setdefault("subject", subject)
    wanted = record.setdefault("wanted", wanted)
    have = {c: len(record[c][0]) for _, c in wanted if c in record}
    left = missing(wanted, have, chosen.repetitions)
    if not left or time.monotonic() > end:
        return
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="influences-")))
    folder.chmod(0o755)
    repository = Repository(place, folder / "git")
    head = repository.resolve("HEAD", "HEAD", exact_base=True).head
    given = accounts("auto").of
    workshop = stack.enter_context(Workshop(repository, subject, accounts=given, within=folder))
    builds = workshop.build(Comparison(head, head))
    assert all(build.ok for build in builds.values()), builds
    never = threading.Event()
    profiler = SiteProfiler(
        SiteTargets(subject, workshop.sites(), scratch=workshop.scratch, stop=never.is_set)
    )
    bench = stack.enter_context(
        PairBench(
            subject=subject,
            sites=workshop.sites(),
            rng=rng,
            budget=1e9,
            scratch=workshop.scratch,
            stop=never,
            slots=1,
        )
    )
    for configuration in left:
        if time.monotonic() > end:
            return
        profiles, seconds = record.get(configuration, ((), ()))
        profile = profiler.profile("head", configuration)
        spent = _unprofiled(bench, configuration) if chosen.overhead else float("nan")
        record[configuration] = (*profiles, profile), (*seconds, spent)
        yield record


def missing(
    wanted: Sequence[tuple[str, Configuration]], have: Mapping[Configuration, int], repetitions: int
) -> list[Configuration]:
    """What is to be profiled yet: one repetition of all, then the next, in which the probe comes first.

    What the machine does meanwhile is noise then, and no configuration's own.
    """
    again = sorted(wanted, key=lambda one: one[0] != "probe")
    order = [(n, c) for n in range(repetitions) for _, c in (again if n else wanted)]
    return [c for n, c in order if have.get(c, 0) <= n]


def _unprofiled(bench: PairBench, configuration: Configuration) -> float:
    """CPU seconds of a trial without a profiler; NaN: it failed."""
    (pair,) = bench.measure(iter([Wish(configuration, ("head", "head"))]))
    return pair.first.metrics.get("cpu", float("nan")) if pair.first.ok else float("nan")


def configurations(
    space: Space, *, sample: int, probe: int, rng: np.random.Generator
) -> list[tuple[str, Configuration]]:
    """The sample and the probe, in random order: what was not measured is missing at random."""
    solver = ConstraintSolver(space)
    design = pair_wise(space, solver, sample // 2, rng=rng)
    drawn = random_uniform(space, solver, sample + probe, rng=rng)
    drawn = [c for c in drawn if c not in design][: sample - len(design) + probe]
    found = [("sample", c) for c in (*design, *drawn[probe:])]
    found += [("probe", c) for c in drawn[:probe]]
    return [found[i] for i in rng.permutation(len(found))]


def _judged(name: str, record: dict[Any, Any], seed: int, *, relevant: bool) -> dict[str, Any]:
    """Errors of both learners on the probe, and profiled against unprofiled seconds."""
    space = record["subject"].space
    # What a record of the design before has in both is of the probe alone.
    kinds_of = {c: kind for kind, c in sorted(record["wanted"], key=lambda one: one[0] == "probe")}
    done = [(kind, c, *record[c]) for c, kind in kinds_of.items() if c in record]
    costs = tabulate(space, [(c, profiles) for _, c, profiles, _ in done])
    costs = _relevant(costs) if relevant else costs
    kinds = np.array([kind for kind, *_ in done])
    sample, probe = (costs.select(np.flatnonzero(kinds == kind)) for kind in ("sample", "probe"))
    told = overhead(
        space,
        tuple(c for _, c, _, _ in done),
        profiled=np.array([np.mean([_seconds(p) for p in profiles]) for _, _, profiles, _ in done]),
        unprofiled=np.array([np.mean(seconds) for *_, seconds in done]),
    )
    profiling = {}
    if told is not None:
        profiling = {
            "pearson": round(told.pearson, 4),
            "spearman": round(told.spearman, 4),
            "times": round(told.median, 2),
            "drivers": [[option, round(strength, 2)] for option, strength in told.drivers],
            "profiled": [
                seed,
                len(done),
                round(float(np.mean([len(profiles) for _, _, profiles, _ in done])), 1),
            ],
        }
    return {
        "program": name,
        "seed": seed,
        "tool": done[0][2][0].tool.name,
        "sample": len(sample.configurations),
        "probe": len(probe.configurations),
        **profiling,
        "quantities": _scores(sample, probe, np.random.default_rng(seed)),
    }


def _relevant(costs: CostTable) -> CostTable:
    """The same of methods that are relevant in seconds or instructions."""
    means = [np.nan_to_num(np.nanmean(costs.means(q), axis=0)) for q in costs.quantities if q != "calls"]
    kept = np.flatnonzero(np.any([m > RELEVANT * m.sum() for m in means], axis=0))
    quantities = {quantity: values[:, kept] for quantity, values in costs.quantities.items()}
    return CostTable(costs.space, costs.configurations, tuple(costs.methods[j] for j in kept), quantities)


def _seconds(profile: Profile) -> float:
    return profile.seconds if profile.outcome == "ok" else float("nan")


def _scores(sample: CostTable, probe: CostTable, rng: np.random.Generator) -> dict[str, Any]:
    """Per quantity [published error, our error, noise floor] of each method: all calls, relevant costs."""
    published = CoarseModels(rng=rng).fit(sample, probe)
    ours = InfluenceModels(rng=rng).fit(sample, probe)
    found: dict[str, Any] = {}
    for quantity in probe.quantities:
        means = np.nan_to_num(np.nanmean(probe.means(quantity), axis=0))
        least = 0.0 if quantity == "calls" else RELEVANT * means.sum()
        found[quantity] = [
            [
                _number(published.errors_[quantity][j]),
                _number(ours.models_[quantity][j].error),
                _number(noise_floor(probe.runs(quantity, j))),
                ours.models_[quantity][j].state,
            ]
            for j in np.flatnonzero(means > least).tolist()
        ]
    return found


def _number(value: float) -> float | None:
    return round(float(value), 5) if np.isfinite(value) else None


if __name__ == "__main__":
    main()
