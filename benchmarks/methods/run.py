"""Plants slow-downs in methods of real programs, profiles both builds and asks who is to blame.

python -m benchmarks.methods.run --runtime native [--cases 24] [--same 20] [--seed 1000] [--seconds 3000]
python -m benchmarks.methods.run --replay     scores the stored profiles again, with the code as it is

Programs come from their registries into --cache (outside of the tree); profiles of each case are kept there.
Goes on where it was stopped. Pin it to one core (taskset): trials are timed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import pickle
import resource
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.methods import table
from benchmarks.methods.cases import DECOYS, Case, Runtime, Slowdown, candidates, draw
from benchmarks.methods.scoring import Truth, score
from bot.adapters.profilers.sources import bodies
from bot.adapters.threads import one_thread
from bot.analysis.methods.blame import Compared
from bot.model.profiles import Method, Profile

RESULTS = Path(__file__).with_name("results")
RUNTIMES = ("native", "python", "node", "jvm")
BASE_PROFILES, HEAD_PROFILES, PAIRS = 2, 2, 8
EVERY = 2000
"""Calls of a method that do planted work, roughly."""
ATTEMPTS, CALIBRATIONS = 8, 4
ENOUGH = (0.04, 0.36)
"""Effects that are used; others are planted again."""


class Yard:
    """A program's folders for base and head, and its trials."""

    def __init__(self, runtime: Runtime, case: Case, place: Path, cache: Path) -> None:
        self.runtime, self.case = runtime, case
        self.roots = {side: place / side / case.program.name for side in ("base", "head")}
        self.scratch = place / "scratch"
        self.scratch.mkdir()
        self.env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(place)}
        self.cache = cache / runtime.name / case.program.name
        for side in self.roots:
            self.fresh(side)

    def fresh(self, side: str) -> None:
        """A copy of the program as it was installed, built."""
        shutil.rmtree(self.roots[side], ignore_errors=True)
        shutil.copytree(self.cache, self.roots[side], symlinks=True)
        self.build(side)

    def build(self, side: str) -> None:
        """After a change."""
        self.runtime.build(self.roots[side], self.case.program)

    def seconds(self, side: str) -> float:
        """CPU seconds of one trial without profiler."""
        before = _children()
        subprocess.run(
            self.case.words,
            cwd=self.roots[side],
            env=self.env,
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=60,
        )
        return _children() - before

    def pairs(self, count: int) -> np.ndarray:
        """Seconds of interleaved trials, shape (count, 2): base, head."""
        return np.array([[self.seconds("base"), self.seconds("head")] for _ in range(count)])

    def profile(self, side: str) -> Profile:
        """One profile."""
        return self.runtime.profiler.profile(self.case.target(self.roots[side], self.scratch, self.env))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def play(runtime: Runtime, seed: int, cache: Path, *, same: bool) -> dict[str, Any]:
    """One case: a row of results; its profiles are kept in the cache."""
    case, rng = draw(runtime, seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="methods-") as place:
        yard = Yard(runtime, case, Path(place), cache)
        row: dict[str, Any] = {
            "runtime": runtime.name,
            "program": case.program.name,
            "seed": seed,
            "same": same,
        }
        base = [yard.profile("base")]
        truth = Truth(frozenset())
        if not same:
            planted = _plant(yard, base[0], rng)
            if planted is None:
                return {**row, "skipped": "no method could be changed"}
            work, method, truth = planted
            row |= {"kind": case.kind, "gated": case.gated, "method": method.name, "amount": work.amount}
            if case.kind in runtime.prepared:
                base = [yard.profile("base")]
        base += [yard.profile("base") for _ in range(BASE_PROFILES - 1)]
        head = [yard.profile("head") for _ in range(HEAD_PROFILES)]
        seconds, interval = _measured(yard.pairs(PAIRS))
        texts = tuple(
            bodies(yard.roots[side], {m for p in profiles for m in p.methods})
            for side, profiles in (("base", base), ("head", head))
        )
    compared = Compared(base, head, seconds, interval, (texts[0], texts[1]))
    kept = cache / "profiles" / f"{runtime.name}-{seed}-{int(same)}.pickle"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(pickle.dumps((compared, truth)))
    row |= {"effect": seconds[1] / seconds[0] - 1.0, "trial": seconds[0], "seconds": time.monotonic() - began}
    return row | score(compared, truth)


