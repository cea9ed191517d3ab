"""The terminal: live progress on standard error, the rendered comment on standard output."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

LINE_EVERY = 10.0
"""Seconds between two lines of progress in a log."""
LEADER_LENGTH = 40


class QuietProgress:
    """Says nothing (-q)."""

    def stage(self, text: str) -> None:
        """Ignored."""

    def pairs(self, done: int, seconds: float, budget: float, leader: str) -> None:
        """Ignored."""


class TerminalProgress:
    """A live bar on a terminal; elsewhere a line per stage and one every ten seconds, without control codes.

    A context manager: leaving it removes the bar. `clock` gives seconds from any beginning.
    """

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream is not None else sys.stderr
        terminal = self._stream.isatty()  # asked ourselves: FORCE_COLOR in a CI job must not draw a bar
        self._console = Console(file=self._stream, highlight=False, force_terminal=terminal)
        self._alive = terminal and not self._console.is_dumb_terminal
        self._clock = clock
        self._last = -LINE_EVERY
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the live bar; the cursor is where a prompt expects it. Safe to call twice."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None

    def stage(self, text: str) -> None:
        """A new stage began: building, measuring, ..."""
        shown = _plain(text)
        if not self._alive:
            self._line(shown)
            return
        bar = self._live()
        if self._task is not None:
            bar.remove_task(self._task)
        self._task = bar.add_task(shown, total=None, detail="")

    def pairs(self, done: int, seconds: float, budget: float, leader: str) -> None:
        """Pairs so far, seconds spent, the budget, and the current leading suspect (or "")."""
        detail = _detail(done, max(0.0, budget - seconds), leader)
        if self._alive:
            bar = self._live()
            if self._task is None:
                self._task = bar.add_task("measuring", total=budget, detail=detail)
            bar.update(self._task, total=budget, completed=min(seconds, budget), detail=detail)
        elif self._clock() - self._last >= LINE_EVERY:
            self._line(f"measuring: {detail}")

    def _live(self) -> Progress:
        if self._bar is None:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[detail]}", markup=False),
                console=self._console,
                transient=True,
            )
            self._bar.start()
        return self._bar

    def _line(self, text: str) -> None:
        self._last = self._clock()
        self._stream.write(_encodable(f"suspects: {text}\n", self._stream))
        self._stream.flush()


def show_comment(markdown: str, stream: TextIO | None = None) -> None:
    """Writes a comment: rendered on a terminal, as it is (raw Markdown) in a file or a pipe."""
    stream = stream if stream is not None else sys.stdout
    if stream.isatty():
        console = Console(file=stream, highlight=False)
        console.print(Markdown(_encodable(_unfolded(markdown), stream), hyperlinks=False))
    else:
        stream.write(_encodable(markdown.rstrip("\n") + "\n", stream))
        stream.flush()


def _unfolded(markdown: str) -> str:
    """Our templates' HTML as Markdown, because a terminal cannot fold; fenced blocks stay as they are."""
    parts = re.split(r"(^(`{3,})[^\n]*\n.*?^\2$)", markdown, flags=re.MULTILINE | re.DOTALL)
    texts = [_without_html(part) if i % 3 == 0 else part for i, part in enumerate(parts) if i % 3 != 2]
    return "".join(texts)


def _without_html(text: str) -> str:
    text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"<details><summary>(.*?)</summary>", r"#### \1", text)
    text = text.replace("&#8203;", "")
    return re.sub(r"</details>|</?(?:sub|span)>", "", text)


def _detail(done: int, left: float, leader: str) -> str:
    minutes, rest = divmod(round(left), 60)
    pairs = f"{done:,} {'pair' if done == 1 else 'pairs'}"
    name = _plain(leader)
    name = name if len(name) <= LEADER_LENGTH else name[: LEADER_LENGTH - 1] + "…"
    return f"{pairs}, {minutes}:{rest:02d} left" + (f", leading: {name}" if name else "")


def _plain(text: str) -> str:
    """A stranger's words without anything a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _encodable(text: str, stream: TextIO) -> str:
    """What the stream can write; other characters become question marks instead of an error."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
