"""Where time goes: perf where it is allowed, gperftools' profiler elsewhere; neither slows the trial."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.processes import confine
from bot.adapters.processes.process import PATH, run_trusted
from bot.adapters.processes.tool_versions import version_of
from bot.adapters.profilers.evidence import folder_for, lines, told
from bot.adapters.profilers.launching import Launched, ask, launch
from bot.adapters.profilers.native.functions import Functions, without_names
from bot.adapters.profilers.native.objects import object_of
from bot.adapters.profilers.native.samples import Spot, tell_gperftools, tell_perf
from bot.model.profiles import Method, MethodCost, Profile, Target, Tool
from bot.model.sites import Account

FREQUENCY = 3999
"""Of perf, in hertz of CPU time: a trial of 50 ms gives 200 samples. One takes some microseconds."""
PRELOADED_FREQUENCY = 999
"""Of gperftools. The kernel's tick holds it to 250 on most machines."""
FEW_SAMPLES = 200
"""With fewer, a method that has a tenth of the time is off by a fifth. Arbitrary."""

_SMALL = "Shares of methods with less than 3 % of the time are mostly chance."
_LIBRARY = re.compile(r"libprofiler\.so\.0 \(libc6,[^)]*\) => (\S+)")


class Perf:
    """Fits the port `Profiler`: samples of the program counter, user mode only."""

    def __init__(self) -> None:
        self._refused: dict[Account | None, bool] = {}

    @cached_property
    def tool(self) -> Tool:
        """Its version is that of the perf on this machine."""
        blind = ("Time in the kernel is not seen.", _SMALL)
        version = version_of("perf")
        return Tool("perf", version, "coarse", frozenset({"seconds"}), slowdown=1.05, blind=blind)

    def missing(self, target: Target) -> Sequence[str]:
        """Tries it once for each account: containers and hosted runners forbid it in several ways."""
        if shutil.which("perf", path=PATH) is None:
            return ("`perf` is not installed.",)
        if target.account not in self._refused:
            try:
                ask(target, [*_record(Path("tried")), "true"], b"", lines)
                self._refused[target.account] = False
            except OSError:
                self._refused[target.account] = True
        return ("`perf` is not allowed to sample here.",) if self._refused[target.account] else ()

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial under perf; all methods, whatever is asked."""
        del methods
        notes: list[str] = []
        spots: Counter[Spot] = Counter()
        try:
            folder = folder_for(target, "perf")
        except OSError as error:
            return _nowhere(self.tool, error)
        written = folder / "data"
        launched = launch(target, [*_record(written), *target.words], slowdown=self.tool.slowdown)
        try:
            fields = ["-F", "pid,ip", "--show-mmap-events", "--show-task-events"]
            words = ["perf", "script", "--input", str(written), *fields]
            spots = ask(target, words, b"", tell_perf).counts
        except OSError as error:
            notes.append(f"The samples of perf could not be read: {error}")
        finally:
            checkout.remove(folder)
        return _profile(self.tool, target, launched, spots, each=1 / FREQUENCY, notes=notes)


class Gperftools:
    """Fits the port `Profiler`: a library that samples the program counter from inside of the program."""

    @cached_property
    def _library(self) -> str | None:
        match = _LIBRARY.search(run_trusted(["ldconfig", "-p"]).output.decode("utf-8", "replace"))
        return match[1] if match else None

    @cached_property
    def tool(self) -> Tool:
        """Its version is that in the file name of the library."""
        version = "none" if self._library is None else Path(self._library).resolve().name
        blind = (
            "Children that do not execute a program of their own are not seen.",
            "On a busy core shares are off: it looks when the scheduler does.",
            _SMALL,
        )
        version = version.removeprefix("libprofiler.so.")
        return Tool("gperftools", version, "coarse", frozenset({"seconds"}), slowdown=1.02, blind=blind)

    def missing(self, target: Target) -> Sequence[str]:
        """The library, and a program that can be made to load it."""
        if self._library is None:
            return ("gperftools (`libprofiler.so.0`) is not installed.",)
        return preloadable(target, "gperftools")

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial with the library preloaded; all methods, whatever is asked."""
        del methods
        try:
            folder = folder_for(target, "gperftools")
        except OSError as error:
            return _nowhere(self.tool, error)
        try:
            preloaded = " ".join(filter(None, (self._library, target.env.get("LD_PRELOAD"))))
            # Set by `env` in the end: a shell around the program would leave its timer to a program without.
            variables = [
                f"LD_PRELOAD={preloaded}",
                f"CPUPROFILE={folder}/profile",
                f"CPUPROFILE_FREQUENCY={PRELOADED_FREQUENCY}",
            ]
            launched = launch(target, ["env", *variables, *target.words], slowdown=self.tool.slowdown)
            spots, notes = _read_all(folder, target)
        finally:
            checkout.remove(folder)
        each = launched.cpu / max(1, spots.total())
        return _profile(self.tool, target, launched, spots, each=each, notes=notes)


