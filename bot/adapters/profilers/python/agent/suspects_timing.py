"""Times calls of chosen functions by call path: by the interpreter's events from 3.12, else by rewriting."""

# ruff: noqa: UP031  (runs from 3.8 on)

from __future__ import annotations

import _thread
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_KEPT = 100_000
_MOST_KEPT_IN_ALL = 1_000_000
_MOST_PATHS = 2_000
_MOST_ARGUMENTS = 20_000
_CALIBRATION = 300
_SIZED = {str, bytes, bytearray, list, tuple, dict, set, frozenset, range, memoryview}
_ident, _clock, _frame = _thread.get_ident, time.perf_counter_ns, sys._getframe


class Series:
    """Calls of one function over one path: number, sum, durations in ns or their logarithmic histogram."""

    __slots__ = ("arguments", "bins", "calls", "codes", "cost", "durations", "total")

    def __init__(self, codes: list[Any], cost: int) -> None:
        self.codes, self.cost = codes, cost
        self.calls = self.total = 0
        self.durations: list[int] = []
        self.bins: dict[int, int] = {}
        self.arguments: list[Any] = []


class Row:
    """A chosen function: its code, how many calls until the next is timed, its series by path."""

    __slots__ = ("arguments", "code", "every", "random", "series", "skip", "skipped")

    def __init__(self, code: Any, every: int, *, arguments: bool) -> None:
        self.code, self.every, self.arguments = code, every, arguments
        self.skip, self.skipped, self.random = 1, 0, 1
        self.series: dict[Any, Series] = {}

    def next_skip(self) -> int:
        """Uniform from 1 to 2 every - 1, so that it does not fall in step with the program."""
        self.random = (self.random * 1103515245 + 12345) & 0x7FFFFFFF
        return 1 + (self.random >> 8) % (2 * self.every - 1)


class Recorder:
    """Open calls of each thread, and what is kept of those that returned.

    An open call is [row, series, start, active so far, tool's own at start, arguments, id of its frame], or
    that id alone when it is not timed. A thread's state is [open calls, ns that the tool itself took].
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.states: dict[int, list[Any]] = {}
        self.suspended: dict[int, Any] = {}
        self.rows: dict[int, Row] = {}
        self.kept = 0
        self.cost = self.frame_cost = self.bias = self.skip = self.own_before = 0

    def enter(self, row: Row, frame: Any) -> None:
        """A call begins in `frame`."""
        me = _ident()
        state = self.states.get(me)
        if state is None:
            state = self.states[me] = [[], 0]
        row.skip -= 1
        if row.skip:
            row.skipped += 1
            state[1] += self.skip
            state[0].append(id(frame))
            return
        row.skip = row.next_skip() if row.every > 1 else 1
        above, ids, left = frame.f_back, [], self.depth
        while above is not None and left:
            ids.append(id(above.f_code))
            above = above.f_back
            left -= 1
        key = tuple(ids)
        series = row.series.get(key) or self.new_series(row, frame, key)
        arguments = _summary(frame) if row.arguments else None
        entry = [row, series, 0, 0, state[1], arguments, id(frame)]
        state[0].append(entry)
        entry[2] = _clock()

    def new_series(self, row: Row, frame: Any, key: Any) -> Series:
        """For a path that is new; beyond a number of paths, one for all others."""
        codes: list[Any] = []
        if len(row.series) >= _MOST_PATHS:
            key = ()
        else:
            above = frame.f_back
            for _ in key:
                codes.append(above.f_code)
                above = above.f_back
        cost = self.cost + self.frame_cost * len(codes)
        return row.series.setdefault(key, Series(codes[::-1], cost))

    def innermost(self, state: Any, place: int) -> Any:
        """Takes the open call of the frame with this id; None: it is not timed, or was missed.

        It is the last one, unless frames take turns (coroutines before 3.12, greenlets).
        """
        calls: list[Any] = state[0]
        for depth in range(len(calls) - 1, -1, -1):
            entry = calls[depth]
            timed = type(entry) is list
            if (entry[6] if timed else entry) == place:
                del calls[depth]
                return entry if timed else None
        return None

    def leave(self, now: int, place: int) -> None:
        """The call in the frame with this id ended at `now`."""
        state = self.states.get(_ident())
        if state is None:
            return
        entry = self.innermost(state, place)
        if entry is not None:
            entry[3] += now - entry[2]
            self.keep(entry, state[1] - entry[4])
            state[1] += entry[1].cost

    def keep(self, entry: Any, own: int) -> None:
        """A call that ended; `own`: what the tool took of its active time."""
        row, series = entry[0], entry[1]
        duration = entry[3] - self.bias - own
        duration = max(duration, 0)
        series.calls += 1
        series.total += duration
        if len(series.durations) < MOST_KEPT and self.kept < _MOST_KEPT_IN_ALL and not series.bins:
            self.kept += 1
            series.durations.append(duration)
            if entry[5] is not None:
                self.argued(row, series, entry[5])
        else:
            place = bin_of(duration)
            series.bins[place] = series.bins.get(place, 0) + 1

    def abandoned(self, place: int) -> bool:
        """Whether the frame with this id had yielded; its call ends there."""
        if place not in self.suspended:
            return False
        entry = self.suspended.pop(place)
        if entry is not None:
            self.keep(entry, entry[4])
        return True

    def argued(self, row: Row, series: Series, arguments: Any) -> None:
        """Keeps the summary of a call's arguments, until there are too many."""
        series.arguments.append(arguments)
        if len(series.arguments) > _MOST_ARGUMENTS:
            row.arguments = False
            for other in row.series.values():
                other.arguments = []

    def pause(self, now: int, frame: Any) -> None:
        """A generator yields."""
        place = id(frame)
        self.abandoned(place)  # of a frame that was at this place before, and was never resumed
        state: Any = self.states.get(_ident())
        entry = self.innermost(state, place) if state is not None else None
        if entry is not None:
            # What the tool takes meanwhile is not in its time: only the tool's part so far is remembered.
            entry[3] += now - entry[2]
            entry[4] = state[1] - entry[4]
        self.suspended[place] = entry

    def resume(self, frame: Any) -> None:
        """A generator goes on."""
        me, place = _ident(), id(frame)
        state = self.states.get(me)
        if state is None:
            state = self.states[me] = [[], 0]
        entry = self.suspended.pop(place, None)
        if entry is None:
            state[0].append(place)
            return
        state[0].append(entry)
        entry[4] = state[1] - entry[4]
        entry[2] = _clock()

    def own(self) -> int:
        """What the tool itself took, in ns."""
        spent: int = sum(state[1] for state in list(self.states.values()))
        return spent - self.own_before

    def forget(self) -> None:
        """Nothing was seen yet."""
        self.kept = 0
        self.own_before += self.own()
        for row in self.rows.values():
            row.series, row.skipped = {}, 0


