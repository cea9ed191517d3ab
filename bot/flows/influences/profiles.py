"""A night's profiles: which configurations are profiled at the tip, and what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from bot.analysis.hindsight import configurations
from bot.flows.notes import Notes
from bot.flows.ports import ProfileBench
from bot.flows.ranges.failing_runs import blamed, together
from bot.model.at_fault import held
from bot.model.history import OUTCOMES
from bot.model.profile_history import MOST_METHODS, ProfileRecorder, ProfileTable
from bot.model.profiles import Profile
from bot.model.report import RevisionRef
from bot.model.space import Configuration, Space, Value
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.covering import pair_wise
from bot.sampling.feature_wise import feature_wise
from bot.sampling.random_uniform import UniformDraw

PROFILING_SHARE = 0.3
"""Of a night's budget, for profiles and what is learnt from them."""
LEARNING_SHARE = 0.15
"""Of that, for learning."""
ANCHORS = 4
"""Configurations that are profiled at each new tip: they show which methods cost what they did before."""
COMPARED = 8
"""Of tonight's trials without a profiler, repeated under it: they show what it adds."""
MOST_DESIGNED = 200
PAIRED = range(2, 200)
"""Options between which pairs are covered; with more, that takes long: each option on alone instead."""
FEWEST = 12
"""Configurations from which on anything is learnt (ten for a model, two to judge it by): none is profiled
twice before."""
REPEATED = 6
"""Configurations of a program that are profiled twice: their spread is the noise."""
ENOUGH = 70
"""Configurations until which profiles have the time that the search for changes left over: 45 and a probe of
25 teach methods well (benchmarks/influences)."""
RETRIES = 20
"""Random draws in a row that were profiled before, until the space counts as known."""
HOPELESS = 3
"""Profiles that fail in a row, and none did well before, until the night gives up."""
NOTES = 5


@dataclass(frozen=True)
class Wanted:
    """A configuration to profile; drawn: at random from all valid ones.

    times: how often; None: once, or twice while the noise is not known.
    """

    configuration: Configuration
    drawn: bool = False
    times: int | None = None


def plan(
    space: Space,
    solver: ConstraintSolver,
    past: ProfileTable,
    tip: str,
    *,
    measured: Iterable[Configuration] = (),
    rng: np.random.Generator,
) -> Iterator[Wanted]:
    """What to profile at the tip, the most instructive first; endless only where the space is.

    Anchors where earlier nights profiled other revisions; then in turn a random configuration, on which
    models are judged, and one of a design: a few that were `measured` without profiler, then all pairs of
    values. What earlier nights profiled is left out until all is known; then it comes
    again, the longest ago first.
    """
    known = _last_profiled(space, past)
    default = solver.default()
    anchors: list[Configuration] = []
    if any(revision.revision != tip for revision in past.revisions):
        anchors = sorted(known, key=lambda c: (c != default, -known[c][1]))[:ANCHORS]
    yield from map(Wanted, anchors)
    fresh = {default: None} if default not in known else {}
    yield from map(Wanted, fresh)
    seen = set(known) | set(fresh)
    compared = [c for c in dict.fromkeys(measured) if c not in seen][:COMPARED]
    designed = iter([*compared, *(c for c in _design(space, solver, rng=rng) if c not in seen)])
    drawn = _draws(UniformDraw(space, solver), seen, rng)
    for random, chosen in zip_longest(drawn, designed):
        for configuration in (random, chosen):
            if configuration is not None and (configuration is random or configuration not in seen):
                seen.add(configuration)
                yield Wanted(configuration, configuration is random)
    yield from (Wanted(c) for c in sorted(known, key=lambda c: known[c][0]) if c not in anchors)


def _last_profiled(space: Space, past: ProfileTable) -> Mapping[Configuration, tuple[float, int]]:
    """Of each configuration that was profiled well, when it was last, and how often."""
    found, codes = configurations(past, space)
    rows = past.where(past.outcome == OUTCOMES.index("ok"))
    _, first = np.unique(rows.run.astype(np.int64) << 32 | rows.profile, return_index=True)
    last: dict[Configuration, tuple[float, int]] = {}
    for run, code in zip(rows.run[first], codes[rows.configuration[first]], strict=True):
        if code >= 0:
            when, times = last.get(found[code], (0.0, 0))
            last[found[code]] = (max(when, past.runs[run].started.timestamp()), times + 1)
    return last


def _design(space: Space, solver: ConstraintSolver, *, rng: np.random.Generator) -> list[Configuration]:
    # Not each option alone first: as many pairs of values teach more (benchmarks/influences/designs).
    design = pair_wise if len(space.options) in PAIRED else feature_wise
    return design(space, solver, MOST_DESIGNED, rng=rng)


