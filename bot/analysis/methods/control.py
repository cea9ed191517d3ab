"""What moves in a configuration that did not change: artefacts of two builds, and moves that cancel out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.analysis.methods.blame import Blame, Compared
from bot.analysis.methods.callers import Callers
from bot.analysis.methods.channels import Measured
from bot.analysis.methods.ledger import changed, ledger, rewritten
from bot.analysis.methods.moves import moves
from bot.model.profiles import Method

AS_MUCH = 0.5
"""A method that moves in the control by this part of its move elsewhere moves anyway. Arbitrary."""


def moved_anyway(control: Compared) -> Mapping[Method, float]:
    """Seconds by which methods' own cost moved beyond chance, though the whole may not have."""
    base = [profile for profile in control.base if profile.outcome == "ok" and profile.methods]
    head = [profile for profile in control.head if profile.outcome == "ok" and profile.methods]
    if not base or not head:
        return {}
    book = ledger(base, head, control.bodies)
    counted = {
        "calls": changed(book.base.calls, book.head.calls),
        "instructions": changed(book.base.instructions, book.head.instructions),
    }
    found = moves(
        book,
        Callers.of(book, base, head),
        Measured(control.seconds, control.interval),
        counted=counted,
        text=rewritten(book, control.bodies),
    )
    if found is None:
        return {}
    return {book.methods[row]: float(found.delta[row]) for row in found.named.nonzero()[0].tolist()}


def beyond_control(found: Blame, seconds: float, anyway: Mapping[Method, float]) -> Blame:
    """Without the methods that moved about as much in the control; their share is unexplained.

    seconds: the measured change that `found` explains.
    """
    kept = tuple(
        change
        for change in found.changes
        if anyway.get(change.method, 0.0) * seconds * change.share <= AS_MUCH * (seconds * change.share) ** 2
    )
    dropped = [change for change in found.changes if change not in kept]
    if not dropped:
        return found
    names = ", ".join(f"`{change.method.name}`" for change in dropped[:3])
    note = f"{names} moved as much in an unflagged configuration, so the change is not blamed on it."
    rest = (found.unexplained or 0.0) + sum(change.share for change in dropped)
    return replace(found, changes=kept, unexplained=rest, notes=(*found.notes, note))
