"""Profiles a running process that others started: samples its stacks, then watches calls for some seconds."""

from __future__ import annotations

import atexit
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from bot.adapters.processes.process import PLAIN_ENVIRONMENT
from bot.adapters.profilers import sources
from bot.adapters.profilers.affordable import OVERHEAD
from bot.adapters.profilers.call_tree import tree_costs
from bot.adapters.profilers.native import frida_watcher, stacks
from bot.adapters.profilers.native.frida_recording import CALL_BYTES, Reader
from bot.adapters.profilers.native.frida_session import Session
from bot.adapters.profilers.native.running import (
    Running,
    RunningFunctions,
    cpu_seconds,
    running,
    unwatchable,
)
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.series import Bias
from bot.adapters.profilers.native.standstill import standstill
from bot.adapters.profilers.native.tracing import doubts, traced
from bot.adapters.profilers.native.uftrace_file import Recording
from bot.adapters.profilers.native.watching import find_in
from bot.model.profiles import Method, Profile, Target, Tool
from bot.model.sites import Site
from bot.model.space import Configuration
from bot.model.trials import Outcome, Side

WINDOW = 5.0
"""Seconds that a process is watched at a time."""
PATIENCE = 10.0
"""Seconds in which calls that were watched may end, so that we can leave."""
MOST_CALLS = 25_000
"""Of a thread that are recorded in a window; with as many, what they cost is weighed against CPU time."""
MOST_CHANGED = 16
"""Bytes at the begin of a function that a hook overwrites."""
GUEST = "frida-agent"
"""In the name of the file that Frida's code is mapped from."""
POLL_SECONDS = 0.02


