"""uftrace: the duration of each call of a few functions, which it patches when the program starts."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.builds.compilers import ROOM
from bot.adapters.processes.process import PATH
from bot.adapters.processes.tool_versions import version_of
from bot.adapters.profilers.evidence import folder_for, told
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.native.functions import Functions
from bot.adapters.profilers.native.names import bare, tidy
from bot.adapters.profilers.native.recordings import read_uftrace
from bot.adapters.profilers.native.sampling import preloadable, program_of
from bot.adapters.profilers.native.series import Bias
from bot.adapters.profilers.native.signatures import REGISTERS, Parameter, signatures_of
from bot.adapters.profilers.native.tracing import Described, as_the_program, calibrate, doubts, listed, traced
from bot.adapters.profilers.native.uftrace_file import Recording
from bot.adapters.profilers.native.watching import Watch, find, pattern, spelled
from bot.model.profiles import Method, Profile, Target, Tool

SLOWDOWN = 10.0
SECONDS_PER_CALL = 125e-9
"""Until this machine has been calibrated."""
_OUTLIVED = "outlived"
_UNTIL_THE_PROGRAM_ENDS = f"""
folder=$0 tracer=$$
watch() {{
    while sleep 0.5; do
        program= state=
        read -r program _ <"/proc/$tracer/task/$tracer/children"
        [ -n "$program" ] || continue
        while read -r key state _ && [ "$key" != State: ]; do :; done <"/proc/$program/status"
        [ "$state" = Z ] || continue
        sleep 2
        : >"$folder/{_OUTLIVED}"
        kill -INT "$tracer"
        exit
    done
}}
(watch </dev/null >/dev/null 2>&1 &)
exec "$@"
"""
"""uftrace waits for all that the program left behind, too; interrupted, it writes down what it has, and ends.

