"""Change points over commits and terms: what is asked of a bench, what comes back, what a search found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias, runtime_checkable

from bot.model.report import Visible
from bot.model.space import Configuration, Space, Term

Shape: TypeAlias = Literal["step", "transient"]
"""step: stays; transient: the start or end of an episode that passed."""


@dataclass(frozen=True)
class Probe:
    """A trial that is wished: one configuration at one revision, by its place in first-parent order."""

    configuration: Configuration
    revision: int


@dataclass(frozen=True)
class Observation:
    """What a probe gave.

    probe: what was really measured (a table serves the nearest configuration it has).
    value: seconds, or a ratio to the same configuration at an anchor revision; NaN: the trial failed.
    built: whether the revision could be built at all; if not, no configuration can be measured there.
    anchor: of a ratio, the anchor's own value; 0: the anchor failed.
    """

    probe: Probe
    value: float
    built: bool = True
    anchor: float = 1.0


@dataclass(frozen=True)
class ChangePoint:
    """A revision where the performance of a term moved.

    revision: the most probable one; interval: first and last revision that hold 90 % of the probability.
    ratio: seconds from it on / seconds before it; probability: that this term moved in this interval. spared:
    terms within this one that it misses.
    """

    revision: int
    interval: tuple[int, int]
    term: Term
    aliases: tuple[Term, ...]
    ratio: float
    ratio_interval: tuple[float, float]
    probability: float
    shape: Shape = "step"
    spared: tuple[Term, ...] = ()

    def moves(self, configuration: Configuration, space: Space) -> bool:
        """Whether it is said to move a configuration."""
        spared = any(space.carries(term, configuration) for term in self.spared)
        return space.carries(self.term, configuration) and not spared


@dataclass(frozen=True)
class Doubt:
    """Where something surely moved, and which term did is not sure.

    revision, interval: as of a change point. terms: the likely ones, most probable first. ratio: after over
    before, in the configuration that moved most. beside: another term has a change point there.
    """

    revision: int
    interval: tuple[int, int]
    terms: tuple[Term, ...]
    ratio: float
    beside: bool


class ChangePointSearch(Protocol):
    """Asks for trials until nothing is left to learn, and says at any time what it believes."""

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the trials so far show, in order of revision."""
        ...

    def wishes(self) -> Sequence[Probe]:
        """The next trials, to be run together and in any order; empty: nothing is left to learn.

        Asking twice without `partial_fit` in between gives the same answer.
        """
        ...

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in any trials: the wished ones, some of them, others, repeated ones, and history's."""
        ...


@runtime_checkable
class Doubting(Protocol):
    """A search that knows where something moved that has no sure name."""

    @property
    def doubts_(self) -> Sequence[Doubt]:
        """In order of revision."""
        ...


@runtime_checkable
class Seeing(Protocol):
    """A search that knows how small a change it would have found, and goes on to find smaller ones."""

    @property
    def settled_(self) -> bool:
        """Nothing is in doubt any more: what is still wished for only makes smaller changes visible."""
        ...

    @property
    def visible_(self) -> Visible:
        """Of each option, once nothing is in doubt any more."""
        ...
