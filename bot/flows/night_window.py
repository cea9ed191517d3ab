"""The revisions of one night: from an old anchor to the tip, and what the tip is compared with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """Revisions of one night by their place: 0 is the anchor, the last one is the tip.

    revisions: how many. reference: what the tip is compared with. previous: the newest tip that an earlier
    night has measured (0: none); what lies after it is new.
    """

    revisions: int
    reference: int = 0
    previous: int = 0

    @property
    def tip(self) -> int:
        """The newest revision."""
        return self.revisions - 1
