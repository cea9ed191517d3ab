"""Counts and times every function by the C profiler of the standard library, in all threads."""

# ruff: noqa: UP031  (runs from 3.8 on; the program must never hear of a failure of ours)

from __future__ import annotations

import _thread
import sys

# The C half of cProfile alone: the rest would import a dozen modules that the program does not.
_known = "_lsprof" in sys.modules
from _lsprof import Profiler  # noqa: E402

if not _known:
    sys.modules.pop("_lsprof", None)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_METHODS = 100_000
_MOST_EDGES = 400_000
_TOOLS = (4, 3)
_ident = _thread.get_ident


def _profiler() -> Any:
    return Profiler(subcalls=True, builtins=False)


class Replacing:
    """Before 3.12: a profiler in each thread, started where the thread starts."""

    def __init__(self) -> None:
        self.profilers: dict[int, Any] = {}
        self.ended: list[Any] = []
        self.replaced = False

    def begin(self) -> None:
        """Watches this thread, and those it starts."""
        profiler = self.profilers.get(_ident()) or _profiler()
        self.profilers[_ident()] = profiler
        profiler.enable()

    def forked(self) -> None:
        """A new process: what was seen so far is the parent's."""
        profiler = self.profilers.get(_ident()) or _profiler()
        profiler.clear()
        self.profilers, self.ended = {_ident(): profiler}, []
        profiler.enable()

    def thread(self, function: Any) -> Any:
        """What a new thread is to run instead of `function`."""

        def replaced(*arguments: Any, **keywords: Any) -> Any:
            mine = self.profilers[_ident()] = _profiler()
            mine.enable()
            try:
                return function(*arguments, **keywords)
            finally:
                mine.disable()
                self.profilers.pop(_ident(), None)
                self.ended.append(mine)

        return replaced

    def stop(self, _: Any) -> None:
        """Watches no more; running functions end here."""
        mine = self.profilers.get(_ident())
        self.replaced = self.replaced or (mine is not None and sys.getprofile() is not mine)
        profile = sys.getprofile()
        for profiler in list(self.profilers.values()):
            profiler.disable()
        if profile is not mine:
            sys.setprofile(profile)

    def all(self) -> list[Any]:
        """The profilers of all threads."""
        return [*self.profilers.values(), *self.ended]


class Monitoring:
    """From 3.12: events of the whole process, led to a profiler for each thread once there are several.

    Not Profiler.enable: it would take the place that the program's own cProfile needs, and mix threads.
    """

    def __init__(self) -> None:
        self.profilers: dict[int, Any] = {}
        self.replaced = False
        self.threads = False
        self.events = 0
        monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self.tool = next(tool for tool in _TOOLS if monitoring.get_tool(tool) is None)
        monitoring.use_tool_id(self.tool, "suspects")
        self.monitoring = monitoring

    def begin(self) -> None:
        """Watches this thread, and those it starts."""
        mine = self.profilers.setdefault(_ident(), _profiler())
        enter, leave = mine._pystart_callback, mine._pyreturn_callback
        enter_thrown, leave_unwound = enter, leave
        if self.threads:
            enter, leave, enter_thrown, leave_unwound = self.dispatching()
        names = self.monitoring.events
        places = (
            (names.PY_START, enter),
            (names.PY_RESUME, enter),
            (names.PY_THROW, enter_thrown),
            (names.PY_RETURN, leave),
            (names.PY_YIELD, leave),
            (names.PY_UNWIND, leave_unwound),
        )
        for event, callback in places:
            self.monitoring.register_callback(self.tool, event, callback)
            self.events |= event
        self.monitoring.set_events(self.tool, self.events)

    def dispatching(self) -> Any:
        """Callbacks that go to the profiler of the thread they are called in."""
        entering: dict[int, Any] = {i: p._pystart_callback for i, p in self.profilers.items()}
        leaving: dict[int, Any] = {i: p._pyreturn_callback for i, p in self.profilers.items()}
        profilers, make, ident = self.profilers, _profiler, _ident

        def enter(code: Any, offset: int) -> None:
            me = ident()
            if me not in entering:
                mine = profilers[me] = make()
                entering[me], leaving[me] = mine._pystart_callback, mine._pyreturn_callback
            entering[me](code, offset)

        def leave(code: Any, offset: int, _: Any) -> None:
            me = ident()
            if me in leaving:
                leaving[me](code, offset, None)

        return enter, leave, lambda code, offset, _: enter(code, offset), leave

    def forked(self) -> None:
        """A new process: what was seen so far is the parent's."""
        for profiler in self.profilers.values():
            profiler.clear()
        self.profilers = {_ident(): self.profilers.get(_ident()) or _profiler()}
        self.threads = False
        self.begin()

    def thread(self, function: Any) -> Any:
        """What a new thread is to run instead of `function`."""
        if not self.threads:
            self.threads = True
            self.begin()
        return function

    def stop(self, frame: Any) -> None:
        """Watches no more; running functions end here."""
        self.monitoring.set_events(self.tool, 0)
        # Functions that are still running: as if they returned now.
        for me, profiler in list(self.profilers.items()):
            inner = frame if me == _ident() else sys._current_frames().get(me)
            while inner is not None:
                profiler._pyreturn_callback(inner.f_code, 0, None)
                inner = inner.f_back

    def all(self) -> list[Any]:
        """The profilers of all threads."""
        return list(self.profilers.values())


