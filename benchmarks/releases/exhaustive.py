"""Bisects releases of programs of which others measured every configuration, and compares with all of them.

python -m benchmarks.releases.exhaustive CLONE [--systems z3 VP9] [--trials 320] [--seed 0]

CLONE: of github.com/ChristianKaltenecker/PerformanceEvolution_Website (Kaltenecker and others, "Performance
Evolution of Configurable Software Systems: An Empirical Study", 2023), which is not ours to copy: means of
five runs, and deviations, by which each trial is noisy here. A release moved when a tenth of the
configurations moved by 5 % and by three standard errors or more; it is told when a change point lies there.
A name is wrong when of its configurations fewer than a quarter moved as it says, and rather with it than
without it.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from bot.adapters.processes.threads import one_thread
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Configuration, Option, Space, Value
from bot.sampling.constraints import ConstraintSolver

SYSTEMS = (
    *("FastDownward", "HSQLDB", "MariaDB", "MySQL", "OpenVPN", "PostgreSQL"),
    *("VP8", "VP9", "brotli", "lrzip", "z3"),
)
METRIC, REVISION = "performance", "revision"
OTHERS = re.compile(r"performance|revision|cpu|size|energy|memory|\w+-(energy|power)")
MOST_NOISE, NOISE = 0.1, 0.01
"""Deviations are at most so large; and so large where none was recorded."""
THRESHOLD, MOVED, SHOWN = 0.05, 0.1, 0.25
RUNS, CLEAR = 5, 3.0
"""Of each mean; standard errors from which on a configuration moved."""

Row = Mapping[str, str]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Recorded:
    """A system: seconds and relative deviations by configuration and release."""

    space: Space
    releases: tuple[str, ...]
    seconds: Mapping[Configuration, Mapping[int, float]]
    noise: Mapping[tuple[Configuration, int], float]

    def moves(self, release: int) -> tuple[list[Configuration], Floats, Floats]:
        """Configurations measured before and after a release, their log moves, and these' standard errors."""
        known = [c for c, at in self.seconds.items() if {release - 1, release} <= at.keys()]
        ratios = [self.seconds[c][release] / self.seconds[c][release - 1] for c in known]
        noise = [[self.noise.get((c, at), NOISE) for at in (release - 1, release)] for c in known]
        return known, np.log(np.array(ratios, dtype=np.float64)), np.linalg.norm(noise, axis=1) / RUNS**0.5


def read(folder: Path) -> Recorded:
    """A system's folder of the clone."""
    rows, spread = (_rows(folder / f"{name}.csv") for name in ("measurements", "deviations"))
    options, takers = _options(rows, ElementTree.parse(folder / "FeatureModel.xml").getroot())
    releases = sorted({row[REVISION] for row in rows}, key=lambda r: [int(x) for x in re.findall(r"\d+", r)])

    def cell(row: Row) -> tuple[Configuration, int]:
        return tuple(take(row) for take in takers), releases.index(row[REVISION])

    seconds: dict[Configuration, dict[int, float]] = defaultdict(dict)
    for (configuration, release), row in zip(map(cell, rows), rows, strict=True):
        seconds[configuration][release] = float(row[METRIC])
    noise = {cell(row): min(float(row[METRIC] or NOISE), MOST_NOISE) for row in spread}
    return Recorded(Space(options), tuple(releases), seconds, noise)


def _rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def _options(
    rows: Sequence[Row], model: ElementTree.Element
) -> tuple[tuple[Option, ...], list[Callable[[Row], Value]]]:
    """Options of the columns: a number of `size_1` and `size_8`, a choice of alternatives, else a flag."""
    columns = [c for c in rows[0] if not OTHERS.fullmatch(c) and len({row[c] for row in rows}) > 1]
    parents, excluded = {}, {}
    for feature in model.iter("configurationOption"):
        name = feature.findtext("name", "").strip()
        parents[name] = feature.findtext("parent", "").strip()
        excluded[name] = {(each.text or "").strip() for each in feature.findall("excludedOptions/options")}
    takers: dict[str, Callable[[Row], Value]] = {}
    kinds: dict[str, Literal["flag", "choice", "number"]] = {}
    for column in columns:
        number = re.fullmatch(r"(.+)_(\d+)", column)
        parent = parents.get(column, "")
        beside = [c for c in columns if c in excluded.get(column, ()) and parents.get(c) == parent]
        if number:
            names = [c for c in columns if re.fullmatch(rf"{re.escape(number[1])}_\d+", c)]
            takers[number[1]], kinds[number[1]] = partial(_number, name=number[1], names=names), "number"
        elif beside:
            group = sorted([column, *beside])
            name = parent if parent in columns else "_or_".join(group)
            takers[name], kinds[name] = partial(_chosen, names=group), "choice"
        elif column not in takers:
            takers[column], kinds[column] = partial(_on, name=column), "flag"
    options = []
    for name, take in takers.items():
        values = tuple(sorted({take(row) for row in rows}))
        options.append(Option(name, kinds[name], values, values[0]))
    return tuple(options), list(takers.values())


