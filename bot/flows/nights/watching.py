"""A night's fine profiles: the single calls of methods that are hard to learn, at the tip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from bot.analysis.hindsight import configurations
from bot.flows.notes import Notes
from bot.flows.ports import ProfileBench
from bot.model.duration_history import DurationRecorder
from bot.model.history import OUTCOMES
from bot.model.profile_history import NO_COUNT, NO_METHOD, ProfileTable
from bot.model.profiles import Method, MethodCost, Profile, Tool
from bot.model.report import RevisionRef
from bot.model.space import Configuration, Space

WATCHING_SHARE = 0.2
"""Of the time for profiles."""
MOST_HARD = 10
"""Methods that are watched at most, the costliest: each makes it harder to stay within the overhead."""
TWICE = 5
"""Configurations that are watched twice, the first ones: their spread is the noise."""
HOPELESS = 3
"""Trials that fail in a row, and none did well before, until the night gives up."""
NOTES = 5
NAMED = 5


@dataclass
class Watching:
    """Watches methods until `until` seconds on a clock.

    methods: their names, the costliest first. recorder: what was seen, filled by `run`.
    """

    bench: ProfileBench
    methods: Sequence[str]
    clock: Callable[[], float]
    until: float
    recorder: DurationRecorder = field(default_factory=DurationRecorder)
    watched: int = 0
    """Trials that went well."""
    _notes: Notes = field(default_factory=Notes)
    _longest: float = 0.0
    _failed: int = 0

    def run(self, tip: RevisionRef, space: Space, profiles: ProfileTable) -> tuple[str, ...]:
        """Fills the recorder in the configurations of `profiles`; what a reader must know."""
        # What lies outside of the checkout can be watched by few tools, and changed by nobody here.
        own = {m.name for m in profiles.methods if m.file is not None}
        wanted = ([name for name in self.methods if name in own] or self.methods)[:MOST_HARD]
        for configuration, coarse, uncalled in _known(profiles, space, set(wanted)):
            profile = self._watch(configuration, coarse)
            if profile is None:
                break
            self.recorder.add(profile, tip, space.as_dict(configuration), uncalled=uncalled)
            if self._failed >= HOPELESS and not self.watched:
                break
        if not self.watched and not self._failed:
            return ()
        named = ", ".join(f"`{name}`" for name in wanted[:NAMED])
        more = f" and {len(wanted) - NAMED} more" if len(wanted) > NAMED else ""
        failed = f"; {self._failed} failed" if self._failed else ""
        return (
            *self._notes.told[:NOTES],
            f"Single calls of methods that are hard to learn were watched in {self.watched} trials{failed}:"
            f" {named}{more}.",
        )

    def _watch(self, configuration: Configuration, coarse: Profile) -> Profile | None:
        """One fine profile; None: the time is over."""
        began = self.clock()
        if began + self._longest >= self.until:
            return None
        left = self.until - began
        profile = self.bench.watch("head", configuration, list(coarse.methods), coarse, seconds=left)
        self._longest = max(self._longest, self.clock() - began)
        if profile.outcome == "cut":
            return None
        self.watched += profile.outcome == "ok"
        self._failed += profile.outcome != "ok"
        self._notes.say(*profile.notes)
        return profile


def _known(
    table: ProfileTable, space: Space, names: set[str]
) -> Iterator[tuple[Configuration, Profile, list[Method]]]:
    """Profiled configurations in which some methods are called: their calls, and methods that are not called.

    The first ones come twice. A method without a count may have been called nevertheless.
    """
    found, codes = configurations(table, space)
    rows = table.where((table.outcome == OUTCOMES.index("ok")) & (table.method != NO_METHOD))
    every = [
        m for m in dict.fromkeys(rows.methods[code] for code in np.unique(rows.method)) if m.name in names
    ]
    coarse = Tool("coarse", "", "coarse", frozenset({"calls"}))
    _, first = np.unique(rows.configuration, return_index=True)
    place = 0
    for row in np.sort(first):
        own = rows.where((rows.run == rows.run[row]) & (rows.profile == rows.profile[row]))
        calls = {rows.methods[m]: int(c) for m, c in zip(own.method, own.calls, strict=True)}
        called = {
            m: MethodCost(0.0, calls=None if calls[m] == NO_COUNT else calls[m]) for m in every if m in calls
        }
        code = codes[rows.configuration[row]]
        if called and code >= 0:
            counted = (own.calls != NO_COUNT).any()
            uncalled = [m for m in every if m not in calls] if counted else []
            profile = Profile(coarse, "ok", float(own.seconds[0]), called)
            yield from repeat((found[code], profile, uncalled), 2 if place < TWICE else 1)
            place += 1
