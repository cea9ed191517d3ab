"""Frida: the duration of each call of a few functions of a program as it is, where uftrace cannot watch."""

from __future__ import annotations

import atexit
import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.processes.confine import NO_SUCH_COMMAND
from bot.adapters.profilers.evidence import folder_for, lines, told
from bot.adapters.profilers.launching import Launched, ask, launch
from bot.adapters.profilers.native import frida_session
from bot.adapters.profilers.native.functions import Functions
from bot.adapters.profilers.native.recordings import FridaEnd, read_frida
from bot.adapters.profilers.native.running import unhookable
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.sampling import preloadable, program_of
from bot.adapters.profilers.native.series import Bias
from bot.adapters.profilers.native.tracing import as_the_program, calibrate, doubts, listed, traced
from bot.adapters.profilers.native.uftrace_file import Recording
from bot.adapters.profilers.native.watching import Watch, find
from bot.model.profiles import Method, Profile, Target, Tool

SLOWDOWN = 10.0
SECONDS_PER_CALL = 500e-9
"""Until this machine has been calibrated."""
STARTS = 30.0
"""Seconds that Frida may take until the program runs, on a machine that has other work."""
BLIND = (
    "Calls that the compiler inlined are not seen.",
    "Functions that are too short for a jump, or call another at once, are not watched.",
    "Processes that the program starts, and its last 10 ms before it becomes another program, are not seen.",
    "What a call waited for is in its duration.",
)

_INSTALLED = find_spec("frida")
_FILES = ("frida_session.py", "frida_agent.js", "frida_hooks.c")