def preloadable(target: Target, what: str) -> Sequence[str]:
    """Why a library cannot be loaded into a target's program; empty: it can, as far as one can tell."""
    program = object_of(target, program_of(target))
    name = target.words[0].rpartition("/")[2]
    if program.segments and not program.loader:
        return (f"`{name}` is linked statically: {what} cannot be loaded into it.",)
    if "musl" in program.loader:
        return (f"`{name}` uses musl: {what} cannot be loaded into it.",)
    return ()


def program_of(target: Target) -> Path:
    """The file that the target's command executes; one that is not there is for the trial to say."""
    name = target.words[0]
    if "/" not in name:
        with suppress(OSError):
            name = confine.find_command(name, target.env.get("PATH", PATH))
    return target.cwd / name


def _record(written: Path) -> list[str]:
    # Without call chains: they need frame pointers, which optimised code has not.
    # Without events of BPF programs: a thread that perf has for them takes a second to end.
    quiet = ["--quiet", "--no-buildid", "--no-buildid-cache", "--no-bpf-event"]
    return ["perf", "record", *quiet, "-e", "cpu-clock:u", "-F", str(FREQUENCY), "-o", str(written), "--"]


def _read_all(folder: Path, target: Target) -> tuple[Counter[Spot], list[str]]:
    """The sum of the profiles of all processes."""
    try:
        read = told(target, tell_gperftools, folder, files=[folder])
    except OSError as error:
        return Counter(), [f"The samples of gperftools could not be read: {error}."]
    return read.counts, [f"The samples of one process are not used: {reason}." for reason in read.reasons]


def _profile(
    tool: Tool,
    target: Target,
    launched: Launched,
    spots: Counter[Spot],
    *,
    each: float,
    notes: Sequence[str],
) -> Profile:
    """Shares and seconds of methods; `each`: seconds that a sample stands for."""
    functions = Functions(target)
    seen = {spot: functions.at(spot.path, spot.offset) for spot in spots}
    known = functions.methods(seen.values())
    counts: Counter[Method] = Counter()
    for spot, count in spots.items():
        counts[known[seen[spot]].method] += count
    total = counts.total()
    costs = {m: MethodCost(count / total, self_seconds=count * each) for m, count in counts.items()}
    told = list(notes)
    if launched.outcome != "ok":
        told.insert(0, launched.ended.reason(f"The program under {tool.name}"))
    nameless = {k.method for k in known.values() if k.nameless}
    told += without_names(
        nameless, {m: cost.self_share for m, cost in costs.items()}, f"samples of {tool.name}"
    )
    told += functions.notes
    profile = Profile(tool, launched.outcome, launched.cpu, costs, samples=total)
    return replace(profile, notes=(*told, *too_few(profile)))


def too_few(profile: Profile) -> Sequence[str]:
    """A note, when there are too few samples for shares; a trial that failed ended early, which is told."""
    if profile.outcome != "ok" or profile.samples is None or profile.samples >= FEW_SAMPLES:
        return ()
    several = "" if profile.samples == 1 else "s"
    return (
        f"Only {profile.samples} sample{several} of {profile.tool.name}: too short a profile for shares of "
        "time; a longer workload would help.",
    )


def _nowhere(tool: Tool, error: OSError) -> Profile:
    return Profile(tool, "not-started", 0.0, notes=(f"There is no place for a profile: {error}.",))
