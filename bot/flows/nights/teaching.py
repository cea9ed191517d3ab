"""What a night learns of options: it profiles the tip, models all nights, and watches what is hard."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bot.flows.influences.known_costs import Known
from bot.flows.influences.profiles import LEARNING_SHARE, Profiling, Wanted, known_configurations, repeated
from bot.flows.nights.watching import WATCHING_SHARE, Watching
from bot.flows.ports import ProfileBench
from bot.model.duration_history import DurationRecorder, DurationTable
from bot.model.errors import NothingMeasuredError
from bot.model.history import Measurements, RunRecord
from bot.model.profile_history import ProfileTable
from bot.model.report import Influence, RevisionRef
from bot.model.space import Configuration, Space
from bot.model.subject import Subject

if TYPE_CHECKING:
    from bot.flows.influences.learning import Effort, Influences

ENTRIES = 300
"""Influences that a report has at most: the program's, and those of its costliest methods."""
SECONDS_EACH, LEAST = 0.3, 10
"""What learning a method takes, and methods that are learnt however little time there is."""
THOROUGH_SECONDS_EACH = 1.5
"""The same when all kinds of models are tried."""


@dataclass(frozen=True)
class Taught:
    """Tonight's profiles, durations of single calls, and what all nights show."""

    profiles: ProfileTable = field(default_factory=ProfileTable.empty)
    durations: DurationRecorder = field(default_factory=DurationRecorder)
    influences: tuple[Influence, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Teaching:
    """known: what history has. workers: where learning runs.

    profiler: None: the subject has no methods, or none can be profiled. wanted: what it shall profile, given
    what was measured tonight. seconds: wall seconds for that and for learning. begins: when they begin on the
    night's clock, at the latest; what the search for changes left over until then may go into profiles, too.
    ends: until when on that clock all of it ends at the latest.
    sample: random configurations whose trials at the tip teach what the program's options cost, when nothing
    else is left to ask. relearns: whether what was watched tonight is learnt from tonight. watcher: makes
    ready what watches single calls, once it is needed; None: the profiler does. rng: for what is held out, as
    that of `suspects influences`: then that says of a night's data what the night said, and what is hard in
    one night is so in the next.
    """

    known: Known
    rng: np.random.Generator
    profiler: ProfileBench | None = None
    wanted: Callable[[Iterable[Configuration]], Iterable[Wanted]] = lambda measured: ()  # noqa: ARG005
    seconds: float = 0.0
    begins: float = 0.0
    ends: float = math.inf
    sample: Sequence[Configuration] = ()
    workers: Callable[[], AbstractContextManager[None]] = nullcontext
    watcher: Callable[[], ProfileBench] | None = None
    relearns: ClassVar[bool] = False

    def teach(
        self,
        subject: Subject,
        tip: RevisionRef,
        run: RunRecord,
        *,
        trials: Measurements,
        clock: Callable[[], float],
        seconds: Mapping[Configuration, Sequence[float]],
    ) -> Taught:
        """Profiles, learns, and watches single calls of what is hard to learn.

        trials: tonight's. seconds: CPU seconds of the tip's, by configuration.
        """
        profiles, notes = ProfileTable.empty(), tuple[str, ...]()
        end, rest = min(clock() + self.seconds, self.ends), (LEARNING_SHARE + WATCHING_SHARE) * self.seconds
        if self.profiler is not None:
            past = self.known.profiles
            job = Profiling(
                self.profiler,
                self.wanted(seconds),
                clock,
                end - rest,
                spare=max(0.0, self.begins - clock()),
                known=known_configurations(past),
                repeated=repeated(past),
            )
            notes = job.run(tip, subject.space, seconds)
            profiles = job.recorder.table(run)
            end = min(max(end, clock() + rest), self.ends)
        known = replace(
            self.known,
            profiles=ProfileTable.concatenated([self.known.profiles, profiles]),
            trials=Measurements.concatenated([self.known.trials, trials]),
        )
        known, said = self.known_of(known, subject.space)
        notes = (*notes, *said)
        until = self.ends if self.profiler is None else end
        try:
            found = self.learn(known, subject, lambda: until - clock())
        except NothingMeasuredError as error:
            return Taught(profiles, notes=(*notes, str(error)))
        durations = DurationRecorder()
        if self.profiler is not None and found.hard:
            watching = Watching(self.watching(), found.hard, clock, end)
            watchable = self.watchable(profiles, known, found.hard, subject.space)
            notes = (*notes, *watching.run(tip, subject.space, watchable))
            durations = watching.recorder
            if self.relearns and len(durations) and clock() < end:
                every = DurationTable.concatenated([known.durations, durations.table(run)])
                found = self.learn(replace(known, durations=every), subject, lambda: end - clock())
        return Taught(profiles, durations, found.entries[:ENTRIES], (*notes, *found.notes))

    def known_of(self, known: Known, space: Space) -> tuple[Known, tuple[str, ...]]:  # noqa: ARG002
        """What of history and tonight is learnt from, and notes on that."""
        return known, ()

    def learn(self, known: Known, subject: Subject, left: Callable[[], float]) -> Influences:
        """Influences, in the workers, as far as the seconds go that are left.

        Raises:
            NothingMeasuredError: too little is known.
        """
        from bot.flows.influences.learning import learnt  # two seconds, not of every start

        with self.workers():
            return learnt(known, subject, rng=deepcopy(self.rng), effort=self.effort, left=left)

    def watchable(
        self,
        tonight: ProfileTable,
        known: Known,  # noqa: ARG002
        hard: Sequence[str],  # noqa: ARG002
        space: Space,  # noqa: ARG002
    ) -> ProfileTable:
        """Profiles in whose configurations hard methods are watched."""
        return tonight

    def watching(self) -> ProfileBench:
        """What watches single calls, made ready."""
        assert self.profiler is not None
        return self.profiler if self.watcher is None else self.watcher()

    @property
    def effort(self) -> Effort:
        """All kinds of models where the time lets each method have them; else quick ones."""
        from bot.flows.influences.learning import MOST, QUICK, Effort

        time = LEARNING_SHARE * self.seconds
        if self.profiler is None or time < MOST * THOROUGH_SECONDS_EACH:
            most = MOST if self.profiler is None else int(np.clip(time / SECONDS_EACH, LEAST, MOST))
            return Effort(QUICK, most)
        return Effort(most=MOST)