class FridaWatcher:
    """Fits the port `Profiler`: watches the methods it is given, where uftrace cannot."""

    def __init__(self) -> None:
        self._bias: Bias | None = None

    @property
    def tool(self) -> Tool:
        """Once it has been used, its cost for each call is this machine's."""
        return fine_tool(self._bias)

    def missing(self, target: Target) -> Sequence[str]:
        """Frida, a processor that its hooks are written for, and a program that can load its library."""
        name = target.words[0].rpartition("/")[2]
        why = [f"`{name}` {what}" for what in unhookable(target, program_of(target))]
        return (*lacking(), *preloadable(target, "Frida"), *why)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial in which these methods are watched."""
        functions = Functions(target)
        watch = find(functions, target, methods)
        notes = doubts(watch)
        if not watch.symbols:
            return Profile(self.tool, "not-started", 0.0, notes=(*notes, "There is no function to watch."))
        try:
            bias = self.bias(target)
            launched, recording = _record(target, functions, watch)
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(*notes, f"Frida could not run: {error}."))
        found = traced(functions, recording, bias, wanted=set(methods))
        return Profile(
            self.tool,
            launched.outcome,
            launched.cpu,
            found.methods,
            series=found.series,
            notes=(
                *notes,
                *([] if launched.outcome == "ok" else [launched.ended.reason("The program under Frida")]),
                *recording.notes,
                *limits(bias, found.short, recording),
                *functions.notes,
            ),
        )

    def bias(self, target: Target) -> Bias:
        """What the hooks themselves take on this machine, measured once with an empty function."""
        if self._bias is None:

            def record(here: Target, watch: Watch) -> Recording:
                return _record(here, Functions(here), watch)[1]

            self._bias = calibrate(target, record) or Bias()
        return self._bias


def fine_tool(bias: Bias | None) -> Tool:
    """Frida as a fine tool; bias: what was measured, if it was."""
    return Tool(
        "frida",
        metadata.version("frida") if _INSTALLED else "none",
        "fine",
        frozenset({"calls", "seconds", "durations"}),
        seconds_per_call=SECONDS_PER_CALL if bias is None else bias.own + bias.below,
        bias=0.0 if bias is None else bias.expected,
        left=1.0 if bias is None else bias.left,
        blind=BLIND,
    )


def lacking() -> Sequence[str]:
    """What stands in the way of Frida on this machine."""
    if platform.machine() != "x86_64":
        return ("Frida watches calls on x86_64 only.",)
    return () if _INSTALLED else ("`frida` is not installed: no durations of calls of programs as they are.",)


def limits(bias: Bias, short: Sequence[Method], recording: Recording) -> Sequence[str]:
    """What a reader must know about durations that were recorded."""
    notes = []
    if bias == Bias():
        notes.append("What Frida itself takes was not measured (no C compiler): durations contain it.")
    if short:
        notes.append(f"Calls are too short to be timed by Frida, and only counted: {listed(short)}.")
    if recording.lost:
        notes.append(f"Frida lost {recording.lost} calls: they came faster than they could be read.")
    return notes


def places(functions: Functions, watch: Watch, first: int = 1) -> Mapping[int, Spot]:
    """The functions to watch, numbered: path as mapped, bytes from where the object file begins in memory."""
    spots = [
        Spot(path, start - functions.object(path).base)
        for path, symbols in watch.symbols.items()
        for starts in functions.object(path).addresses(symbols).values()
        for start in starts
    ]
    return dict(enumerate(dict.fromkeys(spots), first))


def unhooked(functions: Functions, refused: Sequence[Spot]) -> Sequence[str]:
    """A note on functions that have no room for a hook."""
    known = functions.methods(functions.linked(spot.path, spot.offset) for spot in refused)
    named = sorted({k.method for k in known.values()})
    return [f"There is no room for Frida's hooks in {listed(named)}: not watched."] if named else []


def _record(target: Target, functions: Functions, watch: Watch) -> tuple[Launched, Recording]:
    """One trial under Frida, and what its hooks recorded.

    Raises:
        OSError: there is no place for it, or Frida said why it cannot watch.
    """
    spots = places(functions, watch)
    folder = folder_for(target, "frida")
    try:
        for name in _FILES:
            shutil.copyfile(Path(__file__).with_name(name), folder / name)
        (folder / frida_session.FUNCTIONS).write_text(json.dumps(spots), encoding="utf-8")
        # Frida leaves files where temporary ones go: there they are removed.
        python = ["env", f"TMPDIR={folder}", *_python(target, folder / _FILES[0], folder)]
        words = [*python, target.env.get("TMPDIR", ""), *target.words]
        launched = launch(target, words, slowdown=SLOWDOWN + STARTS / target.timeout)
        read = told(target, read_frida, folder, spots, files=[folder])
    finally:
        checkout.remove(folder)
    end, recording = read.end, read.calls.recording
    if end is None:
        recording.notes.append("What Frida recorded last is missing: it was ended, too.")
        return launched, recording
    if end.status is None or (end.status >> 8 == NO_SUCH_COMMAND and not recording.nodes):
        raise OSError(end.error or "there is no such program")
    recording.notes += [f"A program was not watched: {error}." for error in end.errors]
    recording.notes += unhooked(functions, [spots[number] for number in end.refused if number in spots])
    return _ended(launched, end, target), recording


def _python(target: Target, script: Path, folder: Path) -> list[str]:
    """A Python with Frida that the trial's account may use: our own, or the machine's with a copy."""
    if _usable(target):
        return [sys.executable, "-I", str(script), str(folder), ""]
    return ["python3", "-I", str(script), str(folder), str(_copied())]


def _usable(target: Target) -> bool:
    try:
        ask(target, [sys.executable, "-I", "-c", "import frida"], b"", lines)
    except OSError:
        return False
    return True


@cache
def _copied() -> Path:
    """A folder with a copy of Frida that every account may read, until we end."""
    assert _INSTALLED is not None and _INSTALLED.origin is not None
    folder = Path(tempfile.mkdtemp(prefix="frida-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    shutil.copytree(
        Path(_INSTALLED.origin).parent, folder / "frida", ignore=shutil.ignore_patterns("__pycache__")
    )
    return folder


def _ended(launched: Launched, end: FridaEnd, target: Target) -> Launched:
    """As the program ended, without the CPU seconds of what started it."""
    return replace(as_the_program(launched, end.status, target), cpu=max(0.0, launched.cpu - end.cpu))