def make(session: Any) -> Counting:
    """What watches this process."""
    return Counting(session)


class Counting:
    """Calls, edges, and seconds with and without callees of every Python function."""

    def __init__(self, session: Any) -> None:
        self.session = session
        modern = hasattr(sys, "monitoring") and hasattr(Profiler, "_pystart_callback")
        self.way: Any = Monitoring() if modern else Replacing()
        self.begin, self.forked = self.way.begin, self.way.forked
        self.thread, self.stop = self.way.thread, self.way.stop

    def body(self) -> str:
        """One line of JSON: files, methods and edges by index."""
        codes: dict[int, Any] = {}
        own: dict[int, list[float]] = {}
        pairs: dict[tuple[int, int], list[float]] = {}
        for profiler in self.way.all():
            for entry in profiler.getstats():
                codes[id(entry.code)] = entry.code
                _add(own, id(entry.code), entry)
                for sub in entry.calls or ():
                    codes[id(sub.code)] = sub.code
                    _add(pairs, (id(entry.code), id(sub.code)), sub)
        notes = set(self.session.notes)
        if self.way.replaced:
            notes.add("replaced")
        if max(len(own), len(codes)) > _MOST_METHODS or len(pairs) > _MOST_EDGES:
            notes.add("many")
        kept = sorted(own, key=lambda key: -own[key][3])[:_MOST_METHODS]
        return _line(self.session, kept, codes=codes, own=own, pairs=pairs, notes=notes)


def _add(into: dict[Any, list[float]], key: Any, entry: Any) -> None:
    row = into.setdefault(key, [0, 0, 0.0, 0.0])
    row[0] += entry.callcount
    row[1] += entry.reccallcount
    row[2] += entry.totaltime
    row[3] += entry.inlinetime


def _line(session: Any, kept: Any, *, codes: Any, own: Any, pairs: Any, notes: set[str]) -> str:
    quote, listed = session.quote, session.listed
    place = {key: number for number, key in enumerate(kept)}
    names = session.load("names")["qualified"]([codes[key] for key in kept], notes)
    files: dict[str, int] = {}
    methods = []
    for key, name in zip(kept, names):  # noqa: B905  (3.8)
        code = codes[key]
        number = files.setdefault(code.co_filename, len(files))
        head = "[%d,%d,%s," % (number, code.co_firstlineno, quote(name))
        methods.append(head + "%d,%d,%r,%r]" % tuple(own[key]))
    heavy = sorted(
        (key for key in pairs if key[0] in place and key[1] in place), key=lambda key: -pairs[key][2]
    )
    edges = [
        "[%d,%d,%d,%d,%r,%r]" % (place[key[0]], place[key[1]], *pairs[key]) for key in heavy[:_MOST_EDGES]
    ]
    parts = (
        '"files":' + listed(map(quote, files)),
        '"methods":' + listed(methods),
        '"edges":' + listed(edges),
        '"notes":' + listed(map(quote, sorted(notes))),
    )
    return "{" + ",".join(parts) + "}"
