"""Revisions, comparisons and builds."""

from __future__ import annotations

from dataclasses import dataclass

from bot.model.trials import Side


@dataclass(frozen=True)
class Revision:
    """A commit (or a release, or a row of a table): full id, a label and subject for people, its tree."""

    id: str
    label: str
    tree: str = ""
    subject: str = ""


@dataclass(frozen=True)
class Range:
    """Revisions in first-parent order, from good to bad; `notes` says how they were found."""

    revisions: tuple[Revision, ...]
    notes: tuple[str, ...] = ()

    @property
    def same_tree(self) -> bool:
        """Whether nothing can have changed at any of them."""
        trees = {revision.tree or revision.id for revision in self.revisions}
        return len(trees) == 1


@dataclass(frozen=True)
class Comparison:
    """Base and head of a pull request; `notes` says how base was found (merge base, exact).

    inputs: the id of the revision whose files both have at the paths `laid`; empty: head's overlay.
    """

    base: Revision
    head: Revision
    notes: tuple[str, ...] = ()
    inputs: str = ""
    laid: tuple[str, ...] = ()

    @property
    def same_tree(self) -> bool:
        """Whether nothing can have changed."""
        return self.base.id == self.head.id or (bool(self.base.tree) and self.base.tree == self.head.tree)


CHECKOUT = "checkout"
"""The step of a build that is no command of anybody: it fails for want of room, or of rights."""
WORKLOADS = "workloads"
"""Likewise: there is no file of that name, and no command that would make it."""


@dataclass(frozen=True)
class Build:
    """What building one side came to: ok, or the step that failed and the last lines of its log."""

    side: Side
    ok: bool
    seconds: float = 0.0
    cached: bool = False
    step: str = "build"
    reason: str = ""
    log: str = ""

    @property
    def ran(self) -> bool:
        """Whether the program was built for it now: not kept from before, and not by a checkout alone."""
        return not self.cached and self.step != CHECKOUT
