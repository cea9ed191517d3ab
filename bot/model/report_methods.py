"""What a report says of methods: the blamed ones, and what profiles of base and head show."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.model.report_part import Part
from bot.model.space import Value

HARDLY_ANY = 0.25
"""Where less of a change goes away without that of a method's text, this is not why. Arbitrary."""


class CodePlace(Part):
    """A method of the repository, and where it is at head."""

    method: str
    file: str
    line: int | None = None


class MethodSuspect(Part):
    """A method whose own cost moved between base and head, in one flagged configuration (`options`).

    Self seconds: without callees, of a trial that is not profiled. calls, instructions: null: the profiler
    cannot tell. share_of_change: of the measured change, of the method alone or (with_callees) with all that
    it calls; interval: its 90 % interval. change: `new` and `vanished` ones were seen on one side only; one
    with `calls` costs no more by itself, and makes the additional calls of one that does. callers: the path
    to it, outermost first, over who calls more than before, else the hottest at head. owner: of a method that
    is not the repository's, the nearest caller on that path that is. stands: of `new` and `vanished` ones,
    whether a function of that name stands in its file at both: one side alone calls it, or (`perhaps
    inlined`: native programs) it is inlined on the other. was: its name at base, when that was another.
    same_text: whether its text is known to be the same at both. restored: the share of the
    configuration's change that went away in a build of head without the change of this method's text (null:
    not tried), with a 90 % interval. assertion: the id of the performance assertion that it violates, where
    that alone makes it a suspect; seconds are then of its calls over the paths that moved, and
    share_of_change is 0 where the configuration as a whole did not change.
    """

    method: str
    file: str | None
    line: int | None
    base_self_seconds: float
    head_self_seconds: float
    calls: tuple[int | None, int | None]
    share_of_change: float
    terms: tuple[tuple[str, ...], ...] = ()
    change: Literal["slower", "faster", "new", "vanished", "calls"] = "slower"
    interval: tuple[float, float] | None = None
    instructions: tuple[int, int] | None = None
    callers: tuple[str, ...] = ()
    owner: CodePlace | None = None
    was: str | None = None
    stands: Literal["", "called", "perhaps inlined"] = ""
    same_text: bool = False
    with_callees: bool = False
    restored: float | None = None
    restored_interval: tuple[float, float] | None = None
    options: dict[str, Value] = Field(default_factory=dict)
    assertion: str = ""

    @property
    def cleared(self) -> bool:
        """Whether without the change of its text nearly all of the configuration's change stayed."""
        return self.restored_interval is not None and self.restored_interval[1] < HARDLY_ANY


class FlameNode(Part):
    """A call path's last method: seconds with callees at base and head; parent: its index, -1: a root."""

    method: str
    parent: int = Field(ge=-1)
    base: float
    head: float


class ComparedProfile(Part):
    """What the profiles of one configuration say: a flagged one, or an unflagged one as a control.

    change_seconds: measured without a profiler, of one trial. unexplained: the share of it that no named
    method explains (null: nothing changed). overhead: profiled seconds over unprofiled ones. flame: parents
    come before their children. blind: what the tool cannot see, in sentences. samples: of the side that has
    fewer (null: the tool takes none).
    """

    options: dict[str, Value]
    control: bool = False
    tool: str = ""
    blind: tuple[str, ...] = ()
    change_seconds: float
    unexplained: float | None = None
    overhead: float | None = None
    samples: int | None = None
    flame: tuple[FlameNode, ...] = ()
