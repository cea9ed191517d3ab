"""A program's time on each machine that has a fingerprint, from the trials that history has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from bot.flows.ports import Store
from bot.model.history import OUTCOMES, Measurements, Selection, canonical
from bot.model.machines import EVENT_KERNELS, VALID, Machine

ROUNDS = 200
EXACT = 1e-10
Cell = tuple[str, str, str]
"""Revision, configuration and workload: the same work on every machine."""


@dataclass(frozen=True)
class Fingerprinted:
    """A machine, when it was stressed, and the rates of each stressor, (repetitions,)."""

    machine: Machine
    taken: datetime
    rates: Mapping[str, NDArray[np.float64]]


def fingerprints(store: Store) -> Iterator[Fingerprinted]:
    """All that history has.

    Raises:
        HistoryError: the history cannot be read.
    """
    for part in store.fingerprints():
        for machine, record, rates in part.machines():
            yield Fingerprinted(machine, record.started, rates)


@dataclass
class MachineTimes:
    """Mean logarithm of the seconds of each cell on each machine, and the machines' newest fingerprints."""

    tool: str = ""
    fingerprints: dict[Machine, Fingerprinted] = field(default_factory=dict)
    cells: dict[Cell, dict[Machine, float]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    newest: dict[str, datetime] = field(default_factory=dict)
    """Of each revision, when the last run that measured it began."""
    notes: list[str] = field(default_factory=list)

    def at(self, revision: str) -> dict[Machine, float]:
        """As `of`, of one revision."""
        return self.of(cell for cell in self.cells if cell[0] == revision)

    def of(self, cells: Iterable[Cell]) -> dict[Machine, float]:
        """Relative seconds of each machine, over cells that at least two have measured.

        A cell is as much longer on each machine as that machine is slower (least squares of logarithms).
        Machines that no chain of common cells connects with the largest group are left out.
        """
        shared = [found for cell in cells if len(found := self.cells[cell]) > 1]
        machines = _connected(shared)
        rows = [{m: y for m, y in found.items() if m in machines} for found in shared]
        place = {machine: i for i, machine in enumerate(sorted(machines))}
        rows = [found for found in rows if len(found) > 1]
        cell = np.repeat(np.arange(len(rows)), [len(found) for found in rows])
        machine = np.array([place[m] for found in rows for m in found], dtype=np.int64)
        logs = np.array([y for found in rows for y in found.values()])
        effects = np.zeros(len(place))
        for _ in range(ROUNDS):
            level = np.bincount(cell, logs - effects[machine]) / np.maximum(np.bincount(cell), 1)
            moved = np.bincount(machine, logs - level[cell] - effects[machine]) / np.bincount(machine)
            effects += moved
            if not len(moved) or np.abs(moved).max() < EXACT:
                break
        return {m: float(np.exp(effects[i])) for m, i in place.items()}

    def changes(self, base: str, head: str) -> dict[Machine, float]:
        """Of each machine head / base, the geometric mean over what both revisions ran there."""
        ratios: dict[Machine, list[float]] = defaultdict(list)
        for (revision, work, load), found in self.cells.items():
            if revision == base:
                after = self.cells.get((head, work, load), {})
                for machine in found.keys() & after.keys():
                    ratios[machine].append(after[machine] - found[machine])
        return {machine: float(np.exp(np.mean(values))) for machine, values in ratios.items()}


def machine_times(store: Store, program: str, metric: str) -> MachineTimes:
    """Joins trials with the fingerprint of their machine that is nearest in time and still valid for them.

    Fingerprints of several versions of stress-ng are never mixed: the version that most machines have is
    used.

    Raises:
        HistoryError: the history cannot be read.
    """
    known = [f for f in fingerprints(store) if f.machine.tool != EVENT_KERNELS]
    times = MachineTimes()
    versions = Counter(machine.tool for machine in sorted({f.machine for f in known}))
    if len(versions) > 1:
        times.notes.append(
            "Fingerprints of several versions are not mixed: "
            + ", ".join(f"{count} of {tool}" for tool, count in versions.most_common())
            + "; the first is used."
        )
    times.tool = versions.most_common(1)[0][0] if versions else ""
    usable = [f for f in known if f.machine.tool == times.tool]
    values: dict[Cell, dict[Machine, list[float]]] = defaultdict(lambda: defaultdict(list))
    without: set[Machine] = set()
    for part in store.scan(Selection(program=program)):
        of_run: list[Machine | None] = []
        for run in part.runs:
            near = _nearest(usable, Machine.of(run.environment, times.tool), run.started)
            of_run.append(near.machine if near else None)
            if near is None:
                without.add(Machine.of(run.environment, ""))
            elif near.machine not in times.fingerprints or (
                times.fingerprints[near.machine].taken < near.taken
            ):
                times.fingerprints[near.machine] = near
        _take(part, metric, of_run, values)
        times.labels.update({r.revision: r.label for r in part.revisions})
        for revision, run in set(zip(part.revision.tolist(), part.run.tolist(), strict=True)):
            name, began = part.revisions[revision].revision, part.runs[run].started
            times.newest[name] = max(began, times.newest.get(name, began))
    times.cells = {c: {m: float(np.mean(v)) for m, v in found.items()} for c, found in values.items()}
    if without:
        times.notes.append(
            f"Trials on {len(without)} kinds of machines have no fingerprint taken within"
            f" {VALID.days} days: `suspects profiles measure` there takes one."
        )
    return times


def _nearest(known: Sequence[Fingerprinted], machine: Machine, when: datetime) -> Fingerprinted | None:
    own = [f for f in known if f.machine == machine and abs(f.taken - when) <= VALID]
    return min(own, key=lambda f: abs(f.taken - when), default=None)


def _take(
    part: Measurements,
    metric: str,
    of_run: Sequence[Machine | None],
    values: Mapping[Cell, Mapping[Machine, list[float]]],
) -> None:
    if metric not in part.metrics:
        return
    good = (part.metric == part.metrics.index(metric)) & (part.value > 0)
    good &= part.outcome == OUTCOMES.index("ok")
    good &= np.array([machine is not None for machine in of_run])[part.run]
    names = [canonical(configuration) for configuration in part.configurations]
    for row in np.flatnonzero(good).tolist():
        machine = of_run[part.run[row]]
        if machine is not None:
            cell = (
                part.revisions[part.revision[row]].revision,
                names[part.configuration[row]],
                part.workloads[part.workload[row]],
            )
            values[cell][machine].append(float(np.log(part.value[row])))


def _connected(cells: Sequence[Mapping[Machine, float]]) -> set[Machine]:
    """The largest group of machines that common cells connect."""
    groups: list[set[Machine]] = []
    for found in cells:
        joined = set(found)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return max(groups, key=len, default=set())
