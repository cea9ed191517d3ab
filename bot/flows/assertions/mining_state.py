"""What mining knows of each method, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from bot.analysis.assertions.replication import replicated
from bot.model.assertions import CallObservation, PathModel
from bot.model.profiles import Method

Stage: TypeAlias = Literal["timing", "paths", "known", "refused"]
Estimator: TypeAlias = Literal["ours", "published"]

LEAST_OBSERVATIONS = 3
"""Trials until a method may be known."""
UNSETTLED = "its groups of call paths are others in every other trial"
"""Why a method that was watched long enough has no model."""


@dataclass
class Candidate:
    """A method that is being mined.

    stage: its durations are watched, then its call paths, too, until it is known. callers: whether its
    callers are watched with it. alone: no method below it is, because that would take too much of its time.
    rests: trials without the tool beside one with it, so that the overhead is kept over all of them.
    turns: 2, when it may be watched twice as long, because its groups were others in every other trial.
    earlier: observations without paths, for as long as there are too few with them. shift: share of the
    median call by which the tool may be wrong about it, its own part taken off.
    """

    method: Method
    hotness: float
    stage: Stage = "timing"
    observations: list[CallObservation] = field(default_factory=list)
    earlier: list[CallObservation] = field(default_factory=list)
    callers: bool = False
    alone: bool = False
    rests: int = 1
    turns: int = 1
    shift: float = 0.0
    reason: str = ""

    @property
    def points(self) -> int:
        """Calls that were timed."""
        return sum(len(o.every) for o in self.observations)

    def refuse(self, reason: str) -> None:
        """It is not watched again."""
        self.stage, self.reason, self.observations, self.earlier = "refused", reason, [], []

    def give_up(self, reason: str) -> None:
        """It is not watched again; what is known of its durations stays."""
        if self.earlier:
            self.stage, self.observations = "known", []
        else:
            self.refuse(reason)

    @property
    def enough(self) -> list[CallObservation]:
        """Observations for a model; empty: there are too few."""
        return next((o for o in (self.observations, self.earlier) if len(o) >= LEAST_OBSERVATIONS), [])

    def model(self, estimator: Estimator) -> PathModel | None:
        """Of what is enough; None: the groups of its call paths would be others next time."""
        return replicated(self.method.name, self.method.file, self.enough, estimator=estimator)


@dataclass(frozen=True)
class Mined:
    """What mining came to.

    models: of methods that were watched long enough. observations: of these, and of those whose groups would
    be others next time, which are refused. shifts: see `Candidate`. refused: by reason, those that
    cannot be mined. hot: share of the time in the hottest methods, and in those of them that were mined.
    within: of all time that of the mined ones' calls, callees included. overhead: what watching added to the
    CPU time of all trials, with and without; None: not measured. finished: whether there was nothing left to
    learn.
    """

    models: Sequence[PathModel] = ()
    observations: Mapping[Method, Sequence[CallObservation]] = field(default_factory=dict)
    shifts: Mapping[Method, float] = field(default_factory=dict)
    refused: Mapping[str, Sequence[Method]] = field(default_factory=dict)
    hot: tuple[float, float] = (0.0, 0.0)
    within: float = 0.0
    overhead: float | None = None
    trials: int = 0
    finished: bool = False
    notes: tuple[str, ...] = ()
