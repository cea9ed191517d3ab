"""Plants slow-downs in methods of real programs, profiles both builds and asks who is to blame.

python -m benchmarks.methods.run --runtime native [--cases 24] [--same 20] [--seed 1000] [--seconds 3000]
python -m benchmarks.methods.run --replay    scores the stored profiles again, with the code as it is

Programs come from their registries into --cache (outside of the tree); profiles of each case are kept there.
Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import pickle
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.methods import table
from benchmarks.methods.cases import DECOYS, Case, Runtime, Slowdown, candidates, draw
from benchmarks.methods.scoring import Truth, claimed, score
from bot.adapters.processes.threads import one_thread
from bot.adapters.profilers.sources import bodies
from bot.analysis.methods.blame import Compared
from bot.model.profiles import Method, Profile

RESULTS = Path(__file__).with_name("results")
RUNTIMES = ("native", "python", "node", "jvm")
BASE_PROFILES, HEAD_PROFILES, DUETS, TRIED_DUETS = 2, 2, 10, 3
CORE = str(sorted(os.sched_getaffinity(0))[len(os.sched_getaffinity(0)) // 2])
"""Both trials of a duet run here."""
EVERY = 2000
"""Calls of a method that do planted work, roughly."""
UNTOUCHED_PROFILES = 6
ATTEMPTS, CALIBRATIONS = 8, 3
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

    def duets(self, count: int) -> NDArray[np.float64]:
        """CPU seconds of base and head that run at the same time, without profiler; shape (count, 2).

        Raises:
            subprocess.SubprocessError: one of them failed.
        """
        return np.array([self._duet(turn % 2 == 1) for turn in range(count)])

    def _duet(self, reverse: bool) -> list[float]:
        sides = ["head", "base"] if reverse else ["base", "head"]
        running = [
            subprocess.Popen(
                ["taskset", "-c", CORE, *self.case.words],
                cwd=self.roots[s],
                env=self.env,
                stdout=subprocess.DEVNULL,
            )
            for s in sides
        ]
        spent = {}
        for side, process in zip(sides, running, strict=True):
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status
            if status:
                raise subprocess.CalledProcessError(status, self.case.words)
            spent[side] = used.ru_utime + used.ru_stime
        return [spent["base"], spent["head"]]

    def profile(self, side: str) -> Profile:
        """One profile."""
        return self.runtime.profiler.profile(self.case.target(self.roots[side], self.scratch, self.env))


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
        duets = yard.duets(DUETS)
        texts = tuple(
            bodies(yard.roots[side], {m for p in profiles for m in p.methods})
            for side, profiles in (("base", base), ("head", head))
        )
    ratio, interval = _measured(duets)
    seconds = float(np.median(duets[:, 0])), float(np.median(duets[:, 0])) * ratio
    compared = Compared(base, head, seconds, interval, (texts[0], texts[1]))
    kept = cache / "profiles" / f"{runtime.name}-{seed}-{int(same)}.pickle"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(pickle.dumps((compared, truth)))
    row |= {"effect": ratio - 1.0, "trial": seconds[0], "seconds": time.monotonic() - began}
    return row | score(compared, truth)


def _plant(yard: Yard, profile: Profile, rng: np.random.Generator) -> tuple[Slowdown, Method, Truth] | None:
    """A slow-down of about the wanted effect in head, and decoys; None: in no method that was tried."""
    case = yard.case
    able = candidates(profile, rng)
    trial = float(np.median(yard.duets(2)))
    for method in able[:ATTEMPTS]:
        calls = profile.methods[method].calls or 1
        every = max(1, round(calls / EVERY))
        amount = max(1, round(case.effect * trial / (calls / every) / 20e-9))
        for _ in range(CALIBRATIONS):
            work = Slowdown(case.kind, amount, every, case.program.option[0] if case.gated else "")
            try:
                guilty = _planted(yard, method, work)
                effect = _measured(yard.duets(TRIED_DUETS))[0] - 1.0
            except (ValueError, subprocess.SubprocessError):
                break
            if abs(effect / case.effect - 1.0) < 0.3:
                others = [m for m in able if m != method][:DECOYS]
                if not _tried(yard, others):
                    for other in others:
                        _tried(yard, [other])
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


def _tried(yard: Yard, methods: Sequence[Method]) -> bool:
    """Decoys, if the program can still be built and run with all of them; otherwise none."""
    root = yard.roots["head"]
    texts = {file: (root / file).read_bytes() for file in {str(method.file) for method in methods}}
    try:
        for method in methods:
            yard.runtime.decoy(root, method)
        yard.build("head")
        yard.duets(1)
    except (ValueError, subprocess.SubprocessError):
        for file, text in texts.items():
            (root / file).write_bytes(text)
        yard.build("head")
        return False
    return True


def _measured(duets: NDArray[np.float64]) -> tuple[float, tuple[float, float]]:
    """Head / base: the mean of all but the extreme duets, and its 90 % interval."""
    logs = np.sort(np.log(duets[:, 1] / duets[:, 0]))
    kept = logs[1:-1]
    half = float(stats.sem(np.clip(logs, kept[0], kept[-1])) * stats.t.ppf(0.95, len(logs) - 1))
    middle = float(kept.mean())
    return math.exp(middle), (math.exp(middle - half), math.exp(middle + half))


def stored(cache: Path, row: dict[str, Any]) -> tuple[Compared, Truth] | None:
    """The profiles of a row."""
    kept = cache / "profiles" / f"{row['runtime']}-{row['seed']}-{int(row['same'])}.pickle"
    return pickle.loads(kept.read_bytes()) if kept.exists() and "skipped" not in row else None


def untouched(runtime: Runtime, number: int, cache: Path) -> None:
    """Keeps profiles of two untouched copies of a program, in turns."""
    case = Case(number, runtime.programs[number], "", 0.0, gated=False)
    with tempfile.TemporaryDirectory(prefix="methods-") as place:
        yard = Yard(runtime, case, Path(place), cache)
        seconds = float(np.median(yard.duets(TRIED_DUETS)))
        profiles = [yard.profile(("base", "head")[turn % 2]) for turn in range(UNTOUCHED_PROFILES)]
    kept = cache / "profiles" / f"{runtime.name}-{number}-untouched.pickle"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(pickle.dumps((profiles, seconds)))


def turns(profiles: Sequence[Profile], seconds: float) -> Iterator[Compared]:
    """Each profile once as head, with the two before it as base."""
    for number in range(len(profiles)):
        base = [profiles[number - 2], profiles[number - 1]]
        yield Compared(base, [profiles[number]], (seconds, seconds), (0.99, 1.01))


def replay(path: Path, cache: Path) -> None:
    """Scores all stored profiles again."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if "other" not in row]
    for kept in sorted(cache.glob(f"profiles/{path.stem}-*-untouched.pickle")):
        number = int(kept.stem.split("-")[1])
        for turn, same in enumerate(turns(*pickle.loads(kept.read_bytes()))):
            row = {"runtime": path.stem, "seed": number, "other": turn, "same": True}
            rows.append(row | {"claimed": claimed(same)})
    for row in rows:
        if (found := stored(cache, row)) is not None:
            row.update(score(*found))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runtime", choices=RUNTIMES, default="native")
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--same", type=int, default=20, help="cases of equal programs")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/suspects-methods")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--untouched", action="store_true", help="only profiles of untouched programs")
    asked = parser.parse_args()
    end = time.monotonic() + asked.seconds
    if asked.replay:
        for path in sorted(asked.results.glob("*.jsonl")):
            replay(path, asked.cache)
    else:
        runtime: Runtime = importlib.import_module(f"benchmarks.methods.{asked.runtime}").RUNTIME
        if not (asked.cache / runtime.name / "installed").exists():
            runtime.install(asked.cache / runtime.name)
            (asked.cache / runtime.name / "installed").touch()
        path = asked.results / f"{runtime.name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for number in range(len(runtime.programs) if asked.untouched else 0):
            untouched(runtime, number, asked.cache)
        known = {(row["seed"], row["same"]) for row in map(json.loads, lines) if "other" not in row}
        wanted = [(asked.seed + i, False) for i in range(asked.cases)]
        wanted += [(asked.seed + i, True) for i in range(asked.same)]
        with one_thread():
            for seed, same in wanted:
                if asked.untouched or (seed, same) in known or time.monotonic() > end:
                    continue
                row = play(runtime, seed, asked.cache, same=same)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        replay(path, asked.cache)
    text = table.markdown(asked.results)
    (asked.results / "table.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