def bin_of(duration: int) -> int:
    """Number of the logarithmic bin: eight to each doubling."""
    size = duration.bit_length()
    return duration if size <= 4 else (size << 3 | (duration >> (size - 4)) & 7)


def _summary(frame: Any) -> Any:
    """Of each argument its type, and the length or the small number that it is; nothing of its contents."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return tuple([_told(values.get(name)) for name in code.co_varnames[:count]])


def _told(value: Any) -> Any:
    kind = type(value)
    if kind in _SIZED:
        return kind, len(value)
    if kind is int:
        return kind, value if -1000 < value < 1000 else "~2^%d" % value.bit_length()
    if kind is bool or value is None:
        return kind, value
    return kind, None


def told_text(name: str, summary: Any) -> str:
    """`name=list[7]`, `name=int 3`, `name=str[20]`, `name=None`."""
    kind, detail = summary
    shown = name + "=" + kind.__name__[:60]
    if kind in _SIZED:
        return "%s[%d]" % (shown, detail)
    if detail is None:
        return name + "=None" if kind is type(None) else shown
    return "%s %s" % (shown, detail)


class Timing:
    """Selects functions, and tells what was recorded."""

    def __init__(self, session: Any) -> None:
        self.session = session
        settings = session.settings
        self.recorder = Recorder(settings["depth"])
        self.wanted: dict[str, list[Any]] = {}
        for qualified, suffixes, every, arguments in settings["selected"]:
            self.wanted.setdefault(_plain(qualified), []).append((suffixes, every, arguments))
        name = "events" if hasattr(sys, "monitoring") else "rewriting"
        self.way = session.load(name)["make"](self)
        self.calibrate()

    def chosen(self, file: str, qualified: str) -> Any:
        """How a function of this place is to be timed; None: not at all."""
        for suffixes, every, arguments in self.wanted.get(qualified, ()):
            if any(("/" + file).endswith("/" + suffix) for suffix in suffixes):
                return every, arguments
        return None

    def add(self, code: Any, every: int, *, arguments: bool) -> Row:
        """A row for a chosen function."""
        row = self.recorder.rows[id(code)] = Row(code, every, arguments=arguments)
        return row

    def calibrate(self) -> None:
        """What a timed call of an empty function costs, what of that shows, what a skipped call costs."""
        recorder = self.recorder
        with_tool, without, row = self.way.empty()
        plain = _fastest(without)
        depth, recorder.depth = recorder.depth, 0
        recorder.cost = max(0, _fastest(with_tool) - plain)
        recorder.depth = 2
        recorder.frame_cost = max(0, _fastest(with_tool) - plain - recorder.cost) // 2
        recorder.depth = depth
        shown = sorted(d for series in row.series.values() for d in series.durations)
        recorder.bias = max(0, shown[len(shown) // 2] - plain) if shown else 0
        row.skip = 1 << 40
        recorder.skip = max(0, _fastest(with_tool) - plain)
        self.way.no_empty(row)
        recorder.states.clear()
        recorder.forget()

    def begin(self) -> None:
        """Watches from here on."""
        self.way.begin()

    def forked(self) -> None:
        """A new process: what was seen so far is the parent's."""
        mine = self.recorder.states.get(_ident())
        self.recorder.states = {_ident(): mine} if mine else {}
        self.recorder.forget()

    def thread(self, function: Any) -> Any:
        """What a new thread is to run."""
        return function

    def stop(self, _: Any) -> None:
        """Watches no more; generators that nobody resumed have ended."""
        self.way.stop()
        for place in list(self.recorder.suspended):
            self.recorder.abandoned(place)

    def body(self) -> str:
        """One line of JSON."""
        line: str = self.session.load("telling")["body"](self.session, self.recorder)
        return line


def _plain(text: str) -> str:
    # JSON writes characters beyond 16 bits as two halves, which eval leaves apart.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fastest(function: Any) -> int:
    best = 1 << 60
    for _ in range(4):
        began = _clock()
        for _ in range(_CALIBRATION):
            function()
        best = min(best, (_clock() - began) // _CALIBRATION)
    return best


def make(session: Any) -> Timing:
    """What watches this process."""
    return Timing(session)
