"""A running process as profilers see it: what it executes and has mapped, and why it cannot be watched."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bot.adapters.profilers.evidence import open_file, readable_by, told
from bot.adapters.profilers.native.functions import Functions, Known, Seen
from bot.adapters.profilers.native.objects import DAMAGED, LARGEST, object_of
from bot.adapters.profilers.native.samples import MAPS_LINE, AddressSpace
from bot.model.profiles import Method, Target

_SYSTEM = ("/lib", "/usr/lib", "/usr/local/lib", "/dev", "/memfd")
"""Where libraries lie that nobody changes with the program."""
_RUNTIMES = {
    "Python": re.compile(r"/(?:lib)?python[23][\d.]*(?:\.so[\d.]*)?$"),
    "a JVM": re.compile(r"/libjvm\.so$"),
    "Node": re.compile(r"/node(?:js)?$|/libnode\.so[\d.]*$"),
}
_OTHER_STACKS = frozenset({"makecontext", "swapcontext"})
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Running:
    """Process `pid` as it was: program, mappings of code, and the files of them that belong to the program.

    space: addresses -> places in files.
    """

    pid: int
    program: str
    space: AddressSpace
    mapped: frozenset[str]

    @property
    def own(self) -> Sequence[str]:
        """The program itself, then what else is mapped and not part of the system."""
        others = sorted(p for p in self.mapped if p != self.program and not p.startswith(_SYSTEM))
        return [self.program, *(p for p in others if p.startswith("/") and not p.endswith(" (deleted)"))]


def running(pid: int) -> Running:
    """Looks at a process.

    Raises:
        OSError: there is none, or we may not look.
    """
    folder = Path("/proc", str(pid))
    program = str((folder / "exe").readlink())
    space = AddressSpace()
    mapped = set()
    for line in (folder / "maps").read_text("utf-8", "backslashreplace").splitlines():
        if (match := MAPS_LINE.fullmatch(line)) and "x" in match[3]:
            space.map(int(match[1], 16), int(match[2], 16), int(match[4], 16), match[5])
            mapped.add(match[5])
    return Running(pid, program, space, frozenset(mapped))


def cpu_seconds(pid: int) -> float:
    """That a process has used so far, all of its threads.

    Raises:
        OSError: it is gone.
    """
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def unwatchable(target: Target, process: Running) -> Sequence[str]:
    """Why calls cannot be timed in it, and what would help; empty: nothing is known."""
    name = process.program.rpartition("/")[2]
    it = f"Process {process.pid} (`{name}`)"
    for runtime, files in _RUNTIMES.items():
        if any(files.search(path) for path in (process.program, *process.mapped)):
            return (
                f"{it} runs {runtime}: from outside only compiled programs can be watched."
                " `mine` without `--pid` starts the configured program and watches it from inside.",
            )
    if not _same(process):
        return (
            f"The file of {it} is not what runs (replaced since it was started, or in another container):"
            " start it again, or run Suspects where it runs.",
        )
    if state := _unsuited(it, _status(process.pid)):
        return (state,)
    if not object_of(target, Path(process.program)).loader:
        return (f"{it} is linked statically: Frida cannot be loaded into it. Link it dynamically.",)
    return tuple(f"{it} {why}" for why in unhookable(target, Path(process.program)))


def _unsuited(it: str, told: Mapping[str, str]) -> str:
    """Why its state, as the kernel tells it, does not let it be watched; empty: it does."""
    if told.get("TracerPid", "0") != "0":
        return f"{it} is being traced by process {told['TracerPid']}: end that one first."
    if int(told.get("SigCgt", "0"), 16) >> (signal.SIGCHLD - 1) & 1:
        return (
            f"{it} looks after children of its own (it catches SIGCHLD), and would meet those by which Frida"
            " stops threads: it might hang. Watch one of its processes that does not, or start it without."
        )
    if "shstk" in told.get("x86_Thread_features", ""):
        return f"{it} has a shadow stack, which does not let calls be watched: start it without."
    return ""


def unhookable(target: Target, program: Path) -> Sequence[str]:
    """What of a program's file does not bear hooks, as the rest of a sentence; they would crash it."""
    try:
        read = told(target, stacks_of, program, files=readable_by(target))
    except OSError:
        return ()
    if read == "Go":
        return ("was written in Go, whose stacks move: its calls cannot be watched.",)
    if read == "own":
        return ("switches stacks by itself (swapcontext): its calls cannot be watched.",)
    return ()


def stacks_of(path: Path) -> Literal["ordinary", "Go", "own"]:
    """A reader: whose stacks a program runs on, from its sections and what it wants of libraries."""
    try:
        with open_file(path, most=LARGEST, links=True) as file:
            elf = ELFFile(file)
            symbols = elf.get_section_by_name(".dynsym")
            every = symbols.iter_symbols() if isinstance(symbols, SymbolTableSection) else ()
            wanted = frozenset(symbol.name for symbol in every if symbol["st_shndx"] == "SHN_UNDEF")
            if ".gopclntab" in (s.name for s in elf.iter_sections()):
                return "Go"
            return "own" if _OTHER_STACKS & wanted else "ordinary"
    except DAMAGED:
        return "ordinary"


def _same(process: Running) -> bool:
    try:
        return Path(f"/proc/{process.pid}/exe").samefile(process.program)
    except OSError:
        return False


def _status(pid: int) -> Mapping[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


class RunningFunctions(Functions):
    """Functions of a process; those of its own files without a source have their object file as theirs."""

    def __init__(self, target: Target, process: Running) -> None:
        super().__init__(target)
        self._own = frozenset(process.own)

    def methods(self, seen: Iterable[Seen]) -> Mapping[Seen, Known]:
        """As ever, but for their file."""
        return {function: self._placed(function, known) for function, known in super().methods(seen).items()}

    def _placed(self, function: Seen, known: Known) -> Known:
        if known.method.file is not None or known.nameless or function.object not in self._own:
            return known
        return known._replace(method=Method(known.method.name, function.object.rpartition("/")[2]))
