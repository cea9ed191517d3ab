"""Counted trials of one configuration: base twice and head once, and more where chance is not ruled out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.flows.notes import Notes
from bot.flows.ports import ResourceBench
from bot.model.resources import SOURCE_OF, Count, Counted, Source
from bot.model.space import Configuration
from bot.model.trials import Side

FIRST: tuple[Side, ...] = ("base", "head", "base")
MOST_RUNS = 4
"""Of each side: Student's test of so many is hardly weaker than of any number."""
TRACED: tuple[Source, ...] = ("calls", "simulation")
"""Sources that need trials of their own, the cheaper one first."""
SLOWER: Mapping[Source, float] = {"calls": 2.0, "simulation": 20.0}
"""How many times as long a counted trial takes, roughly: what certainly does not fit is not begun."""
Counts = Mapping[Count, float]


@dataclass
class Runs:
    """Usable counted trials of a configuration by source and side; start_up: of the bare interpreter."""

    configuration: Configuration
    found: dict[tuple[Source, Side], list[Counted]] = field(default_factory=dict)
    start_up: dict[Count, float] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether each source can tell a change of its counts from their spread."""
        least = Counter(FIRST)
        return all(len(self.found.get((s, side), ())) >= least[side] for s in TRACED for side in least)

    def counts(self, side: Side) -> list[Counts]:
        """What each trial's source is the one to tell."""
        return [_own(one) for source in TRACED for one in self.found.get((source, side), ())]


@dataclass
class ResourceCounting:
    """Counts until `until` on `clock` (seconds); what would end later is not begun."""

    bench: ResourceBench
    clock: Callable[[], float]
    until: float
    notes: Notes = field(default_factory=Notes)
    _missing: Mapping[Source, Sequence[str]] = field(default_factory=dict)
    _start_ups: dict[Source, Counts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._missing = self.bench.missing()
        for said in self._missing.values():
            self.notes.say(*said)

    @property
    def left(self) -> float:
        """Seconds."""
        return self.until - self.clock()

    def sources(self) -> list[Source]:
        """Those that can run here."""
        return [source for source in TRACED if source not in self._missing]

    def affordable(self, seconds: float) -> bool:
        """Whether all sources may fit, for a configuration whose trial takes so long."""
        return sum(SLOWER[s] * seconds * len(FIRST) for s in self.sources()) <= self.left

    def count(self, runs: Runs, seconds: float, doubtful: Callable[[Source], bool]) -> None:
        """Fills `runs`, all sources before any more. seconds: of a trial; doubtful: more would tell more."""
        counted = []
        for source in self.sources():
            if SLOWER[source] * seconds * len(FIRST) > self.left:
                self.notes.say(_too_long(source))
            elif self._rounds(runs, source, FIRST):
                counted.append(source)
        for source in ("usage", *counted):
            runs.start_up |= self._start_up(source)
        for source in counted:
            while doubtful(source) and (side := _fewer(runs, source)) and self._rounds(runs, source, (side,)):
                pass

    def _rounds(self, runs: Runs, source: Source, sides: Sequence[Side]) -> bool:
        """One trial of each side, in turn; whether all were counted."""
        for side in sides:
            counted = self.bench.count(side, runs.configuration, source, seconds=max(self.left, 0.0))
            if counted.outcome == "cut":  # what a trial that was stopped lacks is no finding
                some = any(key[0] == source and several for key, several in runs.found.items())
                self.notes.say(_too_long(source, some=some))
                return False
            self.notes.say(*counted.notes)
            if not counted.ok:
                if not counted.notes:
                    self.notes.say(f"The trial of {side} failed when it was counted ({counted.outcome}).")
                return False
            runs.found.setdefault((source, side), []).append(counted)
        return True

    def _start_up(self, source: Source) -> Counts:
        """Of the bare interpreter, counted once; nothing when there is none or it cannot be counted."""
        if source not in self._start_ups and self.left > 0:
            found = self.bench.start_up("base", source, seconds=self.left)
            self._start_ups[source] = _own(found) if found is not None and found.ok else {}
        return self._start_ups.get(source, {})


def _fewer(runs: Runs, source: Source) -> Side | None:
    """The side that has fewer trials; none: both have enough."""
    base, head = (len(runs.found[source, side]) for side in ("base", "head"))
    side: Side = "head" if head < base else "base"
    return side if min(base, head) < MOST_RUNS else None


def _own(counted: Counted) -> Counts:
    """Without what another source is the one to tell: a tracer changes page faults and waits."""
    return {count: n for count, n in counted.counts.items() if SOURCE_OF[count] == counted.source}


def _too_long(source: Source, *, some: bool = False) -> str:
    """some: whether the source has counted trials of the configuration, which its table then shows."""
    what = {"calls": "System calls", "simulation": "Instructions and cache misses"}.get(source, "Resources")
    often = " often enough" if some else ""
    return (
        f"{what} of a flagged configuration were not counted{often}: that would take longer than the time "
        "left for it. A larger --budget, or a smaller workload, makes room for them."
    )