def _number(row: Row, name: str, names: Sequence[str]) -> int:
    if names[0] not in row:  # some deviations have one column of it
        return int(row[name])
    return next((int(x.rpartition("_")[2]) for x in names if row[x] == "1"), 0)


def _chosen(row: Row, names: Sequence[str]) -> str:
    return next((name for name in names if row[name] == "1"), "none")


def _on(row: Row, name: str) -> bool:
    return row[name] == "1"


def bisected(system: Recorded, trials: int, seed: int) -> tuple[int, Sequence[ChangePoint]]:
    """Trials that a search took, and what it tells."""
    solver, noise = ConstraintSolver(system.space), np.random.default_rng([seed, 1])
    search = ShortRangeFinder(
        system.space,
        len(system.releases),
        solver,
        rng=np.random.default_rng(seed),
        candidates=list(system.seconds),
        threshold=THRESHOLD,
    )

    def observed(probe: Probe) -> Observation:
        seconds = system.seconds[probe.configuration].get(probe.revision, np.nan)
        deviation = system.noise.get((probe.configuration, probe.revision), NOISE)
        return Observation(probe, seconds * float(np.exp(deviation * noise.standard_normal())))

    taken = 0
    while wished := search.wishes()[: trials - taken]:
        search.partial_fit([observed(probe) for probe in wished])
        taken += len(wished)
    return taken, search.change_points_


@dataclass(frozen=True)
class Score:
    """moved, told: releases that moved, and those of them that are told. names, wrong: of change points.

    explained: share of the squared log moves of all configurations at these releases that the names explain.
    """

    moved: int
    told: int
    names: int
    wrong: int
    explained: float


def score(system: Recorded, points: Sequence[ChangePoint]) -> Score:
    """What is told, against all configurations."""
    moved = told = wrong = 0
    whole = left = 0.0
    for release in range(1, len(system.releases)):
        known, moves, errors = system.moves(release)
        here = [p for p in points if p.revision == release]
        parts = np.array([_part(system.space, p, known) for p in here]).reshape(len(here), len(known))
        rest = moves - parts.sum(axis=0)
        if np.mean(np.abs(moves) >= np.maximum(np.log1p(THRESHOLD), CLEAR * errors)) >= MOVED:
            moved, told = moved + 1, told + bool(here)
            whole, left = whole + float(moves @ moves), left + float(rest @ rest)
        for part in parts:
            held, alone = part != 0.0, rest + part
            agree = (part * moves > 0.0) & (np.abs(rest) < np.abs(alone))
            wrong += not held.any() or float(np.mean(agree[held])) < SHOWN
    return Score(moved, told, len(points), wrong, 1.0 - left / max(whole, 1e-300))


def _part(space: Space, point: ChangePoint, known: Sequence[Configuration]) -> Floats:
    """Log moves of configurations by one change point, (n_configurations,)."""
    return np.where([point.moves(c, space) for c in known], np.log(point.ratio), 0.0)


def main() -> None:
    """Prints a row for each system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--trials", type=int, default=320)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("| system | configurations x releases | trials | releases told | names | wrong | explained |")
    print("|---|---|---|---|---|---|---|")
    for name in asked.systems:
        system = read(asked.clone / "PerformanceEvolution_Data" / name)
        with one_thread():
            taken, points = bisected(system, asked.trials, asked.seed)
        found = score(system, points)
        size = f"{len(system.seconds)} x {len(system.releases)}"
        told = f"{found.told} of {found.moved} | {found.names} | {found.wrong} | {found.explained:.2f}"
        print(f"| {name} | {size} | {taken} | {told} |", flush=True)


if __name__ == "__main__":
    main()
