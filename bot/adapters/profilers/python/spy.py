"""Coarse profiler: where Python code spends its time, sampled from outside by py-spy at no cost to it."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.adapters.profilers import evidence
from bot.adapters.profilers.call_tree import CallTree, tree_costs
from bot.adapters.profilers.evidence import readable_by, told
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.python.command_lines import python_start
from bot.adapters.profilers.python.injection import not_started, version_of
from bot.adapters.profilers.python.names import Naming
from bot.adapters.profilers.python.reading import Count, Text
from bot.adapters.profilers.reports import ToldMethod
from bot.adapters.reading.answers import Told
from bot.model.profiles import Method, Profile, Target, Tool
from bot.model.trials import Outcome

RATE = 500
"""Samples a second: each stops the program for some 0.1 ms."""
QUALIFIED = (3, 11)
"""From this version on Python's code knows its qualified name."""
SAMPLES, STATUS = "samples", "status"
_MOST_BYTES = 1 << 27
_Number = Annotated[int, Field(ge=-1, lt=1 << 31)]
_WAITING = """\
import os, sys
child = os.fork()
if child == 0:
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    finally:
        os._exit(127)
status = os.waitpid(child, 0)[1]
with open(sys.argv[1], "w") as file:
    file.write("%d %d" % (os.getpid(), status))
"""
"""Starts the program and writes how it ended, which py-spy does not hand on; in the syntax of any Python.

py-spy ends, and ends the program, when no Python runs any more: one that waits keeps it.
"""


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)
    name: Text
    file: Text | None = None
    line: Count | None = None


class _Shared(BaseModel):
    frames: Annotated[tuple[_Frame, ...], Field(max_length=200_000)]


class _Thread(BaseModel):
    name: Text
    samples: tuple[tuple[Count, ...], ...]


class _Samples(BaseModel):
    """The file format of speedscope, as far as needed: stacks as places in `frames`, outermost first."""

    shared: _Shared
    profiles: tuple[_Thread, ...]


class Sampled(Told):
    """What a reader tells. contexts: caller's number (-1: none), method's (-1: none), samples; callers first.

    None: py-spy left nothing that can be read. status: how the program ended, as wait(2) says it, where that
    was written.
    """

    methods: list[ToldMethod] = Field(default_factory=list)
    contexts: list[tuple[_Number, _Number, Count]] | None = None
    status: Annotated[int, Field(ge=0, lt=1 << 16)] | None = None

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Self:
        size = len(self.methods)
        if any(a >= number or m >= size for number, (a, m, _) in enumerate(self.contexts or ())):
            raise ValueError("a caller or method that is not there")
        return self

    @property
    def tree(self) -> CallTree:
        """The same in seconds."""
        named, tree = [told.method for told in self.methods], CallTree()
        for caller, method, samples in self.contexts or ():
            tree.add(caller, named[method] if method >= 0 else None, samples / RATE)
        return tree


@dataclass(frozen=True)
class _Run:
    launched: Launched
    sampled: Sampled
    failure: str = ""


