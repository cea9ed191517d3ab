"""Heads whose cause is known: a program with work of one class at base, and 5 to 30 % more of it at head."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.resources.subjects import SUBJECTS, DirectBench, Subject, prepare, target, usage
from bot.analysis.resources.naming import LEAST_EVENTS, Named, named
from bot.analysis.resources.unit_costs import PRIOR
from bot.flows.resources.counting import TRACED, ResourceCounting, Runs
from bot.model.resources import FEATURE_OF, SOURCE_OF, Count, Source
from bot.model.trials import Side

RESULTS = Path(__file__).with_name("results")
TUNING = 1000
"""Seeds below were for tuning."""
GROWTH = (0.05, 0.30)
"""Of a class, in the prior cost of its events."""
SHARES = (0.10, 0.40)
"""Of a base's prior cost, that the class has at least: what never costs much is nobody's cause."""
COMPARABLE = 3.0
"""Two causes at once cost within this factor of each other: a share below .15 is never named."""
ENOUGH = 2 * LEAST_EVENTS
"""Events that a class grows by at least: what happens a few times is not named, however dear."""
TINY = 1e-9
"""Seconds that the time moved by: nothing is timed here, so no name is ruled out by what was measured."""
FILLING = 0.0105
"""Seconds that misses cost of filling the 64 MB on which memory's work is done."""
PAIRS = 3
"""Trials of each side whose free counts are known, as from pairs; a pull request has more."""
EVENTS: Mapping[str, Mapping[str, Mapping[Count, float]]] = {
    "c": {
        "cpu": {"instructions": 13.0},
        "branch": {"branch_misses": 0.5},
        "icache": {"instruction_misses": 2.0},
        "cache": {"first_misses": 1.0},
        "memory": {"last_misses": 0.8},
        "vm": {"page_faults": 16.0, "memory_calls": 3.0},
        "filesystem": {"filesystem_calls": 3.0},
        "network": {"network_calls": 2.0},
        "ipc": {"ipc_calls": 2.0},
        "syscall-other": {"other_calls": 1.0},
        "blocked": {"waits": 1.0},
    },
    "python": {
        "cpu": {"instructions": 300.0},
        "cache": {"first_misses": 1.0},
        "memory": {"last_misses": 1.0},
        "vm": {"page_faults": 16.0, "memory_calls": 2.0},
        "filesystem": {"filesystem_calls": 3.0},
        "network": {"network_calls": 2.0},
        "ipc": {"ipc_calls": 2.0},
        "syscall-other": {"other_calls": 1.0},
        "blocked": {"waits": 1.0},
    },
}
"""Events of its own class that a unit of planted work has, by how it is planted (planted/work.*)."""
Free = Mapping[Side, Sequence[Mapping[Count, float]]]


@dataclass(frozen=True)
class Head:
    """A drawn case: planted work at both sides; faster: head has less of it."""

    program: str
    causes: tuple[str, ...]
    growth: tuple[float, ...]
    faster: bool
    base: Mapping[str, int]
    head: Mapping[str, int]


class Yard:
    """Folders of base and head, and what programs count by themselves."""

    def __init__(self, place: Path) -> None:
        self.folders: dict[Side, Path] = {"base": place / "base", "head": place / "head"}
        for folder in self.folders.values():
            prepare(folder)
        self._own: dict[str, dict[Count, float]] = {}
        self._starts: dict[tuple[str, Source], Any] = {}

    def bench(self, subject: Subject, base: Mapping[str, int], head: Mapping[str, int]) -> DirectBench:
        """Counts the program with this planted work; its interpreter's start is counted once in all."""
        return _Remembering(
            target(subject, self.folders["base"], base), target(subject, self.folders["head"], head),
            starts=self._starts, name=subject.name if subject.kind != "python" else "python",
        )  # fmt: skip

    def own(self, subject: Subject) -> Mapping[Count, float]:
        """Counts of the program without planted work."""
        if subject.name not in self._own:
            bench = self.bench(subject, {}, {})
            counts = usage(bench, "base")
            for source in TRACED:
                counts |= bench.count("base", (), source).counts
            self._own[subject.name] = counts
        return self._own[subject.name]


class _Remembering(DirectBench):
    def __init__(self, base: Any, head: Any, *, starts: dict[tuple[str, Source], Any], name: str) -> None:
        super().__init__(base, head)
        self._starts, self._name = starts, name

    def start_up(self, side: Side, source: Source, *, seconds: float = 1e9) -> Any:
        key = self._name, source
        if key not in self._starts:
            self._starts[key] = super().start_up(side, source, seconds=seconds)
        return self._starts[key]


