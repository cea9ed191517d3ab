"""The terminal: live progress on standard error, the rendered comment on standard output."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from bot.model.report import Spent

LINE_EVERY = 10.0
"""Seconds between two lines of progress in a log."""
LEADER_LENGTH = 40


class QuietProgress:
    """Says nothing (-q)."""

    def stage(self, text: str) -> None:
        """Ignored."""

    def pairs(self, done: int, seconds: float, budget: float, leader: str) -> None:
        """Ignored."""

    def trials(self, spent: Spent, budget: float, found: str) -> None:
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
        leading = f"leading: {_named(leader)}" if leader else ""
        self._spent(seconds, budget, _detail(_counted(done, "pair"), _left(seconds, budget), leading))

    def trials(self, spent: Spent, budget: float, found: str) -> None:
        """Trials and seconds so far, the budget (infinite: trials alone are limited), what was found."""
        counted = _counted(spent.trials, "trial")
        self._spent(spent.seconds, budget, _detail(counted, _left(spent.seconds, budget), _named(found)))

    def _spent(self, seconds: float, budget: float, detail: str) -> None:
        if self._alive:
            bar = self._live()
            total = budget if math.isfinite(budget) else None
            if self._task is None:
                self._task = bar.add_task("measuring", total=total, detail=detail)
            bar.update(self._task, total=total, completed=min(seconds, budget), detail=detail)
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
    """Writes a comment: on a terminal as GitHub first shows it, in a file or a pipe as it is."""
    stream = stream if stream is not None else sys.stdout
    if stream.isatty():
        console = Console(file=stream, highlight=False)
        console.print(Markdown(_encodable(_folded(markdown), stream), hyperlinks=False))
    else:
        stream.write(_encodable(markdown.rstrip("\n") + "\n", stream))
        stream.flush()


def _folded(markdown: str) -> str:
    """Our templates' HTML as Markdown: folded sections are their titles; fences stay as they are."""
    lines: list[str] = []
    fence = ""
    folded = False
    for line in markdown.splitlines():
        opened = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif opened:
            fence = opened.group()
        elif title := re.match(r"<details><summary>(.*)</summary>", line):
            folded = True
            lines.append(f"* ▸ {_without_html(title.group(1))}")
            continue
        elif line == "</details>":
            folded = False
            continue
        elif line.startswith("<!--"):
            continue
        if folded or (not line and _ends_in_title(lines)):
            continue
        if _ends_in_title(lines):
            lines.append("")  # the list of titles ends here
        lines.append(line if fence or opened else _without_html(line))
    return "\n".join(lines)


def _ends_in_title(lines: list[str]) -> bool:
    return bool(lines) and lines[-1].startswith("* ▸")


def _without_html(text: str) -> str:
    return re.sub(r"</?(?:sub|span)>", "", text.replace("&#8203;", ""))


def _detail(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _left(seconds: float, budget: float) -> str:
    if not math.isfinite(budget):
        return ""
    minutes, rest = divmod(round(max(0.0, budget - seconds)), 60)
    return f"{minutes}:{rest:02d} left"


def _named(text: str) -> str:
    name = _plain(text)
    return name if len(name) <= LEADER_LENGTH else name[: LEADER_LENGTH - 1] + "…"


def _plain(text: str) -> str:
    """A stranger's words without anything a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _encodable(text: str, stream: TextIO) -> str:
    """What the stream can write; other characters become question marks instead of an error."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