def _draws(draw: UniformDraw, seen: set[Configuration], rng: np.random.Generator) -> Iterator[Configuration]:
    """Random configurations that were not profiled yet, until `RETRIES` draws find none."""
    while True:
        fresh = next((c for _ in range(RETRIES) if (c := draw(rng)) not in seen), None)
        if fresh is None:
            return
        yield fresh


@dataclass
class Profiling:
    """Runs profiles of the tip until `until` seconds on a clock.

    spare: seconds that it may go on while fewer than `ENOUGH` configurations are known. known: those that
    earlier nights profiled. repeated: those that they profiled twice.
    """

    bench: ProfileBench
    wanted: Iterable[Wanted]
    clock: Callable[[], float]
    until: float
    spare: float = 0.0
    known: int = 0
    repeated: int = 0
    recorder: ProfileRecorder = field(default_factory=ProfileRecorder)
    profiled: int = 0
    """Profiles that went well."""
    _notes: Notes = field(default_factory=Notes)
    _longest: float = 0.0
    _failed: int = 0
    _worked: defaultdict[Configuration, bool] = field(default_factory=lambda: defaultdict(bool))
    _broken: list[dict[str, Value]] = field(default_factory=list)
    """Values with which profiles failed and none did well: they are left out."""

    def run(
        self, tip: RevisionRef, space: Space, seconds: Mapping[Configuration, Sequence[float]]
    ) -> tuple[str, ...]:
        """Fills the recorder; what a reader must know.

        seconds: CPU seconds of a configuration's trials without a profiler, as far as known.
        """
        for wanted in self._in_order():
            if self.clock() + self._longest >= self._end:
                break
            if held(space.as_dict(wanted.configuration), self._broken):
                continue
            profile = self._profile(wanted.configuration)
            if profile.outcome == "cut":
                break
            self.recorder.add(
                profile,
                tip,
                space.as_dict(wanted.configuration),
                drawn=wanted.drawn,
                unprofiled=float(np.median(seconds.get(wanted.configuration, np.nan))),
            )
            self._take_in(profile)
            # What fails once more would take the time of what teaches something.
            self._worked[wanted.configuration] |= profile.outcome == "ok"
            self._broken = blamed(space, self._worked)
            if self._failed >= HOPELESS and not self.profiled:
                return (*self._told(), "Methods were not profiled: trials fail under the profiler.")
        return self._told()

    @property
    def _end(self) -> float:
        return self.until + (self.spare if self.known + self.profiled < ENOUGH else 0.0)

    def _in_order(self) -> Iterator[Wanted]:
        """What is wanted, once; and the first ones once more as soon as something can be learnt."""
        once: list[Wanted] = []
        for wanted in self.wanted:
            before = self.profiled
            yield wanted
            for time in range(1, wanted.times or 1):
                if self.profiled == before + time:
                    yield wanted
            once += [wanted] * (wanted.times is None and self.profiled > before)
            while self.repeated < REPEATED and once and self.known + self.profiled >= FEWEST:
                self.repeated += 1
                yield once.pop(0)

    def _profile(self, configuration: Configuration) -> Profile:
        began = self.clock()
        profile = self.bench.profile("head", configuration, seconds=self._end - began)
        self._longest = max(self._longest, self.clock() - began)
        return profile

    def _take_in(self, profile: Profile) -> None:
        well = profile.outcome == "ok" and bool(profile.methods)
        self.profiled += well
        self._failed += not well
        if len(profile.methods) > MOST_METHODS:
            self._notes.say(f"Of each profile the {MOST_METHODS:,} methods with the largest shares are kept.")
        self._notes.say(*profile.notes)

    def _told(self) -> tuple[str, ...]:
        """Of the profiles' notes the first few, and how many profiles there are."""
        failed = f"; {self._failed} failed" if self._failed else ""
        without = f", and others with {together(self._broken)} were left out" if self._broken else ""
        made = "1 profile was" if self.profiled == 1 else f"{self.profiled} profiles were"
        return (
            *self._notes.told[:NOTES],
            f"{made} made at the tip{failed}{without}.",
        )


def known_configurations(past: ProfileTable) -> int:
    """Configurations that were profiled."""
    return len(np.unique(past.configuration))


def repeated(past: ProfileTable) -> int:
    """Configurations that were profiled twice in one run."""
    keys = np.stack([past.run, past.configuration, past.profile], axis=1) if len(past) else np.empty((0, 3))
    profiles = np.unique(keys, axis=0)[:, :2]
    _, times = np.unique(profiles, axis=0, return_counts=True)
    return int((times > 1).sum())
