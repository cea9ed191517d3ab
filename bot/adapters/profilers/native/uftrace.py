"""uftrace: the duration of each call of a few functions, which it patches when the program starts."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from bot.adapters import checkout
from bot.adapters.process import PATH, PLAIN_ENVIRONMENT, run_trusted
from bot.adapters.profilers.evidence import folder_for
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.native.functions import Functions
from bot.adapters.profilers.native.names import bare, tidy
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.sampling import preloadable, program_of
from bot.adapters.profilers.native.series import Bias, Traced, median_seconds, series_of
from bot.adapters.profilers.native.signatures import REGISTERS, Parameter, signatures_in_a_child
from bot.adapters.profilers.native.uftrace_file import Recording, exit_status, read_recording
from bot.adapters.profilers.native.watching import Watch, find, pattern, spelled
from bot.model.profiles import Method, Profile, Target, Tool

SLOWDOWN = 10.0
SECONDS_PER_CALL = 125e-9
"""Until this machine has been calibrated."""
PATCH_FLAG = "-fpatchable-function-entry=5"
CALLS = 20_000
MOST_NAMED = 5
"""Methods in a note."""
Described: TypeAlias = Mapping[tuple[str, int, str], Sequence[Parameter]]
_REGISTERS = ",".join(f"arg{number}/i64" for number in range(1, REGISTERS + 1))

_CALIBRATION = f"""
__attribute__((noinline)) void suspects_empty(void) {{ __asm__ volatile(""); }}
__attribute__((noinline)) void suspects_loop(void) {{ for (int i = 0; i < {CALLS}; i++) suspects_empty(); }}
int main(void) {{ for (int i = 0; i < 9; i++) suspects_loop(); return 0; }}
"""


class Uftrace:
    """Fits the port `Profiler`: watches the methods it is given, in the checkout's programs and libraries.

    `arguments`: says of each call what its arguments were like, where debug information knows them.
    """

    def __init__(self, *, arguments: bool = False) -> None:
        self._arguments = arguments
        self._bias: Bias | None = None

    @cached_property
    def _version(self) -> str:
        if shutil.which("uftrace", path=PATH) is None:
            return "none"
        words = run_trusted(["uftrace", "--version"]).output.decode("ascii", "replace").split()
        return words[1].removeprefix("v") if len(words) > 1 else "none"

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
            bias=0.0 if self._bias is None else self._bias.own,
            blind=("calls that the compiler inlined", "what a call waited for is in its duration"),
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
        notes = _doubts(watch)
        if not watch.symbols:
            return Profile(self.tool, "not-started", 0.0, notes=(*notes, "There is no function to watch."))
        try:
            bias = self.bias(target)
            described = _signatures(functions, watch) if self._arguments else {}
            launched, recording = _record(target, watch, {symbol for _, _, symbol in described})
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(*notes, f"uftrace could not run: {error}."))
        traced = _traced(functions, recording, bias, wanted=set(methods), described=described)
        known = {method.name for method in (*traced.methods, *watch.absent)}
        unseen = [method for method in methods if method.name not in known]
        return Profile(
            self.tool,
            launched.outcome,
            launched.cpu,
            traced.methods,
            series=traced.series,
            notes=(
                *notes,
                *_ending(launched, recording),
                *_rough(functions, recording),
                *self._limits(traced.short, unseen),
                *functions.notes,
            ),
        )

    def _limits(self, short: Sequence[Method], unseen: Sequence[Method]) -> Sequence[str]:
        notes = []
        if unseen:
            notes.append(f"No calls were seen (not called, or no room for a tracer): {_names(unseen)}.")
        if self._bias == Bias():
            notes.append("What uftrace itself takes was not measured (no C compiler): durations contain it.")
        if short:
            notes.append(f"Calls are too short to be timed by uftrace, and only counted: {_names(short)}.")
        return notes

    def bias(self, target: Target) -> Bias:
        """What uftrace itself takes on this machine, measured once with an empty function."""
        if self._bias is None:
            self._bias = _calibrate(target, arguments=self._arguments) or Bias()
        return self._bias


def _traced(
    functions: Functions,
    recording: Recording,
    bias: Bias,
    *,
    wanted: Collection[Method],
    described: Described,
) -> Traced:
    """Series of the wanted methods; a static function of the same name in another file is not wanted."""
    seen = {spot: functions.linked(spot.path, spot.offset) for spot in {n.spot for n in recording.nodes}}
    known = functions.methods(seen.values())
    by_place = {(path, start): parameters for (path, start, _), parameters in described.items()}

    def method_at(spot: Spot) -> Method | None:
        method = known[seen[spot]].method
        return method if method in wanted or replace(method, file=None) in wanted else None

    def parameters_at(spot: Spot) -> Sequence[Parameter]:
        return by_place.get((seen[spot].object, seen[spot].start), ())

    return series_of(recording, method_at, bias, parameters_at)


def _names(methods: Sequence[Method]) -> str:
    return ", ".join(method.name for method in methods[:MOST_NAMED]) + (
        ", …" if len(methods) > MOST_NAMED else ""
    )


def _doubts(watch: Watch) -> list[str]:
    """What a reader must know: methods without a function."""
    notes = []
    if watch.absent:
        notes.append(
            "Not found as functions (inlined, or not in the checkout), and not watched: "
            f"{_names(watch.absent)}."
        )
    return notes


def _rough(functions: Functions, recording: Recording) -> Sequence[str]:
    """Where it had to overwrite instructions: it does not find room for that in every function."""
    files = sorted({node.spot.path for node in recording.nodes if node.spot.path.startswith("/")})
    unprepared = [path.rpartition("/")[2] for path in files if not functions.object(path).patchable]
    if not unprepared:
        return ()
    return (
        f"{tidy(', '.join(unprepared))}: not built with `{PATCH_FLAG}`, so that some calls may be unseen.",
    )


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
        for start, parameters in signatures_in_a_child(Path(path), starts).items():
            found[path, start, starts[start]] = parameters
    return found


def _record(target: Target, watch: Watch, described: Collection[str] = ()) -> tuple[Launched, Recording]:
    """One trial under uftrace, and what it recorded; `described`: symbols whose arguments are recorded.

    Raises:
        OSError: there is no place for the trace.
    """
    folder = folder_for(target, "uftrace")
    try:
        patterns = [pattern(path, symbol) for path, symbols in watch.symbols.items() for symbol in symbols]
        words = [
            *("uftrace", "record", f"--data={folder}/trace", "--force", "--demangle=no"),
            *("--no-libcall", "--no-event", "--no-pager"),
            *(f"--patch={one}" for one in patterns),
            *(f"--argument={spelled(symbol)}@{_REGISTERS}" for symbol in described),
            *target.words,
        ]
        launched = launch(target, words, slowdown=SLOWDOWN)
        recording = read_recording(folder / "trace")
        return _as_the_program(launched, exit_status(folder / "trace"), target), recording
    finally:
        checkout.remove(folder)
        _remove_buffers(target)


def _as_the_program(launched: Launched, status: int | None, target: Target) -> Launched:
    """How the program ended: uftrace has exit codes of its own."""
    if status is None or launched.outcome not in ("ok", "exit"):
        return launched
    code = os.waitstatus_to_exitcode(status)
    ended = replace(
        launched.ended, exit_code=code, outcome="signal" if code < 0 else "exit" if code else "ok"
    )
    outcome = ended.outcome if code < 0 else "ok" if code in target.ok_exit else "exit"
    return replace(launched, ended=ended, outcome=outcome)


def _remove_buffers(target: Target) -> None:
    """Shared memory that stays when a trial is killed."""
    if target.account is None:
        return
    for path in Path("/dev/shm").glob("uftrace-*"):  # noqa: S108  (where uftrace puts it)
        with suppress(OSError):
            if path.lstat().st_uid == target.account.uid:
                path.unlink()


def _calibrate(target: Target, *, arguments: bool) -> Bias | None:
    """Times an empty function, and a loop around it with and without watching the empty one."""
    folder = folder_for(target, "bias")
    try:
        (folder / "empty.c").write_text(_CALIBRATION)
        here = Target(("./empty",), PLAIN_ENVIRONMENT, folder, folder, target.scratch, account=target.account)
        command = ["cc", "-O1", PATCH_FLAG, "-o", "empty", "empty.c"]
        if launch(here, command).outcome != "ok":
            return None
        program = str(folder / "empty")
        both, loop = (
            _record(here, Watch({program: symbols}), symbols if arguments else ())[1]
            for symbols in (["suspects_empty", "suspects_loop"], ["suspects_loop"])
        )
    finally:
        checkout.remove(folder)
    watched = [median_seconds(node) for node in both.nodes]
    alone = [median_seconds(node) for node in loop.nodes]
    if len(watched) != 2 or len(alone) != 1:
        return None
    return Bias(watched[1], max(0.0, (watched[0] - alone[0]) / CALLS))
