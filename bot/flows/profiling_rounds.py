"""Profiles of a few configurations in rounds: base and head in turn, as long as time is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.flows.ports import ProfileBench
from bot.model.profiles import Profile
from bot.model.space import Configuration
from bot.model.trials import Side

LEAST: dict[Side, int] = {"base": 2, "head": 1}
"""Profiles that tell a change of a method from the spread of its profiles."""
FIRST: tuple[Side, ...] = ("base", "head", "base")
MOST_ROUNDS = 5
"""Profiles of each side; more would not make sampled shares much better."""


@dataclass
class Profiled:
    """The usable profiles of one configuration; notes: those of all, and why one could not be used."""

    configuration: Configuration
    control: bool = False
    sides: dict[Side, list[Profile]] = field(default_factory=lambda: {"base": [], "head": []})
    failed: bool = False
    seconds: dict[Side, float] = field(default_factory=dict)
    """Wall seconds that a side's dearest profile took."""

    @property
    def enough(self) -> bool:
        """Whether both sides can be compared."""
        return all(len(self.sides[side]) >= least for side, least in LEAST.items())


@dataclass
class ProfilingRounds:
    """Runs profiles until `until` on `clock` (seconds); a profile that would end later is not begun.

    settled: asked after each round of a configuration that has `enough`, whether it needs no more.
    """

    bench: ProfileBench
    clock: Callable[[], float]
    until: float
    settled: Callable[[Profiled], bool]
    notes: list[str] = field(default_factory=list)

    def run(self, wanted: Sequence[Profiled]) -> None:
        """Fills `wanted`, the first first: it has what it needs before the next one is begun."""
        for one in wanted:
            for place, side in enumerate(FIRST):
                self._profile(one, side, share=1 / (len(FIRST) - place))
        for number in range(1, MOST_ROUNDS):
            for one in wanted:
                if one.enough and not one.failed and not self.settled(one):
                    for side in self._turn(number):
                        self._profile(one, side)

    @staticmethod
    def _turn(number: int) -> Sequence[Side]:
        """Head caught up with base in the first round; then the side that begins changes."""
        if number == 1:
            return ("head",)
        return ("base", "head") if number % 2 else ("head", "base")

    def _profile(self, one: Profiled, side: Side, *, share: float = 1.0) -> None:
        """One more profile, if that needs no more than a share of the time that is left.

        A trial that fails under the profiler is not tried again.
        """
        began = self.clock()
        left = share * (self.until - began)
        if one.failed or left <= max(one.seconds.values(), default=0.0):
            return
        profile = self.bench.profile(side, one.configuration, seconds=left)
        one.seconds[side] = max(one.seconds.get(side, 0.0), self.clock() - began)
        self.notes += profile.notes
        if profile.outcome == "ok" and profile.methods:
            one.sides[side].append(profile)
            return
        one.failed = True
        if profile.outcome == "cut":
            self.notes.append(
                f"A profile of {side} was not finished within the {left:.0f} s that were left for it."
            )
        elif not profile.notes:
            self.notes.append(f"The trial of {side} failed under {profile.tool.name} ({profile.outcome}).")
