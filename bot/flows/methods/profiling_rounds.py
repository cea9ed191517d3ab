"""Profiles of a few configurations in rounds: base and head in turn, as long as time is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.analysis.methods.comparable import comparable
from bot.flows.notes import Notes
from bot.flows.ports import ProfileBench
from bot.model.profiles import Profile, stripped
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

    def add(self, side: Side, profile: Profile) -> None:
        """One more; where it lacks the counts that the others have, or has what they lack, all go without."""
        self.sides[side].append(profile)
        alike = comparable([*self.sides["base"], *self.sides["head"]])
        place = len(self.sides["base"])
        self.sides = {"base": alike[:place], "head": alike[place:]}

    @property
    def enough(self) -> bool:
        """Whether both sides can be compared."""
        return all(len(self.sides[side]) >= least for side, least in LEAST.items())

    @property
    def nameless(self) -> bool:
        """Whether nearly all of what its profiles saw is code without names: more would not tell methods."""
        profiles = [profile for side in self.sides.values() for profile in side]
        return stripped((m, cost.self_share) for p in profiles for m, cost in p.methods.items())


@dataclass
class ProfilingRounds:
    """Runs profiles until `until` on `clock` (seconds); one that would end later is not begun.

    kept: seconds before `until` that are left for what comes after, once the first configuration has what it
    needs. settled: whether a configuration that has `enough` needs no more. tell: what goes on, for people.
    """

    bench: ProfileBench
    clock: Callable[[], float]
    until: float
    kept: float
    settled: Callable[[Profiled], bool]
    tell: Callable[[str], None]
    _notes: Notes = field(default_factory=Notes)

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know."""
        return self._notes.told

    def run(self, wanted: Sequence[Profiled]) -> None:
        """Fills `wanted`, the first first: it has what it needs before the next one is begun."""
        until = self.until
        for number, one in enumerate(wanted, 1):
            which = "one that did not" if one.control else f"{number} of {sum(not o.control for o in wanted)}"
            self.tell(f"profiling configurations that changed: {which}")
            for place, side in enumerate(FIRST):
                self._profile(one, side, left=(until - self.clock()) / (len(FIRST) - place))
            until = self.until - self.kept
        for number in range(1, MOST_ROUNDS):
            for one in wanted:
                if one.enough and not one.failed and not self.settled(one):
                    for side in self._turn(number):
                        self._profile(one, side, left=until - self.clock())

    @staticmethod
    def _turn(number: int) -> Sequence[Side]:
        """Head caught up with base in the first round; then the side that begins changes."""
        if number == 1:
            return ("head",)
        return ("base", "head") if number % 2 else ("head", "base")

    def _profile(self, one: Profiled, side: Side, *, left: float) -> None:
        """One more profile within `left` seconds; a trial that fails under it is not tried again."""
        if one.failed or left <= max(one.seconds.values(), default=0.0):
            return
        began = self.clock()
        profile = self.bench.profile(side, one.configuration, seconds=left)
        one.seconds[side] = max(one.seconds.get(side, 0.0), self.clock() - began)
        if profile.outcome != "cut":  # what an unfinished profile did not see says nothing of the program
            self._say(one, *profile.notes)
        if profile.outcome == "ok" and profile.methods:
            one.add(side, profile)
            return
        one.failed = True
        if profile.outcome == "cut":
            self._say(
                one, f"A profile of {side} was not finished within the {left:.1f} s that were left for it."
            )
        elif not profile.notes:
            self._say(one, f"The trial of {side} failed under {profile.tool.name} ({profile.outcome}).")

    def _say(self, one: Profiled, *notes: str) -> None:
        """What only the control's profile lacks is told as its own: the tables may well have it."""
        if one.control:
            notes = tuple(f"Of the control's profile: {n}" for n in notes if not self._notes.knows(n))
        self._notes.say(*notes)
