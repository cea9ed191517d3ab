"""One pull request that holds the file of assertions as it should be: opened, kept up to date, closed."""

from __future__ import annotations

import hashlib
from typing import Protocol

from bot.flows.nights.asserting import Asserted
from bot.model.errors import ForgeError
from bot.model.forge import FileChange, Standing
from bot.model.report import RevisionRef
from bot.report.assertion_proposals import proposed_body, proposed_title


class Proposals(Protocol):
    """Where a change of one file is proposed, on a branch of its own."""

    def standing(self) -> Standing:
        """What became of the change that was proposed last."""
        ...

    def propose(self, change: FileChange, standing: Standing) -> str:
        """Proposes a change, instead of the last one if that is open; its address."""
        ...

    def withdraw(self, standing: Standing, why: str) -> None:
        """Closes what is open, and takes the branch away."""
        ...


def digest(text: str) -> str:
    """By which a file's text is recognised."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def earlier(proposals: Proposals | None, text: str) -> str:
    """The file as it was proposed last, if it is still `text` at the tip; empty: there is none."""
    if proposals is None:
        return ""
    try:
        standing = proposals.standing()
    except ForgeError:  # said when tonight's is proposed
        return ""
    return standing.text if standing.before == digest(text) else ""


def offer(proposals: Proposals, asserted: Asserted, tip: RevisionRef, *, before: str) -> list[str]:
    """Proposes what is to change, or withdraws what is not any more; what was done, as notes.

    Somebody else's commits are never touched, and what somebody declined is not proposed again until it is
    something else. before: the file's text at the tip.
    """
    if not asserted.certain:
        return []
    try:
        return _offered(proposals, asserted, tip, before=before)
    except ForgeError as error:
        return [f"The change of assertions is not proposed as a pull request: {error}."]


def _offered(proposals: Proposals, asserted: Asserted, tip: RevisionRef, *, before: str) -> list[str]:
    standing, proposed = proposals.standing(), asserted.proposed
    where = standing.url or "the branch of our proposals"
    if standing.state == "foreign":
        said = f"Somebody else committed to {where}: it was left alone"
        return [f"{said}; tonight's change is in the report."] if proposed.entries else [f"{said}."]
    if not proposed.entries:
        if standing.state not in ("open", "unopened"):
            return []
        proposals.withdraw(standing, f"At {tip.label} there is nothing to change any more.")
        return [f"Closed {where}: nothing is to change any more."]
    if (standing.before, standing.text) == (digest(before), proposed.text):
        if standing.state == "declined":
            return [f"The same change of assertions was declined: {where}."]
        if standing.state == "open":
            return [f"The change of assertions is proposed in {where}."]
    change = FileChange(
        path=proposed.path,
        before=digest(before),
        text=proposed.text,
        revision=tip.revision,
        title=proposed_title(proposed),
        body=proposed_body(proposed, tip.label),
    )
    return [f"The change of assertions is proposed in {proposals.propose(change, standing)}."]
