"""Profiles: what each method of a program cost in one trial, coarse for all methods, fine for a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.model.sites import Account
from bot.model.trials import Outcome

Grain: TypeAlias = Literal["coarse", "fine"]
NAMELESS = 0.9
"""Of a profile's time, in code without names: what methods there are is then not to be seen. Arbitrary."""


@dataclass(frozen=True)
class Method:
    """A method as it is known across builds: qualified name without arguments, file relative to the checkout.

    Comprehensions, lambdas, generated code and built-ins count to the nearest named caller. `line` is where
    it begins in this build; it is not part of what the method is.
    """

    name: str
    file: str | None = None
    line: int | None = field(default=None, compare=False)

    @property
    def nameless(self) -> bool:
        """Whether it stands for code without names, by which object file it is in: `[libz.so.1]`."""
        return self.name.startswith("[")

    def __lt__(self, other: Method) -> bool:
        """By name, then file; one without a file comes first."""
        return (self.name, self.file or "") < (other.name, other.file or "")


CallPath: TypeAlias = tuple[Method, ...]


def stripped(costs: Iterable[tuple[Method, float]]) -> bool:
    """Whether nearly all of what methods cost, in any unit, is of code without names."""
    whole = unnamed = 0.0
    for method, cost in costs:
        whole += cost
        unnamed += cost * method.nameless
    return unnamed > 0.0 and unnamed >= NAMELESS * whole


@dataclass(frozen=True)
class MethodCost:
    """What one method cost in one trial; None: the tool cannot tell.

    self_share: of all that the tool saw, 0 to 1, without callees. self_seconds, total_seconds: without and
    with callees, of the trial as it was profiled. calls: exact. instructions: without callees. running_share:
    self_share of what the program's own threads ran, without what the runtime's compilers and collectors did
    for it.
    """

    self_share: float
    self_seconds: float | None = None
    total_seconds: float | None = None
    calls: int | None = None
    instructions: int | None = None
    running_share: float | None = None


@dataclass(frozen=True)
class EdgeCost:
    """Calls from one method to another, and their cost with callees: in seconds, or in instructions."""

    calls: int | None
    total: float


@dataclass(frozen=True)
class Tool:
    """A profiler: name and version, what it measures, and for people what it costs and cannot see.

    slowdown: rough factor on the whole program (coarse); seconds_per_call: of each watched call (fine).
    bias: of these, what shows in the call's duration, and was taken off. left: share of it that may be left
    in durations then, or too much, as far as was measured. callers: whether a fine tool sees callers that are
    not watched. sampled: whether it times only some of the calls of what is called often.
    """

    name: str
    version: str
    grain: Grain
    quantities: frozenset[Literal["calls", "seconds", "instructions", "edges", "durations", "arguments"]]
    slowdown: float = 1.0
    seconds_per_call: float = 0.0
    bias: float = 0.0
    left: float = 1.0
    callers: bool = False
    sampled: bool = False
    blind: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """One trial to be profiled: the command as it would run unprofiled, and where.

    words[0] is found on the trials' PATH; env is all the environment it has; root: the checkout, to which
    files of methods are relative (read-only for the program); scratch: a folder that it can write. fresh: a
    folder that is made anew for each trial, if the command names one. stop: asked while a trial runs, whether
    it has to end. seconds: of wall time that a profile, which may be of several trials, should take at most.
    one_core: its trials are measured on one core; a runtime that compiles and collects garbage beside the
    program, which then takes turns with it, is profiled so too. read: what of ours it may read, `scratch`
    apart; None: it has no sandbox. write: what it may write besides.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    root: Path
    cwd: Path
    scratch: Path
    stdin: Path | None = None
    account: Account | None = None
    timeout: float = 60.0
    ok_exit: tuple[int, ...] = (0,)
    stop: Callable[[], bool] | None = None
    fresh: Path | None = None
    seconds: float = inf
    one_core: bool = False
    read: tuple[Path, ...] | None = None
    write: tuple[Path, ...] = ()

    @property
    def over(self) -> bool:
        """Whether a trial has to end now."""
        return self.stop is not None and self.stop()


@dataclass(frozen=True)
class CallSeries:
    """Durations of the calls of one method over one call path (callers, outermost first, as far as known).

    durations: seconds, shape (n,), in order of return; empty when there were too many to keep. edges, counts:
    their histogram then, shapes (bins + 1,) and (bins,). arguments: one small summary per kept call (types,
    lengths, small numbers; never contents), or none.
    """

    method: Method
    path: CallPath
    calls: int
    seconds: float
    durations: NDArray[np.float64]
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    arguments: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def summed(cls, method: Method, path: CallPath, calls: int, seconds: float) -> CallSeries:
        """Calls of which no duration is known, only their sum (0: not even that)."""
        nothing = np.empty(0)
        return cls(method, path, calls, seconds, nothing, nothing, nothing.astype(np.int64))


@dataclass(frozen=True)
class Profile:
    """What one tool saw of one trial; `outcome` other than `ok`: what is there is unfinished, see notes.

    seconds: CPU seconds that the profiled trial took in all, tool included. samples: of a sampling tool.
    series: of a fine tool. notes: sentences for the report. unprofiled: CPU seconds of the same trial without
    the tool, where it was run for comparison; NaN: it was not. trials: time in each of the trials that are
    summed up here, where these were several.
    """

    tool: Tool
    outcome: Outcome
    seconds: float
    methods: Mapping[Method, MethodCost] = field(default_factory=dict)
    edges: Mapping[tuple[Method, Method], EdgeCost] = field(default_factory=dict)
    samples: int | None = None
    series: Sequence[CallSeries] = ()
    notes: tuple[str, ...] = ()
    unprofiled: float = nan
    trials: Sequence[Profile] = ()

    @property
    def plain_seconds(self) -> float:
        """CPU seconds that the trial would take without the tool, as far as its usual slow-down tells."""
        return self.seconds / max(self.tool.slowdown, 1.0)

    @property
    def ending(self) -> str:
        """Why it tells nothing of methods, in a sentence about it."""
        if self.outcome == "cut":
            return "was not finished within the time that was left for it"
        return f"ended as {self.outcome}" if self.outcome != "ok" else "has no methods"
