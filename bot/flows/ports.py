"""What a flow asks of the world: shapes that adapters fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from bot.model.change_points import Observation, Probe
from bot.model.duration_history import DurationTable
from bot.model.history import EVERYTHING, Measurements, Segment, Selection
from bot.model.machines import REPRESENTATIVES, FingerprintTable, Stressed
from bot.model.profile_history import ProfileTable
from bot.model.profiles import Method, Profile, Target, Tool
from bot.model.report import Environment, Spent
from bot.model.resources import Counted, Source
from bot.model.revisions import Build, Comparison
from bot.model.space import Configuration, Level, Term
from bot.model.trials import Pair, Side, Wish


class Bench(Protocol):
    """Runs pairs of trials.

    Pulls wishes lazily, as slots fall free, so that a decision made after one pair
    changes the next wish. Warm-ups are its own affair. Never raises for what a subject program does.
    """

    @property
    def slots(self) -> int:
        """Pairs that run at the same time."""
        ...

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:
        """Pairs in order of completion until wishes end. None: nothing to do until a running pair ends."""
        ...

    def served(self, configuration: Configuration) -> Configuration:
        """The configuration that a wish for this one will measure (a table serves the nearest it has)."""
        ...

    def elapsed(self) -> float:
        """Seconds (wall or simulated) since the first trial began; 0 before it."""
        ...

    def stopped(self) -> bool:
        """Whether a signal asked the run to end; running pairs come back as cut."""
        ...

    def notes(self) -> Sequence[str]:
        """What this machine could not give (privileges, isolation), one sentence each."""
        ...

    def environment(self) -> Environment:
        """The machine; `noise` is filled by the flow."""
        ...


class Workshop(Protocol):
    """Builds the two sides of a comparison."""

    def build(self, comparison: Comparison) -> Mapping[Side, Build]:
        """Builds both sides in parallel; a failed build is an outcome, not an exception."""
        ...

    def notes(self) -> Sequence[str]:
        """What a reader must know about how it was built."""
        ...


class Solver(Protocol):
    """Questions about the constrained space (sampling.constraints answers them)."""

    def equivalent(self, first: Term, second: Term) -> bool:
        """Whether two terms hold in the same valid configurations."""
        ...

    def possible(self, term: Term) -> bool:
        """Whether any valid configuration holds the term."""
        ...

    def complete(self, held: Iterable[Level] = (), *, near: Configuration) -> Configuration | None:
        """A valid configuration at the held levels, close to `near`; None: there is none."""
        ...


class Progress(Protocol):
    """Tells a waiting person what is going on (terminal, or lines in a log)."""

    def stage(self, text: str) -> None:
        """A new stage began: building, measuring, ..."""
        ...

    def pairs(self, done: int, seconds: float, budget: float, leader: str) -> None:
        """Pairs so far, seconds spent, the budget, and the current leading suspect (or "")."""
        ...

    def trials(self, spent: Spent, budget: float, found: str) -> None:
        """Trials and seconds so far, the budget (or infinity), what was found (or "")."""
        ...


class Sampler(Protocol):
    """Orders configurations so that every prefix covers levels and pairs of levels as evenly as it can."""

    def __call__(self, count: int) -> Iterable[Configuration]:
        """The first `count` configurations (fewer when the space has fewer)."""
        ...


class Store(Protocol):
    """The history: what earlier runs measured, profiled and timed, and their machines; in several places."""

    @property
    def source(self) -> str | None:
        """Where the history came from, for the report (`branch`, `directory`, ...); None: there is none."""
        ...

    def append(self, run: Measurements) -> str:
        """Adds one run's measurements for ever (the same again changes nothing); the new segment's name.

        Raises:
            HistoryError: it could not be written (disk full, refused); what was there is untouched.
        """
        ...

    def append_profiles(self, profiles: ProfileTable) -> str:
        """Adds the profiles of one run, as `append` its measurements; the new segment's name."""
        ...

    def append_durations(self, durations: DurationTable) -> str:
        """Adds the durations of one run, as `append` its measurements; the new segment's name."""
        ...

    def append_fingerprints(self, fingerprints: FingerprintTable) -> str:
        """Adds the fingerprint of one run's machine, as `append` its measurements; the new segment's name."""
        ...

    def segments(self) -> Sequence[Segment]:
        """What is there, oldest first, unreadable segments included."""
        ...

    def scan(self, wanted: Selection = EVERYTHING) -> Iterator[Measurements]:
        """The wanted measurements piece by piece, newest run first; one piece at a time is in memory."""
        ...

    def read(self, wanted: Selection = EVERYTHING) -> Measurements:
        """The wanted measurements, oldest run first."""
        ...

    def profiles(self, wanted: Selection = EVERYTHING) -> Iterator[ProfileTable]:
        """The wanted profiles piece by piece, newest run first; they have no metrics to select."""
        ...

    def durations(self, wanted: Selection = EVERYTHING) -> Iterator[DurationTable]:
        """The wanted durations piece by piece, as `profiles`."""
        ...

    def fingerprints(self, wanted: Selection = EVERYTHING) -> Iterator[FingerprintTable]:
        """The wanted fingerprints piece by piece, as `profiles`; they have no revisions to select either."""
        ...

    def notes(self) -> Sequence[str]:
        """What a reader must know, one sentence each: damaged or newer segments, places out of reach."""
        ...


