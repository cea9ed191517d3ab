"""Notes of many trials, told to a reader once."""

from __future__ import annotations

import re

_FIGURES = re.compile(r"\d+(\.\d+)?")


class Notes:
    """Sentences in the order they were first said; of those that differ in their figures only, the first."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def say(self, *notes: str) -> None:
        """Adds what is new."""
        for note in notes:
            self._said.setdefault(_FIGURES.sub("", note), note)

    def knows(self, note: str) -> bool:
        """Whether it was said, with whatever figures."""
        return _FIGURES.sub("", note) in self._said

    @property
    def told(self) -> tuple[str, ...]:
        """All that was said."""
        return tuple(self._said.values())
