"""What events cost on this machine: kernels that each cause one kind of them, counted and timed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.adapters.processes.process import PATH, PLAIN_ENVIRONMENT, run_trusted
from bot.adapters.resources.calls import Calls
from bot.adapters.resources.simulation import Simulation
from bot.model.profiles import Target
from bot.model.resources import Count, Counted, Source

SOURCE = Path(__file__).with_name("kernels.c")
KERNELS: Mapping[str, int] = {
    "arithmetic": 40,
    "table": 60,
    "coin": 60,
    "rare": 60,
    "code": 100,
    "code-mixed": 100,
    "lookup": 60,
    "lookup-free": 80,
    "lookup-far": 40,
    "lookup-far-free": 40,
    "pages": 6,
    "areas": 25,
    "small-areas": 50,
    "files": 12,
    "more-files": 8,
    "pipe": 60,
    "wake": 60,
    "ask": 100,
    "ping-pong": 20,
}
"""Kernels and the rounds that take some 40 ms. None uses the network: trials have none either."""
CALLING = frozenset(
    {"pages", "areas", "small-areas", "files", "more-files", "pipe", "wake", "ask", "ping-pong"}
)
"""Those that make system calls."""
START: Mapping[str, str] = {"lookup-free": "lookup", "lookup-far-free": "lookup-far"}
"""Whose start is the same: these fill memory before their rounds. The others start as `ask` does."""
TIMES = 3
"""Each is timed so often, and the middle one counts: other work of the machine is typical too."""
COUNTED = 3
"""Rounds of a counted run; what a run of none counts, the start, is taken off."""

Run = tuple[Mapping[Count, float], float]


def timed_kernels(
    scratch: Path, *, stop: Callable[[], bool], seconds: float = 30.0
) -> tuple[Sequence[Run], Sequence[str]]:
    """(counts, CPU seconds) of each kernel, and what a reader must know; no runs where there is no compiler.

    scratch: a folder that is ours. seconds: of wall time; kernels that no time is left for are left out.
    Everything runs as ourselves: the kernels are our own.
    """
    until = time.monotonic() + seconds
    compiler = shutil.which("cc", path=PATH)
    if compiler is None:
        return (), ("There is no compiler for calibration kernels: unit costs of events are typical ones.",)
    program = scratch / "kernels"
    done = run_trusted([compiler, "-O2", "-o", str(program), str(SOURCE)])
    if done.code != 0:
        return (), ("The calibration kernels could not be compiled: unit costs of events are typical ones.",)
    kernels = _Kernels(program)
    runs: list[Run] = []
    for name, rounds in KERNELS.items():
        if stop() or time.monotonic() > until:
            return runs, (f"Only {len(runs)} of {len(KERNELS)} calibration kernels could be run in time.",)
        if (run := kernels.run(name, rounds)) is not None:
            runs.append(run)
    return runs, ()


class _Kernels:
    """Runs of the compiled kernels, and what their starts count."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._calls = Calls()
        self._starts: dict[tuple[Source, str], Counted] = {}

    def run(self, name: str, rounds: int) -> Run | None:
        """One kernel; None: it, or what counts it, failed here."""
        timed = []
        for _ in range(TIMES):
            done = run_trusted([str(self._program), name, str(rounds)], cwd=self._program.parent)
            said = done.output.split()
            if done.code != 0 or len(said) != len(("seconds", "faults", "switches")):
                return None
            timed.append([float(number) for number in said])
        seconds, faults, switches = sorted(timed)[TIMES // 2]
        counts: dict[Count, float] = {"page_faults": faults, "waits": switches}
        sources: tuple[Source, ...] = ("simulation", "calls") if name in CALLING else ("simulation",)
        for source in sources:
            start = START.get(name, name if name in START.values() else "ask")
            if (source, start) not in self._starts:
                self._starts[source, start] = self._count(source, start, 0)
            before, after = self._starts[source, start], self._count(source, name, COUNTED)
            if not (before.ok and after.ok):
                return None
            for count, number in after.counts.items():
                counts[count] = max(0.0, number - before.counts[count]) * rounds / COUNTED
        return counts, seconds

    def _count(self, source: Source, name: str, rounds: int) -> Counted:
        folder = self._program.parent
        words = (str(self._program), name, str(rounds))
        target = Target(words, dict(PLAIN_ENVIRONMENT), folder, folder, folder, one_core=True)
        return Simulation().count(target) if source == "simulation" else self._calls.trace(target)