class RevisionBench(Protocol):
    """Runs trials at any revision of a range; builds what it needs. Never raises for what a subject does."""

    def measure(self, probes: Sequence[Probe]) -> Iterator[Observation]:
        """Observations in order of completion; fewer than asked once time or trials are spent."""
        ...

    def elapsed(self) -> float:
        """Seconds (wall or simulated) since the first trial began."""
        ...

    def stopped(self) -> bool:
        """Whether a signal asked the run to end."""
        ...

    def spent(self) -> Spent:
        """What the run cost so far."""
        ...

    def notes(self) -> Sequence[str]:
        """What could not be given or must be known, one sentence each."""
        ...

    def environment(self) -> Environment:
        """The machine."""
        ...


class Journal(Protocol):
    """Keeps a long search's trials through a kill."""

    def observations(self) -> Sequence[Observation]:
        """What an earlier run of the same search measured."""
        ...

    def append(self, observation: Observation) -> None:
        """Keeps one more; on return it survives a kill."""
        ...


class Profiler(Protocol):
    """Runs one trial under a tool and reads what the tool wrote; never raises for what a program does."""

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        ...

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not, here and for this program, one sentence each; empty: it can run."""
        ...

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One profiled trial. `methods`: those that a fine tool watches; a coarse tool sees all."""
        ...


class ProfileBench(Protocol):
    """Runs trials of built sides under profilers; never raises for what a program does."""

    def missing(self) -> Sequence[str]:
        """What stands in the way of any profile, one sentence each; empty: it can run."""
        ...

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = math.inf) -> Profile:
        """One coarse profile. `seconds`: wall time that is left; a profile that needs more ends as `cut`."""
        ...

    def watch(
        self,
        side: Side,
        configuration: Configuration,
        methods: Sequence[Method],
        coarse: Profile,
        *,
        seconds: float = math.inf,
        overhead: float | None = None,
        rests: int = 1,
    ) -> Profile:
        """One fine profile: the single calls of those methods that the overhead lets it watch.

        coarse: the same configuration's, which tells how often methods are called. overhead: share of its
        time that the watched trial may take longer, durations being all that is wanted; None: the subject's,
        and arguments are told where the tool can. rests: trials without a profiler beside it.
        """
        ...

    def bodies(self, side: Side, methods: Iterable[Method]) -> Mapping[Method, str]:
        """Source texts of a side's methods, as far as found; without a line, where its file has one such."""
        ...


class ResourceBench(Protocol):
    """Counts what trials of built sides ask of the machine; never raises for what a program does."""

    def missing(self) -> Mapping[Source, Sequence[str]]:
        """What stands in the way of a source, one sentence each; a source that is left out can run."""
        ...

    def count(
        self, side: Side, configuration: Configuration, source: Source, *, seconds: float = math.inf
    ) -> Counted:
        """One trial, counted. `seconds`: wall time that is left; a trial that needs more ends as `cut`."""
        ...

    def start_up(self, side: Side, source: Source, *, seconds: float = math.inf) -> Counted | None:
        """The same of the bare interpreter that the program runs on; None: it runs on none."""
        ...


class Stresser(Protocol):
    """Stresses this machine, part by part, and tells how fast that went."""

    @property
    def tool(self) -> str:
        """Name and version of what stresses; fingerprints of different ones are not comparable."""
        ...

    def missing(self) -> Sequence[str]:
        """What stands in the way of any fingerprint, one sentence each; empty: it can run."""
        ...

    def stress(
        self,
        stressors: Sequence[str] = REPRESENTATIVES,
        *,
        repetitions: int = 3,
        seconds: int = 2,
        most: float = math.inf,
    ) -> Stressed:
        """Every stressor so often for so many seconds, all before any again; none begins after `most`."""
        ...
