"""Times calls of chosen functions by call path: by the interpreter's events from 3.12, else by rewriting."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_KEPT = 100_000
_MOST_KEPT_IN_ALL = 1_000_000
_LEAST_KEPT = 1000
_MOST_PATHS = 2_000
_MOST_ARGUMENTS = 20_000
_CALIBRATION = 100
_clock = time.perf_counter_ns


class Series:
    """Calls of one function over one path: durations in ns, and the logarithmic histogram of those beyond."""

    __slots__ = ("arguments", "bins", "codes", "durations", "row", "total")

    def __init__(self, row: Row, codes: list[Any]) -> None:
        self.row, self.codes = row, codes
        self.durations: list[int] = []
        self.arguments: list[Any] = []
        self.bins: dict[int, int] = {}
        self.total = 0

    def calls(self) -> int:
        """Calls that were timed."""
        return len(self.durations) + sum(self.bins.values())

    def fold(self, bias: int) -> None:
        """Durations become a part of the histogram."""
        for duration in self.durations:
            shown = duration - bias if duration > bias else 0
            place = bin_of(shown)
            self.bins[place] = self.bins.get(place, 0) + 1
            self.total += shown
        self.durations.clear()
        self.arguments.clear()


class Row:
    """A chosen function: its code, how many calls until the next is timed, its series by path."""

    __slots__ = ("arguments", "code", "drawn", "every", "random", "series", "skip")

    def __init__(self, code: Any, every: int, *, arguments: bool) -> None:
        self.code, self.every, self.arguments = code, every, arguments
        self.skip = self.drawn = self.random = 1
        self.series: dict[Any, Series] = {}

    def draw(self) -> None:
        """Which call is timed next: uniform from 1 to 2 every - 1, so as not to fall in step."""
        if self.every > 1:
            self.random = (self.random * 1103515245 + 12345) & 0x7FFFFFFF
            self.skip = 1 + (self.random >> 8) % (2 * self.every - 1)
        else:
            self.skip = 1
        self.drawn += self.skip

    def skipped(self) -> int:
        """Calls that were counted and not timed."""
        timed = sum(series.calls() for series in list(self.series.values()))
        return max(0, self.drawn - self.skip - timed) if self.every > 1 else 0


class Recorder:
    """Open calls by the id of their frame, and what is kept of those that returned.

    An open call is [series, start, active so far, tool's own at start, arguments, inner before it]. own[0]:
    ns that the tool itself took, in all threads: a call is delayed by any. inner[0]: the longest call that
    ended in the innermost open one.
    """

    def __init__(self, depth: int, summary: Any) -> None:
        self.depth, self.summary = depth, summary
        self.rows: dict[int, Row] = {}
        self.open: dict[int, Any] = {}
        self.suspended: dict[int, Any] = {}
        self.own, self.inner = [0], [0]
        self.paths = 0
        self.most = [MOST_KEPT]
        self.edge = [0]
        self.bias = self.skip = 0
        self.enter = self.entering()
        self.leave = self.leaving()

    def entering(self) -> Any:
        """What begins a call that is timed; prepared, since each attribute that is looked up costs 20 ns."""
        opened, own, depth, edge, new_series = self.open, self.own, self.depth, self.edge, self.new_series
        summary, inner = self.summary, self.inner

        def enter(row: Row, frame: Any, began: int) -> None:
            row.skip = 1
            if row.every > 1:
                row.draw()
            above, ids = frame.f_back, []
            for _ in range(depth):
                if above is None:
                    break
                ids.append(id(above.f_code))
                above = above.f_back
            key = tuple(ids)
            series = row.series.get(key)
            if series is None:
                series = new_series(row, frame, key)
            entry = opened[id(frame)] = [series, 0, 0, 0, summary(frame) if row.arguments else None, inner[0]]
            inner[0] = 0
            start = entry[1] = _clock()
            entry[3] = own[0] = own[0] + start - began + edge[0]

        return enter

    def leaving(self) -> Any:
        """What ends a call in the frame with an id at a time, if it was timed."""
        opened, own, most, keep, inner = self.open, self.own, self.most, self.keep, self.inner

        def leave(place: int, now: int) -> None:
            entry = opened.pop(place, None)
            if entry is None:
                return
            series = entry[0]
            elapsed = entry[2] + now - entry[1]
            duration = elapsed - own[0] + entry[3]
            if duration < inner[0]:  # edges were calibrated in another moment; or it is another thread's
                duration = min(inner[0], elapsed)
            inner[0] = entry[5] if entry[5] > duration else duration
            if entry[4] is None and len(series.durations) < most[0]:
                series.durations.append(duration)
            else:
                keep(series, duration, entry[4])
            own[0] += _clock() - now

        return leave

    def keep(self, series: Series, duration: int, arguments: Any) -> None:
        """A call with arguments, or one more than is kept by itself."""
        series.durations.append(duration)
        if arguments is not None:
            _argue(series, arguments)
        if len(series.durations) > self.most[0]:
            series.fold(self.bias)

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
        self.paths += 1
        self.most[0] = min(MOST_KEPT, max(_LEAST_KEPT, _MOST_KEPT_IN_ALL // self.paths))
        return row.series.setdefault(key, Series(row, codes[::-1]))

    def pause(self, place: int, now: int) -> None:
        """A generator yields."""
        self.abandoned(place)  # of a frame that was at this place before, and was never resumed
        entry = self.open.pop(place, None)
        if entry is not None:
            # What the tool takes meanwhile is not in its time: only the tool's part so far is remembered.
            entry[2] += now - entry[1]
            entry[3] = self.own[0] - entry[3]
            entry[5], self.inner[0] = self.inner[0], entry[5]
            self.suspended[place] = entry

    def resume(self, place: int) -> None:
        """A generator goes on."""
        entry = self.suspended.pop(place, None)
        if entry is not None:
            self.open[place] = entry
            entry[3] = self.own[0] - entry[3]
            entry[5], self.inner[0] = self.inner[0], entry[5]
            entry[1] = _clock()

    def abandoned(self, place: int) -> bool:
        """Whether a call in the frame with this id is suspended; it ends there."""
        entry = self.suspended.pop(place, None)
        if entry is not None:
            self.keep(entry[0], entry[2] - entry[3], entry[4])
        return entry is not None

    def forget(self) -> None:
        """Nothing was seen yet; open calls belong to another process."""
        self.paths = self.own[0] = self.inner[0] = 0
        self.most[0] = MOST_KEPT
        self.open.clear()
        self.suspended.clear()
        for row in self.rows.values():
            row.series = {}
            row.drawn = row.skip


def _argue(series: Series, arguments: Any) -> None:
    """Keeps the summary of a call's arguments, until there are too many."""
    series.arguments.append(arguments)
    if len(series.arguments) > _MOST_ARGUMENTS:
        series.row.arguments = False
        for other in series.row.series.values():
            other.arguments = []


def bin_of(duration: int) -> int:
    """Number of the logarithmic bin, as call_series.py has them: 32 to each octave."""
    octave = max(0, duration.bit_length() - 6)
    return (octave << 5) + (duration >> octave)


class Timing:
    """Selects functions, and tells what was recorded."""

    def __init__(self, session: Any) -> None:
        self.session = session
        settings = session.settings
        self.recorder = Recorder(settings["depth"], session.load("arguments")["summary"])
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
        plain = _fastest(without, recorder)[0]
        cost, inside = _fastest(with_tool, recorder)
        recorder.edge[0] = max(0, cost - plain - inside)
        shown = sorted(d for series in row.series.values() for d in series.durations)
        recorder.bias = max(0, shown[len(shown) // 2] - plain) if shown else 0
        row.skip = 1 << 40
        recorder.skip = max(0, _fastest(with_tool, recorder)[0] - plain)
        self.way.no_empty(row)
        recorder.forget()

    def begin(self) -> None:
        """Watches from here on."""
        self.way.begin()

    def forked(self) -> None:
        """A new process: what was seen so far is the parent's."""
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


def _fastest(function: Any, recorder: Recorder) -> tuple[int, int]:
    """Ns of a call in the best of some loops, and of that what the tool saw itself take."""
    loops = []
    for _ in range(4):
        before, began = recorder.own[0], _clock()
        for _ in range(_CALIBRATION):
            function()
        took = _clock() - began
        loops.append((took // _CALIBRATION, (recorder.own[0] - before) // _CALIBRATION))
    return min(loops)


def make(session: Any) -> Timing:
    """What watches this process."""
    return Timing(session)
