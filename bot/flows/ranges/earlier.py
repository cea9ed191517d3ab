"""What an earlier run of the same search measured, for this one to go on from."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from bot.model.change_points import Observation, Probe


class Earlier:
    """What a journal knows, used up as a search asks for it once more: the search goes the same way again."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._left: dict[Probe, deque[tuple[int, Observation]]] = defaultdict(deque)
        for place, observation in enumerate(observations):
            self._left[observation.probe].append((place, observation))
        self._count = len(observations)

    def __len__(self) -> int:
        return self._count

    def answer(self, wishes: Sequence[Probe]) -> tuple[list[Observation], list[Probe]]:
        """The known observations of wishes, in the order in which they were made, and the other wishes."""
        known: list[tuple[int, Observation]] = []
        missing = []
        for probe in wishes:
            left = self._left.get(probe)
            if left:
                known.append(left.popleft())
            else:
                missing.append(probe)
        known.sort(key=lambda numbered: numbered[0])
        return [observation for _, observation in known], missing