The program, its first child, stays a zombie until then. The seconds are for a program that left nothing.
"""
_REGISTERS = ",".join(f"arg{number}/i64" for number in range(1, REGISTERS + 1))


class Uftrace:
    """Fits the port `Profiler`: watches the methods it is given, in the checkout's programs and libraries.

    `arguments`: says of each call what its arguments were like, where debug information knows them.
    """

    def __init__(self, *, arguments: bool = False) -> None:
        self._arguments = arguments
        self._bias: Bias | None = None

    @cached_property
    def _version(self) -> str:
        return version_of("uftrace")

    @property
    def tool(self) -> Tool:
        """Once it has been used, its cost for each call is this machine's."""
        return Tool(
            "uftrace",
            self._version,
            "fine",
            frozenset({"calls", "seconds", "durations", "arguments"})
            if self._arguments
            else frozenset({"calls", "seconds", "durations"}),
            seconds_per_call=SECONDS_PER_CALL if self._bias is None else self._bias.own + self._bias.below,
            bias=0.0 if self._bias is None else self._bias.expected,
            left=1.0 if self._bias is None else self._bias.left,
            blind=(
                "Calls that the compiler inlined are not seen.",
                "What a call waited for is in its duration.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """uftrace, a processor that it can patch for, and a program that can load its library."""
        if platform.machine() != "x86_64":
            return ("`uftrace` watches calls on x86_64 only.",)
        if shutil.which("uftrace", path=PATH) is None:
            return ("`uftrace` is not installed: no durations of calls.",)
        if any(character.isspace() or character == ";" for character in os.path.realpath(program_of(target))):
            return ("`uftrace` cannot watch a program whose path has spaces or `;` in it.",)
        return preloadable(target, "uftrace")

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial in which these methods are watched."""
        functions = Functions(target)
        watch = find(functions, target, methods)
        notes = doubts(watch)
        if not watch.symbols:
            return Profile(self.tool, "not-started", 0.0, notes=(*notes, "There is no function to watch."))
        try:
            bias = self.bias(target)
            described = _signatures(functions, watch) if self._arguments else {}
            launched, recording = _record(target, watch, {symbol for _, _, symbol in described})
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(*notes, f"uftrace could not run: {error}."))
        found = traced(functions, recording, bias, wanted=set(methods), described=described)
        known = {method.name for method in (*found.methods, *watch.absent)}
        unseen = [method for method in methods if method.name not in known]
        return Profile(
            self.tool,
            launched.outcome,
            launched.cpu,
            found.methods,
            series=found.series,
            notes=(
                *notes,
                *_ending(launched, recording),
                *_rough(functions, recording),
                *self._limits(found.short, unseen),
                *functions.notes,
            ),
        )

    def _limits(self, short: Sequence[Method], unseen: Sequence[Method]) -> Sequence[str]:
        notes = []
        if unseen:
            notes.append(f"No calls were seen (not called, or no room for a tracer): {listed(unseen)}.")
        if self._bias == Bias():
            notes.append("What uftrace itself takes was not measured (no C compiler): durations contain it.")
        if short:
            notes.append(f"Calls are too short to be timed by uftrace, and only counted: {listed(short)}.")
        return notes

    def bias(self, target: Target) -> Bias:
        """What uftrace itself takes on this machine, measured once with an empty function."""
        if self._bias is None:

            def record(here: Target, watch: Watch) -> Recording:
                symbols = [symbol for several in watch.symbols.values() for symbol in several]
                return _record(here, watch, symbols if self._arguments else ())[1]

            self._bias = calibrate(target, record) or Bias()
        return self._bias


def _rough(functions: Functions, recording: Recording) -> Sequence[str]:
    """Where it had to overwrite instructions: it does not find room for that in every function."""
    files = sorted({node.spot.path for node in recording.nodes if node.spot.path.startswith("/")})
    unprepared = [path.rpartition("/")[2] for path in files if not functions.object(path).patchable]
    if not unprepared:
        return ()
    return (f"{tidy(', '.join(unprepared))}: not built with `{ROOM}`, so that some calls may be unseen.",)


def _ending(launched: Launched, recording: Recording) -> Sequence[str]:
    notes = list(recording.notes)
    if launched.outcome != "ok":
        notes.insert(0, launched.ended.reason("The program under uftrace"))
    if recording.lost:
        notes.append(f"uftrace lost {recording.lost} records: calls around them are missing.")
    return notes


def _signatures(functions: Functions, watch: Watch) -> Described:
    """(object file, address, symbol) -> parameters; copies by the compiler take theirs in another way."""
    found: dict[tuple[str, int, str], Sequence[Parameter]] = {}
    for path, symbols in watch.symbols.items():
        starts = {
            start: symbol
            for symbol, several in functions.object(path)
            .addresses(s for s in symbols if s == bare(s))
            .items()
            for start in several
        }
        for start, parameters in signatures_of(functions.target, Path(path), starts).items():
            found[path, start, starts[start]] = parameters
    return found


def _record(target: Target, watch: Watch, described: Collection[str] = ()) -> tuple[Launched, Recording]:
    """One trial under uftrace, and what it recorded; `described`: symbols whose arguments are recorded.

    Raises:
        OSError: there is no place for the trace, or it cannot be read.
    """
    folder = folder_for(target, "uftrace")
    try:
        patterns = [pattern(path, symbol) for path, symbols in watch.symbols.items() for symbol in symbols]
        words = [
            *("sh", "-c", _UNTIL_THE_PROGRAM_ENDS, str(folder)),
            *("uftrace", "record", f"--data={folder}/trace", "--force", "--demangle=no"),
            *("--no-libcall", "--no-event", "--no-pager"),
            *(f"--patch={one}" for one in patterns),
            *(f"--argument={spelled(symbol)}@{_REGISTERS}" for symbol in described),
            *target.words,
        ]
        launched = launch(target, words, slowdown=SLOWDOWN)
        trace = folder / "trace"
        read = told(target, read_uftrace, trace, files=[trace])
        recording = read.recording
        if os.path.lexists(folder / _OUTLIVED):
            recording.notes.append("What the program under uftrace left running was ended with it.")
        return as_the_program(launched, read.status, target), recording
    finally:
        checkout.remove(folder)
        _remove_buffers(target)


def _remove_buffers(target: Target) -> None:
    """Shared memory that stays when a trial is killed."""
    if target.account is None:
        return
    for path in Path("/dev/shm").glob("uftrace-*"):  # noqa: S108  (where uftrace puts it)
        with suppress(OSError):
            if path.lstat().st_uid == target.account.uid:
                path.unlink()
