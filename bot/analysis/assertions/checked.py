"""What checking an assertion came to."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Literal

from bot.model.assertions import CallEdge, Condition, NamedPath

Outcome = Literal["held", "violated", "undecided"]
Direction = Literal["slower", "faster", "differently"]


@dataclass(frozen=True)
class CheckedGroup:
    """One group of an assertion at base and head.

    said: a sentence for people: what moved from what to what, or why it is undecided. base, head: share of
    calls by cluster, as measured; empty without calls. calls: of base and head. ratio: of the typical
    (geometric mean) duration of a call, head / base, with its 90 % interval; NaN: not known. moved: how its
    calls changed, None: not surely beyond the margin. paths: those that moved by themselves, if it is not the
    whole group. more_trials: a side, that are missing to call it held; 0: none, or no number would help.
    """

    when: Condition
    expected: tuple[float, ...]
    outcome: Outcome
    said: str
    base: tuple[float, ...] = ()
    head: tuple[float, ...] = ()
    calls: tuple[int, int] = (0, 0)
    ratio: float = nan
    interval: tuple[float, float] = (nan, nan)
    moved: Direction | None = None
    paths: tuple[NamedPath, ...] = ()
    more_trials: int = 0


@dataclass(frozen=True)
class Checked:
    """An assertion against base and head.

    why: sentences, the reasons of the outcome first; never empty. borders: seconds here, ascending.
    more_trials, more_calls: a side, that are missing; 0: none, or no number would help. new_paths: seen
    at head only; ambiguous: those of them that fulfil no condition or several. vanished: groups (by their
    place) with calls at base and none at head. gone: edges that conditions speak of and no path has any more.
    """

    id: str
    method: str
    outcome: Outcome
    why: tuple[str, ...]
    borders: tuple[float, ...] = ()
    groups: tuple[CheckedGroup, ...] = ()
    more_trials: int = 0
    more_calls: int = 0
    new_paths: tuple[NamedPath, ...] = ()
    ambiguous: tuple[NamedPath, ...] = ()
    vanished: tuple[int, ...] = ()
    gone: tuple[CallEdge, ...] = ()

    @property
    def slower(self) -> bool:
        """Whether a group moved to the reader's disadvantage."""
        return any(g.outcome == "violated" and g.moved != "faster" for g in self.groups)
