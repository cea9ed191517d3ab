"""Trials and pairs: what a bench is asked for and what it gives back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from bot.model.space import Configuration

Side: TypeAlias = Literal["base", "head"]
Track: TypeAlias = Literal["duet", "wall", "instructions"]
"""duet: both sides together on one core, CPU time. wall: one after the other, alone on all cores.
instructions: both sides once under callgrind."""
Outcome: TypeAlias = Literal["ok", "exit", "signal", "timeout", "unparsable", "not-started", "cut"]
"""exit: an exit code outside `ok_exit`; unparsable: a metric's regex did not match, or it did nothing;
not-started: the command could not be executed; cut: stopped by the budget or by the user (no failure)."""

UNREAD = "No trial opened"
"""How a note begins that names an input which trials were handed and none of them opened."""
RECORDED = "The table has"
"""How a note begins that says how few values a noisy table has; each of them was asked for."""

TIP_FAILS = "The tip fails"
"""How a night's note begins that names what a commit broke: earlier revisions run it."""
ALONE = "No revision before"
"""How a night's note begins that names the tip, beside which no earlier revision gives a value."""
BESIDE = "beside which all trials run"
"""What a range's note says of configurations that fail at its anchor: nothing is known of them anywhere."""
UNTRIED = "Tonight ended before its first trial gave a value"
"""How a night's note begins whose budget was too small for one comparison."""
COSTLY = "A few configurations take most of the time"
"""How a note begins that names them, where a budget ended before all configurations were measured."""


def unread(notes: Iterable[str]) -> list[str]:
    """Those of some notes that name an input which no trial opened."""
    return [note for note in notes if note.startswith(UNREAD)]


def noisy_table(notes: Iterable[str]) -> bool:
    """Whether some notes tell that values are a table's, and noisy: more time brings no others."""
    return any(note.startswith(RECORDED) for note in notes)


def costly(notes: Iterable[str]) -> list[str]:
    """Those of some notes that name configurations which left no time for the others."""
    return [note for note in notes if note.startswith(COSTLY)]


def untried(notes: Iterable[str]) -> bool:
    """Whether some notes tell that a night's budget was too small for one comparison."""
    return any(note.startswith(UNTRIED) for note in notes)


def tip_fails(notes: Iterable[str]) -> bool:
    """Whether some notes tell that the tip fails where earlier revisions work."""
    return any(note.startswith(TIP_FAILS) for note in notes)


@dataclass(frozen=True)
class Wish:
    """A pair of trials to be run together: usually base against head, (base, base) in an A/A control.

    `revision`: in a range, the place of the revision that is head; base is its anchor. `single`: one trial
    is enough, and stands for both (an exact count that needs nothing beside it).
    """

    configuration: Configuration
    sides: tuple[Side, Side] = ("base", "head")
    track: Track = "duet"
    revision: int | None = None
    single: bool = False

    @property
    def control(self) -> bool:
        """Whether both trials run the same revision."""
        return self.sides[0] == self.sides[1]


@dataclass(frozen=True)
class Trial:
    """One configuration run once at one revision; a failed trial is data, not an exception.

    `metrics`: cpu, wall and queued (ready, without a core) in seconds per run, max_rss in bytes,
    minor_faults, major_faults, voluntary_switches, involuntary_switches, blocks (512 bytes of a device),
    read_bytes, written_bytes (counts per run), instructions, and the subject's own metrics by name.
    `repetitions`: 0 when an exact count was known already and nothing ran.
    """

    outcome: Outcome
    metrics: Mapping[str, float] = field(default_factory=dict)
    exit_code: int | None = None
    repetitions: int = 1
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Whether the trial's metrics may be used."""
        return self.outcome == "ok"

    @property
    def reason(self) -> str:
        """Why it failed: its detail, or else how it ended."""
        return self.detail or self.outcome


@dataclass(frozen=True)
class Pair:
    """Two trials run together, in the order of `wish.sides`; `seconds` of wall (or simulated) time they took.

    `alone` is set on a configuration's first pair: per side the seconds that its warm-up was busy (on a
    core or queueing for one) and its wall seconds; the rest it waited.
    """

    wish: Wish
    first: Trial
    second: Trial
    seconds: float
    alone: Mapping[Side, tuple[float, float]] | None = None

    @property
    def ok(self) -> bool:
        """Both trials ended well and with the same exit code."""
        return self.first.ok and self.second.ok and self.first.exit_code == self.second.exit_code

    @property
    def cut(self) -> bool:
        """Stopped by the budget or by the user: neither a measurement nor a failure."""
        return "cut" in (self.first.outcome, self.second.outcome)

    @property
    def reason(self) -> str:
        """Why it failed, in the words of the first trial that did."""
        if self.first.ok and self.second.ok:
            return f"exit codes differ: {self.first.exit_code} and {self.second.exit_code}"
        return (self.second if self.first.ok else self.first).reason

    def log_ratio(self, metric: str) -> float:
        """Log of the second trial's value over the first one's; NaN: one is missing or not positive."""
        first, second = (trial.metrics.get(metric, math.nan) for trial in (self.first, self.second))
        return math.log(second / first) if first > 0 and second > 0 else math.nan
