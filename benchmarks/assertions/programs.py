"""Mines real programs again and again: do models stay the same, how small are they, what does it cost?

python -m benchmarks.assertions.programs DIR [--program NAME ...] [--executions 5] [--budget SECONDS]

DIR keeps the programs' repositories and what each execution mined, so that a run that was stopped goes on
where it was; nothing of it belongs into the repository. Programs are built from source packages of the
distribution and of PyPI. Questions: seeds/002, section 4; scores: program_scores.py.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.assertions.program_scores import ASKED, Execution, markdown
from benchmarks.assertions.subjects import OTHER_FLAGS, PROGRAMS, USUAL, make, subject
from bot.adapters.builds.workshop import Workshop
from bot.adapters.processes.process import accounts
from bot.adapters.processes.threads import one_thread
from bot.adapters.profilers.profiling import SiteProfiler
from bot.adapters.repositories.git import Repository
from bot.adapters.trials.site_targets import SiteTargets
from bot.flows.assertions.mining import Mining
from bot.model.revisions import Comparison

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Wanted:
    """One execution: a kind (the same as the others, or with something changed) and its number."""

    program: str
    kind: str
    number: int

    @property
    def file(self) -> str:
        """What it mined is kept there."""
        return f"{self.program}-{self.kind}-{self.number}.pickle"

    @property
    def flags(self) -> str:
        """Of the compiler."""
        return (OTHER_FLAGS if self.kind == "flags" else USUAL)[self.program]

    @property
    def overhead(self) -> float:
        """That is asked for."""
        return ASKED[self.kind]


def main() -> None:
    """Mines what is missing, and writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", choices=list(PROGRAMS), nargs="*", default=list(PROGRAMS))
    parser.add_argument("--executions", type=int, default=5)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds of CPU time of one execution")
    parser.add_argument("--table", action="store_true", help="mine nothing, write the table only")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    same = [("same", number + 1) for number in range(asked.executions)]
    others = [(kind, 1) for kind in ASKED if kind != "same"]
    wanted = [
        Wanted(program, kind, number)
        for kind, number in (*same[:3], *others[:-1], *same[3:], *others[-1:])
        for program in asked.program
    ]
    with one_thread(), ExitStack() as stack:
        built: dict[tuple[str, str], Workshop] = {}
        for one in wanted if not asked.table else ():
            if (asked.folder / one.file).exists():
                continue
            key = one.program, one.flags
            if key not in built:
                built[key] = stack.enter_context(build(one, asked.folder / one.program))
            found = mine(one, built[key], budget=asked.budget)
            (asked.folder / one.file).write_bytes(pickle.dumps(found))
            write(asked.folder)
    write(asked.folder)


@contextmanager
def build(one: Wanted, place: Path) -> Iterator[Workshop]:
    """The built program."""
    if not place.exists():
        make(one.program, place)
    with tempfile.TemporaryDirectory(prefix="mining-") as folder:
        within = Path(folder)
        within.chmod(0o755)
        repository = Repository(place, within / "git")
        head = repository.resolve("HEAD", "HEAD", exact_base=True).head
        what = subject(one.program, one.flags)
        with Workshop(repository, what, accounts=accounts("auto").of, within=within) as workshop:
            builds = workshop.build(Comparison(head, head))
            assert all(done.ok for done in builds.values()), builds
            yield workshop


def mine(one: Wanted, workshop: Workshop, *, budget: float) -> Execution:
    """One execution."""
    what, never, began = subject(one.program, one.flags), threading.Event(), core_seconds()
    mined = Mining(
        SiteProfiler(SiteTargets(what, workshop.sites(), scratch=workshop.scratch, stop=never.is_set)),
        ("other" if one.kind == "load" else "usual",),
        core_seconds,
        began + budget,
        overhead=one.overhead,
        tell=lambda text: print(f"{one.file} {text}", flush=True),
    ).run()
    found = Execution(one.program, one.kind, one.number, core_seconds() - began, mined)
    print(found.told, *mined.notes, sep="\n  ", flush=True)
    return found


def core_seconds() -> float:
    """A clock that runs while a core works for us: on a machine with other work a budget buys as much."""
    return sum(os.times()[:4])


def write(folder: Path) -> None:
    """The table of all executions that were kept."""
    kept: Sequence[Execution] = [pickle.loads(file.read_bytes()) for file in sorted(folder.glob("*.pickle"))]
    if kept:
        (RESULTS / "programs.md").write_text(markdown(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
