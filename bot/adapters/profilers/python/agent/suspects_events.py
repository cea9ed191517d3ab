"""Timing by events of the interpreter (sys.monitoring, Python 3.12 on): only chosen functions pay for it."""

# ruff: noqa: BLE001  (the program must never hear of a failure of ours)

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOOLS = (4, 3)
_clock, _frame = time.perf_counter_ns, sys._getframe


class Events:
    """A start event everywhere, switched off where it is not wanted; the rest on chosen code alone."""

    def __init__(self, timing: Any) -> None:
        self.timing = timing
        self.monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self.tool = next(tool for tool in _TOOLS if self.monitoring.get_tool(tool) is None)
        self.monitoring.use_tool_id(self.tool, "suspects")
        self.select = self.selecting()
        self.callbacks: list[Any] = []
        self.calls()
        self.resumptions()
        for event, callback in self.callbacks:
            self.monitoring.register_callback(self.tool, event, callback)
        events = self.monitoring.events
        self.everywhere = events.PY_START | events.PY_THROW | events.PY_UNWIND

    def selecting(self) -> Any:
        """Decides on code that is met for the first time."""
        timing, events = self.timing, self.monitoring.events
        local = events.PY_RETURN | events.PY_YIELD | events.PY_RESUME

        def select(code: Any) -> Any:
            how = timing.chosen(code.co_filename, code.co_qualname)
            if how is None:
                return None
            self.monitoring.set_local_events(self.tool, code, local)
            return timing.add(code, how[0], arguments=how[1])

        return select

    def calls(self) -> None:
        """Callbacks for calls: clocks are read as late, and as early, as can be."""
        recorder, select, disable = self.timing.recorder, self.select, self.monitoring.DISABLE
        rows, own, opened = recorder.rows, recorder.own, recorder.open
        enter, leave = recorder.enter, recorder.leave

        # Near the end of the stack a callback may fail, which is no error of the program's. What notes the
        # start of a call needs as much room as what notes its end: none is left open.
        def started(code: Any, _: int) -> Any:
            try:
                row = rows.get(id(code)) or select(code)
                if row is None:
                    return disable
                row.skip -= 1
                if row.skip:
                    own[0] += recorder.skip
                else:
                    enter(row, _frame(1), _clock())
            except Exception:
                return None
            return None

        def returned(_: Any, __: int, ___: Any) -> None:
            try:
                if opened:
                    now = _clock()
                    leave(id(_frame(1)), now)
            except Exception:
                return

        # This and PY_THROW cannot be had for chosen code alone.
        def unwound(code: Any, _: int, __: Any) -> None:
            try:
                now = _clock()
                if id(code) in rows:
                    leave(id(_frame(1)), now)
            except Exception:
                return

        events = self.monitoring.events
        self.callbacks += [
            (events.PY_START, started), (events.PY_RETURN, returned), (events.PY_UNWIND, unwound),
        ]  # fmt: skip

    def resumptions(self) -> None:
        """Callbacks for generators and coroutines."""
        recorder = self.timing.recorder
        rows, pause, resume = recorder.rows, recorder.pause, recorder.resume

        def yielded(_: Any, __: int, ___: Any) -> None:
            try:
                now = _clock()
                pause(id(_frame(1)), now)
            except Exception:
                return

        def resumed(_: Any, __: int) -> None:
            try:
                resume(id(_frame(1)))
            except Exception:
                return

        def thrown(code: Any, _: int, __: Any) -> None:
            try:
                if id(code) in rows:
                    resume(id(_frame(1)))
            except Exception:
                return

        events = self.monitoring.events
        self.callbacks += [
            (events.PY_YIELD, yielded), (events.PY_RESUME, resumed), (events.PY_THROW, thrown),
        ]  # fmt: skip

    def empty(self) -> Any:
        """An empty function with and without the tool, and its row."""

        def watched() -> None:
            pass

        def plain() -> None:
            pass

        events = self.monitoring.events
        row = self.timing.add(watched.__code__, 1, arguments=False)
        local = events.PY_START | events.PY_RETURN
        self.monitoring.set_local_events(self.tool, watched.__code__, local)
        return watched, plain, row

    def no_empty(self, row: Any) -> None:
        """The empty function is no part of the program."""
        self.monitoring.set_local_events(self.tool, row.code, 0)
        del self.timing.recorder.rows[id(row.code)]

    def begin(self) -> None:
        """Watches."""
        self.monitoring.set_events(self.tool, self.everywhere)

    def stop(self) -> None:
        """Watches no more; calls that are open have no duration."""
        self.monitoring.set_events(self.tool, 0)
        for row in self.timing.recorder.rows.values():
            self.monitoring.set_local_events(self.tool, row.code, 0)


def make(timing: Any) -> Events:
    """The way of this interpreter."""
    return Events(timing)
