"""What a report says of performance assertions."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bot.model.report_part import Part

AssertionState: TypeAlias = Literal["held", "violated", "undecided"]


class AssertionGroup(Part):
    """Calls over some paths: the shares of them in each cluster as expected, and as seen at head and base.

    expression: calls that a path has (`a > b and not c > d`), or `always`. when: the same in the names of
    the outcome's edges (`e1 and not e2`). calls: of base and head. ratio: of a typical call's duration,
    head / base, with a 90 % interval; null: not known. paths: those that moved by themselves, if not the
    whole group did. said: what moved from what to what, or why it is undecided.
    """

    expression: str
    when: str = ""
    expected: tuple[float, ...]
    observed: tuple[float, ...]
    base: tuple[float, ...] = ()
    calls: tuple[int, int] = (0, 0)
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    outcome: AssertionState = "undecided"
    paths: tuple[tuple[str, ...], ...] = ()
    said: str = ""


class AssertionPath(Part):
    """A path to the method, by name, the method last. group: its place, null: of none; calls: base, head."""

    path: tuple[str, ...]
    group: int | None
    calls: tuple[int, int]


class AssertionOutcome(Part):
    """A performance assertion and what this run says of it.

    edges: caller and callee of those that conditions speak of, by name. borders_seconds: between the
    clusters, on this machine. trials: watched, of base and head. why: sentences, the reasons of the outcome
    first. slower: a group moved to the reader's disadvantage. new_paths: at head only. proposed: the file's
    entry as head would have it, where the outcome is `violated`. paths: those with most calls, for a picture.
    """

    id: str
    method: str
    groups: tuple[AssertionGroup, ...]
    borders_seconds: tuple[float, ...]
    outcome: AssertionState
    edges: dict[str, tuple[str, str]] = {}  # noqa: RUF012  pydantic copies it
    file: str | None = None
    trials: tuple[int, int] = (0, 0)
    slower: bool = False
    why: tuple[str, ...] = ()
    new_paths: tuple[tuple[str, ...], ...] = ()
    paths: tuple[AssertionPath, ...] = ()
    proposed: str = ""


class ProposedEntry(Part):
    """An entry that a night would add to the file of assertions, change in it, or take away.

    table: clusters and shares by group; with the times of the night's machine, if it mined the method.
    """

    id: str
    method: str
    change: Literal["new", "changed", "gone"]
    table: str = ""


class ProposedAssertions(Part):
    """What a night would change in the file of assertions; without entries: nothing.

    text: the file's whole new text. difference: to the file at the tip, as a unified diff.
    """

    path: str = ""
    entries: tuple[ProposedEntry, ...] = ()
    text: str = ""
    difference: str = ""