class PySpy:
    """The port `Profiler`, coarse: time alone."""

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        found = _installed()
        return Tool(
            name="py-spy",
            version=found[1] if found else "none",
            grain="coarse",
            quantities=frozenset({"seconds", "edges"}),
            slowdown=1.1,
            blind=(
                f"A sample every {1000 / RATE:.0f} ms: methods of a few samples are uncertain.",
                "Calls are not counted.",
                "Threads that wait are left out as far as that can be seen from outside.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:  # noqa: ARG002
        """py-spy itself; whether the machine lets it look into processes shows when it runs."""
        return () if _installed() else ("py-spy is not installed.",)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:  # noqa: ARG002
        """One trial, sampled; `methods` is not used."""
        try:
            run = _sample(target)
        except OSError as error:
            return not_started(self.tool, error)
        outcome = _outcome(target, run)
        sampled = run.sampled
        if sampled.contexts is None or outcome == "not-started":
            why = _why(run) if sampled.contexts is None else "The program could not be started."
            return Profile(tool=self.tool, outcome=outcome, seconds=run.launched.cpu, samples=0, notes=(why,))
        tree = sampled.tree
        costs, seen = tree_costs(tree), sum(tree.own)
        notes = []
        if outcome != "ok":
            notes.append("The program, sampled, did not end well; what is there is unfinished.")
        if not costs.total:
            notes.append("py-spy saw no Python code: the program is too short, or is none.")
        version = version_of(target)
        if version is not None and version < QUALIFIED:
            notes.append("Names lack their class: this Python's code does not know it (before 3.11).")
        return Profile(
            tool=self.tool,
            outcome=outcome,
            seconds=run.launched.cpu,
            methods=costs.methods(seen=seen),
            edges=costs.edge_costs(),
            samples=round(seen * RATE),
            notes=tuple(notes),
        )


@cache
def _installed() -> tuple[Path, str] | None:
    """py-spy's program and version, from our own environment."""
    try:
        package = metadata.distribution("py-spy")
    except metadata.PackageNotFoundError:
        return None
    places = (Path(str(package.locate_file(file))) for file in package.files or () if file.name == "py-spy")
    program = next((place for place in places if place.is_file()), None)
    return (program, package.version) if program else None


def _sample(target: Target) -> _Run:
    found = _installed()
    folder = evidence.folder_for(target, "py-spy")
    # A copy: the trial's account may not be able to enter our own environment.
    spy = folder / "py-spy"
    if found is not None:
        shutil.copyfile(found[0], spy)
        spy.chmod(0o755)
    options = (
        "--rate",
        str(RATE),
        "--format",
        "speedscope",
        "--full-filenames",
        "--function",
        "--subprocesses",
    )
    output, status = folder / SAMPLES, folder / STATUS
    start = python_start(target)
    waiting = (start.interpreter if start else "python3", "-E", "-S", "-c", _WAITING, str(status))
    program = (*waiting, *target.words)
    words = (str(spy), "record", *options, "--output", str(output), "--", *program)
    launched = launch(target, words, env={"RUST_BACKTRACE": "0"}, slowdown=1.5)
    try:
        files = [folder, *readable_by(target)]
        return _Run(launched, told(target, tell_samples, folder, target.root, str(target.cwd), files=files))
    except OSError as error:
        return _Run(launched, Sampled(), f"What py-spy left could not be read: {error}.")


def tell_samples(folder: Path, root: Path, cwd: str) -> Sampled:
    """A reader: the contexts that were sampled, but those of the process that only waits for the program."""
    ended = re.fullmatch(r"(\d{1,10}) (\d{1,5})", _text(folder / STATUS))
    status = int(ended[2]) if ended and int(ended[2]) < 1 << 16 else None
    samples = _read(folder / SAMPLES)
    if samples is None:
        return Sampled(status=status)
    waiting = f"Process {ended[1] if ended else None} "
    naming, numbers = Naming(root, cwd), dict[Method, int]()
    places = []
    for frame in samples.shared.frames:
        method = naming.method(frame.file, frame.line or 0, frame.name) if frame.file else None
        places.append(-1 if method is None else numbers.setdefault(method, len(numbers)))
    known: dict[tuple[int, int], int] = {}
    counts = Counter[int]()
    for stack in (s for t in samples.profiles if not t.name.startswith(waiting) for s in t.samples):
        context = -1
        for place in stack:
            context = known.setdefault((context, place), len(known))
        counts[context] += 1
    return Sampled(
        methods=[ToldMethod(method.name, method.file, method.line) for method in numbers],
        contexts=[(caller, places[place], counts[number]) for (caller, place), number in known.items()],
        status=status,
    )


def _read(path: Path) -> _Samples | None:
    try:
        samples = _Samples.model_validate_json(evidence.read_file(path, most=_MOST_BYTES))
    except (OSError, ValidationError):
        return None
    size = len(samples.shared.frames)
    if any(place >= size for thread in samples.profiles for stack in thread.samples for place in stack):
        return None
    return samples


def _text(path: Path) -> str:
    try:
        return evidence.read_file(path, most=64).decode("ascii", "replace").strip()
    except OSError:
        return ""


def _outcome(target: Target, run: _Run) -> Outcome:
    """How the program ended, as far as py-spy left that to be seen."""
    if run.launched.outcome in ("timeout", "cut"):
        return run.launched.outcome
    if run.failure:
        return run.launched.outcome
    if run.sampled.status is None:
        return "not-started"
    if os.WIFSIGNALED(run.sampled.status):
        return "signal"
    code = os.WEXITSTATUS(run.sampled.status)
    if code in target.ok_exit:
        return "ok"
    return "not-started" if code in (126, 127) else "exit"


def _why(run: _Run) -> str:
    """py-spy's own words, where it left any."""
    if run.failure:
        return run.failure
    told = [line for line in run.launched.ended.log.splitlines() if line.startswith("Error:")]
    if told and "ermission" in told[-1]:
        return "py-spy may not look into other processes here (ptrace is forbidden)."
    return "py-spy left no samples that can be read."
