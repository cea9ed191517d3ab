"""Histories of a program that ran on a fleet of unlike machines whose speeds are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from bot.model.history import Measurements, RunRecord, program_fingerprint
from bot.model.machines import FingerprintTable, Stressed
from bot.model.recording import Recorder
from bot.model.report import Environment, RevisionRef
from bot.model.space import Space
from bot.model.subject import CallableProgram, FlagOption, Subject
from bot.model.trials import Trial
from tests.flows.nights import MemoryStore

BEGAN = datetime(2026, 1, 5, 3, tzinfo=UTC)
SUBJECT = Subject(
    program=CallableProgram(callable="m:f", revisions=9),
    options={name: FlagOption(flag=f"--{name}") for name in ("fast", "deep")},
)
SPACE: Space = SUBJECT.space
PROGRAM = program_fingerprint(SUBJECT)
STRESSORS = ("cpu", "matrix", "cache", "stream", "msync", "mmap", "null", "sock")
TOOL = "stress-ng 0.15.06"
BASE, HEAD = RevisionRef(revision="a" * 40, label="v1"), RevisionRef(revision="b" * 40, label="v2")


class Fleet:
    """Machines of unlike hardware; each stressor's rate is independent of the others'."""

    def __init__(self, machines: int = 12, *, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.rates = np.exp(self.rng.normal(5, 0.5, (machines, len(STRESSORS))))
        self.store = MemoryStore()

    def environment(self, machine: int) -> Environment:
        return Environment(cpu=f"processor {machine}", cores=4, kernel="6.1")

    def record(self, machine: int, *, days: float = 0.0, run: str = "run") -> RunRecord:
        return RunRecord(
            id=f"{run}-{machine}-{days}",
            mode="nightly",
            started=BEGAN + timedelta(days=days),
            program=PROGRAM,
            environment=self.environment(machine),
        )

    def fingerprint(
        self,
        machines: Sequence[int] | None = None,
        *,
        days: float = 0.0,
        tool: str = TOOL,
        faster: float = 1.0,
    ) -> None:
        """Stresses machines (None: all)."""
        for machine in range(len(self.rates)) if machines is None else machines:
            rates = {
                name: (faster * rate * np.exp(self.rng.normal(0, 0.005, 3))).tolist()
                for name, rate in zip(STRESSORS, self.rates[machine], strict=True)
            }
            run = self.record(machine, days=days, run="machine")
            self.store.append_fingerprints(FingerprintTable.of(Stressed(tool, rates), run))

    def run(
        self,
        machine: int,
        needs: Mapping[str, float],
        revision: RevisionRef = BASE,
        *,
        configurations: Sequence[tuple[bool, bool]] = ((False, False), (True, False)),
        days: float = 1.0,
        noise: float = 0.01,
    ) -> Measurements:
        """Trials of a program that spends these seconds as stressors do on a middling machine."""
        middle = np.exp(np.log(self.rates).mean(axis=0))
        seconds = sum(
            amount * middle[STRESSORS.index(name)] / self.rates[machine, STRESSORS.index(name)]
            for name, amount in needs.items()
        )
        recorder = Recorder()
        for fast, deep in configurations:
            for _ in range(3):
                value = float(seconds * (1 + fast + 3 * deep) * np.exp(self.rng.normal(0, noise)))
                recorder.trial(Trial("ok", {"cpu": value}), revision, SPACE.as_dict((fast, deep)))
        recorder.trial(Trial("timeout"), revision, SPACE.as_dict((True, True)))
        return recorder.measurements(self.record(machine, days=days, run=f"run-{revision.label}"))

    def measure(self, needs: Mapping[str, float], revision: RevisionRef = BASE, *, days: float = 1.0) -> None:
        """Runs the program on every machine."""
        for machine in range(len(self.rates)):
            self.store.append(self.run(machine, needs, revision, days=days))