class AttachedProfiler:
    """Fits the part of `ProfileBench` that mining uses; side and configuration are those that run.

    The process goes on after `close`, or when we are killed: Frida inside of it takes its hooks away as soon
    as the calls that were being watched have ended. root: of its sources, to which files of methods are
    relative. overhead: share of its CPU seconds that watching may add, rests included.
    """

    def __init__(
        self,
        pid: int,
        *,
        stop: Callable[[], bool],
        window: float = WINDOW,
        root: Path | None = None,
        overhead: float = OVERHEAD,
    ) -> None:
        self._pid, self._stop, self._window, self._overhead = pid, stop, window, overhead
        self._root = root or Path.cwd()
        self._folder = TemporaryDirectory(prefix="attached-")
        self._session: Session | None = None
        self._reader = Reader()
        self._numbers: dict[Spot, int] = {}
        self._parts: list[bytes] = []
        self._skipped = 0
        self._watcher = frida_watcher.FridaWatcher()
        atexit.register(self.close)

    def __enter__(self) -> AttachedProfiler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> Sequence[str]:
        """Leaves the process; a note, when it cannot be left yet."""
        atexit.unregister(self.close)
        self._folder.cleanup()
        session, self._session = self._session, None
        if session is None:
            return ()
        # Frida waits for calls that were watched to end, which may take for ever.
        leaving = threading.Thread(target=session.detach, daemon=True)
        leaving.start()
        leaving.join(PATIENCE)
        if not leaving.is_alive():
            return ()
        return (
            f"Calls that were watched in process {self._pid} have not ended: it is not disturbed, and"
            " Frida leaves it when they end.",
        )

    def missing(self) -> Sequence[str]:
        """What stands in the way of watching this process, one sentence each."""
        try:
            found = (*unwatchable(self._target, self._process), *frida_watcher.lacking(), *stacks.lacking())
        except PermissionError:
            return (f"Process {self._pid} is another account's: run as that account, or as root.",)
        except OSError:
            return (f"There is no process {self._pid}.",)
        if found or self._session is not None:
            return found
        try:
            self._session = Session(self._pid, self._parts.append)
        except OSError as error:
            return (
                f"Frida cannot look into process {self._pid} ({str(error).rstrip('.')}): try again on a"
                " busy machine; else run as its account or root, in a container with SYS_PTRACE.",
            )
        return ()

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = math.inf) -> Profile:
        """One coarse profile: samples of running threads, with callers, for the window or `seconds`."""
        del side, configuration
        tool = Tool("perf", "none", "coarse", frozenset({"seconds", "edges"}))
        try:
            before = cpu_seconds(self._pid)
            found = stacks.sample(self._process, seconds=min(self._window, seconds), stop=self._stop)
            spent = cpu_seconds(self._pid) - before
        except OSError:
            return self._gone(tool)
        tree = stacks.tree_of(found.samples, self._functions, each=spent / max(1, len(found.samples)))
        costs = tree_costs(tree)
        few = (
            [] if found.samples else [f"Process {self._pid} did not run while it was sampled: it needs load."]
        )
        return Profile(
            replace(tool, name=found.tool, version=found.version),
            self._outcome(),
            spent,
            costs.methods(seen=sum(tree.own)),
            costs.edge_costs(),
            samples=len(found.samples),
            notes=(*found.notes, *few, *self._functions.notes),
        )

    def watch(
        self,
        side: Side,
        configuration: Configuration,
        methods: Sequence[Method],
        coarse: Profile,
        *,
        seconds: float = math.inf,
        overhead: float | None = None,
        rests: int = 1,
    ) -> Profile:
        """One fine profile: calls of these methods in the window; it ends early when they come too often.

        Then the process rests until they took no more of its CPU time than they may. What it took without
        the tool is reckoned: its load changes from window to window.
        """
        del side, configuration, coarse, rests
        try:
            bias = self._bias
        except OSError as error:
            return self._gone(frida_watcher.fine_tool(None), f" ({str(error).rstrip('.')})")
        tool = frida_watcher.fine_tool(bias)
        if lacking := self.missing():
            return Profile(tool, "not-started", 0.0, notes=tuple(lacking))
        watch = find_in(self._functions, self._process.own, methods)
        places = frida_watcher.places(self._functions, watch)
        if not places:
            return Profile(tool, "not-started", 0.0, notes=(*doubts(watch), "There is no function to watch."))
        share = self._overhead if overhead is None else overhead
        try:
            spent, taken = self._watched(list(places.values()), share, seconds, tool.seconds_per_call)
        except OSError as error:
            if self._session is not None and self._session.gone.is_set():
                self._session = None
            return self._gone(tool, f" ({str(error).rstrip('.')})")
        recording = Recording()
        self._reader.read(b"".join(self._parts), {n: spot for spot, n in self._numbers.items()}, recording)
        self._parts.clear()
        found = traced(self._functions, recording, bias, wanted=set(methods))
        return Profile(
            tool,
            self._outcome(),
            spent,
            found.methods,
            series=found.series,
            notes=(
                *doubts(watch),
                *recording.notes,
                *frida_watcher.limits(bias, found.short, recording),
                *self._unhooked(),
                *self._functions.notes,
            ),
            unprofiled=spent - taken,
        )

    def bodies(self, side: Side, methods: Iterable[Method]) -> Mapping[Method, str]:
        """Source texts, as far as the folder of sources has them."""
        return sources.bodies_at(Site(side, self._root), methods)

    def _watched(
        self, spots: Sequence[Spot], share: float, seconds: float, cost: float
    ) -> tuple[float, float]:
        """CPU seconds of the process while it was watched and rested, and what hooks took of them."""
        assert self._session is not None
        for spot in spots:
            self._numbers.setdefault(spot, len(self._numbers) + 1)
        began, before = time.monotonic(), cpu_seconds(self._pid)

        def used() -> float:
            return cpu_seconds(self._pid) - before

        functions = {self._numbers[s]: (s.path, s.offset) for s in spots}
        self._session.watch(functions, most=MOST_CALLS, still=self._still)
        # From when hooks are there, which takes a busy machine longer than a window.
        until = min(time.monotonic() + self._window, began + seconds)
        while time.monotonic() < until and not self._stop():
            time.sleep(POLL_SECONDS)
            if (calls := self._recorded()) >= MOST_CALLS and calls * cost > share * used():
                break
        skipped = self._session.unwatch(self._still)
        calls, self._skipped = self._recorded() + skipped - self._skipped, skipped
        taken = min(calls * cost, used())
        while taken > share * (used() - taken) and time.monotonic() < began + seconds and not self._stop():
            time.sleep(POLL_SECONDS)
        return used(), taken

    def _recorded(self) -> int:
        return sum(map(len, self._parts)) // CALL_BYTES

    def _still(self, changing: Sequence[int]) -> AbstractContextManager[None]:
        """No thread is in code that changes, or in what is called from there and goes with it."""
        assert self._session is not None
        before, now = self._process.space, running(self._pid).space  # libraries may have come since
        guests = set(self._session.guests(sorted(self._threads())))  # anew: Frida's may begin at any time

        def moving(address: int) -> bool:
            if any(begin <= address < begin + MOST_CHANGED for begin in changing):
                return True
            file = now.spot(address).path  # "": Frida's, too, unless it was there before
            return (not file or GUEST in file) and not before.covers(address)

        return standstill(lambda: sorted(self._threads() - guests), moving)

    def _threads(self) -> set[int]:
        return {int(folder.name) for folder in Path(f"/proc/{self._pid}/task").iterdir()}

    def _unhooked(self) -> Sequence[str]:
        assert self._session is not None
        refused = [spot for spot, number in self._numbers.items() if number in self._session.refused]
        return frida_watcher.unhooked(self._functions, refused)

    @cached_property
    def _process(self) -> Running:
        return running(self._pid)

    @cached_property
    def _target(self) -> Target:
        """For what reads object files: in our account, in a folder of ours."""
        folder = Path(self._folder.name)
        return Target(
            (self._process.program,), PLAIN_ENVIRONMENT, self._root, folder, folder, stop=self._stop
        )

    @cached_property
    def _functions(self) -> RunningFunctions:
        return RunningFunctions(self._target, self._process)

    @cached_property
    def _bias(self) -> Bias:
        return self._watcher.bias(self._target)

    def _outcome(self) -> Outcome:
        return "cut" if self._stop() else "ok"

    def _gone(self, tool: Tool, why: str = "") -> Profile:
        return Profile(tool, "not-started", 0.0, notes=(f"Process {self._pid} could not be watched{why}.",))