def _plant(yard: Yard, profile: Profile, rng: np.random.Generator) -> tuple[Slowdown, Method, Truth] | None:
    """A slow-down of about the wanted effect in head, and decoys; None: in no method that was tried."""
    runtime, case = yard.runtime, yard.case
    able = candidates(profile, rng)
    trial = min(yard.seconds("base") for _ in range(3))
    for method in able[:ATTEMPTS]:
        calls = profile.methods[method].calls or 1
        every = max(1, round(calls / EVERY))
        amount = max(1, round(case.effect * trial / (calls / every) / 20e-9))
        for _ in range(CALIBRATIONS):
            work = Slowdown(case.kind, amount, every, case.program.option[0] if case.gated else "")
            try:
                guilty = _planted(yard, method, work)
                effect = min(yard.seconds("head") for _ in range(3)) / trial - 1.0
            except (ValueError, subprocess.SubprocessError):
                break
            if abs(effect / case.effect - 1.0) < 0.3:
                others = [m for m in able if m != method][:DECOYS]
                for other in others:
                    _tried(runtime, yard, other)
                callers = {a.name for (a, b) in profile.edges if b == method}
                return work, method, Truth(guilty | {method.name}, frozenset(callers))
            if effect > ENOUGH[1] and amount == 1:
                break
            amount = max(1, round(amount * min(30.0, max(0.02, case.effect / max(effect, 0.003)))))
    return None


def _planted(yard: Yard, method: Method, work: Slowdown) -> frozenset[str]:
    if work.kind in yard.runtime.prepared:
        yard.fresh("base")
        yard.runtime.plant(yard.roots["base"], method, replace(work, amount=1))
        yard.build("base")
    yard.fresh("head")
    guilty = yard.runtime.plant(yard.roots["head"], method, work)
    yard.build("head")
    return guilty


def _tried(runtime: Runtime, yard: Yard, method: Method) -> None:
    """A decoy, if the program can still be built and run with it."""
    assert method.file is not None
    file = yard.roots["head"] / method.file
    text = file.read_bytes()
    try:
        runtime.decoy(yard.roots["head"], method)
        yard.build("head")
        yard.seconds("head")
    except (ValueError, subprocess.SubprocessError):
        file.write_bytes(text)
        yard.build("head")


def _measured(pairs: np.ndarray) -> tuple[tuple[float, float], tuple[float, float]]:
    """Median seconds at base, at head by the mean ratio; its 90 % interval."""
    logs = np.log(pairs[:, 1] / pairs[:, 0])
    middle = float(stats.trim_mean(logs, 0.13))
    half = float(stats.sem(logs) * stats.t.ppf(0.95, len(logs) - 1))
    base = float(np.median(pairs[:, 0]))
    return (base, base * math.exp(middle)), (math.exp(middle - half), math.exp(middle + half))


def replay(cache: Path) -> None:
    """Scores all stored profiles again."""
    for path in sorted(RESULTS.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            kept = cache / "profiles" / f"{row['runtime']}-{row['seed']}-{int(row['same'])}.pickle"
            if "skipped" not in row and kept.exists():
                row |= score(*pickle.loads(kept.read_bytes()))  # noqa: S301 - our own
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runtime", choices=RUNTIMES, default="native")
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--same", type=int, default=20, help="cases of equal programs")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/suspects-methods")
    parser.add_argument("--results", default="", help="name of the results, of tuning say")
    parser.add_argument("--replay", action="store_true")
    asked = parser.parse_args()
    end = time.monotonic() + asked.seconds
    if asked.replay:
        replay(asked.cache)
    else:
        runtime: Runtime = importlib.import_module(f"benchmarks.methods.{asked.runtime}").RUNTIME
        if not (asked.cache / runtime.name / "installed").exists():
            runtime.install(asked.cache / runtime.name)
            (asked.cache / runtime.name / "installed").touch()
        path = RESULTS / f"{runtime.name}{asked.results}.jsonl"
        path.parent.mkdir(exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        known = {(row["seed"], row["same"]) for row in map(json.loads, lines)}
        wanted = [(asked.seed + i, False) for i in range(asked.cases)]
        wanted += [(asked.seed + i, True) for i in range(asked.same)]
        with one_thread():
            for seed, same in wanted:
                if (seed, same) in known or time.monotonic() > end:
                    continue
                row = play(runtime, seed, asked.cache, same=same)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    text = table.markdown(RESULTS)
    (RESULTS / "table.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