def draw(yard: Yard, rng: np.random.Generator, *, causes: int, programs: Sequence[str]) -> Head:
    """A program, classes, by how much they grow, and whether base or head has more."""
    subject = SUBJECTS[programs[int(rng.integers(len(programs)))]]
    events = EVENTS["python" if subject.kind == "python" else "c"]
    own = yard.own(subject)
    kinds = sorted(events)
    if subject.kind == "own":  # a program of all classes, by chance
        base = {kind: round(10 ** rng.uniform(-3.0, -2.0) / _cost(events[kind])) for kind in kinds}
    else:
        base = {}
    while True:
        chosen = [kinds[i] for i in rng.permutation(len(kinds))[:causes]]
        growth = [float(rng.uniform(*GROWTH)) for _ in chosen]
        before, more = dict(base), {}
        for kind, grown in zip(chosen, growth, strict=True):
            planted = sum(_cost(events[k]) * n for k, n in base.items())
            whole = sum(PRIOR[count] * n for count, n in own.items()) + planted
            unit = _cost(events[kind])
            there = sum(PRIOR[c] * n for c, n in own.items() if FEATURE_OF[c] == kind)
            there += FILLING * (kind == "memory")  # what filling its buffer misses
            wanted = float(rng.uniform(*SHARES)) * whole
            before[kind] = max(before.get(kind, 0), round((wanted - there) / unit), 1)
            more[kind] = round(grown * (there + before[kind] * unit) / unit)
        spent = [more[kind] * _cost(events[kind]) for kind in chosen]
        seen = min(more[kind] * max(events[kind].values()) for kind in chosen)
        if max(spent) <= COMPARABLE * min(spent) and seen >= ENOUGH:
            break
    after = {kind: n + more.get(kind, 0) for kind, n in before.items()}
    faster = bool(rng.integers(2))
    sides = (after, before) if faster else (before, after)
    return Head(subject.name, tuple(chosen), tuple(growth), faster, *sides)


def _cost(events: Mapping[Count, float]) -> float:
    return sum(PRIOR[count] * n for count, n in events.items())


def counted(bench: DirectBench, *, sign: float, until: float = 1e9, alone: float = 0.0) -> tuple[Runs, Free]:
    """Counts as a pull request does: free ones of pairs, base twice and head once, more where in doubt.

    until: on the bench's clock. alone: seconds of an ordinary trial.
    """
    free: dict[Side, list[Mapping[Count, float]]] = {"base": [], "head": []}
    for number in range(2 * PAIRS):
        side: Side = "base" if (number + number // 2) % 2 else "head"
        free[side].append(usage(bench, side))
    runs = Runs(())

    def doubtful(source: Source) -> bool:
        return any(one.doubtful and SOURCE_OF[one.count] == source for one in judged(runs, free, sign).counts)

    ResourceCounting(bench, bench.elapsed, until).count(runs, alone, doubtful)
    return runs, free


def judged(runs: Runs, free: Free, sign: float) -> Named:
    """The product's rule with prior costs."""
    base, head = ([*free[side], *runs.counts(side)] for side in cast("tuple[Side, ...]", ("base", "head")))
    return named(base, head, costs=PRIOR, change=sign * TINY, start_up=runs.start_up)


def stored(runs: Runs, free: Free) -> dict[str, Any]:
    """All counts, for JSON."""
    sides: tuple[Side, ...] = ("base", "head")
    return {
        **{side: [*map(dict, free[side]), *map(dict, runs.counts(side))] for side in sides},
        "start_up": dict(runs.start_up),
    }


def again(kept: Mapping[str, Any], sign: float) -> Named:
    """The rule once more on stored counts."""
    return named(kept["base"], kept["head"], costs=PRIOR, change=sign * TINY, start_up=kept["start_up"])


def cases(
    yard: Yard, path: Path, *, causes: int, programs: Sequence[str], seeds: range, seconds: float
) -> None:
    """Counts the heads of these seeds that `path` has not yet, for so many seconds at most."""
    for seed in missing(path, seeds, seconds):
        head = draw(yard, np.random.default_rng(seed), causes=causes, programs=programs)
        bench = yard.bench(SUBJECTS[head.program], head.base, head.head)
        sign = -1.0 if head.faster else 1.0
        runs, free = counted(bench, sign=sign)
        keep(path, {"seed": seed, **head.__dict__, "seconds": bench.spent, "counts": stored(runs, free)})
        names = [one.feature for one in judged(runs, free, sign).features]
        print(seed, head.program, head.causes, "->", names, f"{bench.spent:.0f} s", flush=True)


def missing(path: Path, seeds: range, seconds: float) -> Iterator[int]:
    """Seeds of which `path` has no case yet, until so many seconds are over."""
    known = {kept["seed"] for kept in read(path)}
    began = time.monotonic()
    for seed in seeds:
        if seed not in known and time.monotonic() - began <= seconds:
            yield seed


def keep(path: Path, case: Mapping[str, Any]) -> None:
    """Adds a case to those that are stored."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(case) + "\n")


def publish(name: str, text: str, seeds: range) -> None:
    """Prints a table; it is one of the results if its seeds are fresh."""
    print(text)
    if seeds.start >= TUNING:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / name).write_text(text, encoding="utf-8")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Stored cases."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)
