"""How probably trials that were not made fail, by what is to blame for those that did."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Self

import numpy as np

from bot.analysis.change_points.blame import DOUBTFUL, blame, reach
from bot.analysis.change_points.conflicts import conflicts
from bot.analysis.change_points.noise import Bools
from bot.model.change_points import Observation
from bot.model.space import Configuration, Level, Space


class ProbableFailures:
    """What is to be expected of untried configurations and revisions.

    holds: levels of each configuration, (n_configurations, n_levels). failed, worked: configuration and
    revision of trials. valueless: configurations that failed at the anchor, beside which all run: what is to
    blame for that fails at every revision. pairs_alone: whether single levels are not blamed.
    """

    def __init__(
        self,
        holds: Bools,
        *,
        failed: Collection[tuple[int, int]],
        worked: Collection[tuple[int, int]],
        valueless: Collection[int] = (),
        pairs_alone: bool = False,
    ) -> None:
        revisions = max((r for _, r in (*failed, *worked)), default=0) + 1
        last, near = revisions - 1, reach(revisions)
        together = conflicts(holds, failed=failed, worked=worked, at=last, near=near)
        anchored = {(c, 0) for c, _ in worked}
        self._blames = (
            blame(holds, revisions, failed=failed, worked=worked, together=together),
            blame(holds, 1, failed=[(c, 0) for c in valueless], worked=anchored, by_chance=False),
        )
        self._pairs_alone, self._any_worked = pairs_alone, len(worked) > 0
        self._expected: dict[bytes, Bools] = {}
        """Revisions at which configurations, by their levels, rather fail than not, (n_revisions,)."""

    @classmethod
    def by(cls, space: Space, observations: Sequence[Observation]) -> Self:
        """By the trials of revisions that were built."""
        rows = {c: row for row, c in enumerate(dict.fromkeys(o.probe.configuration for o in observations))}
        built = [((rows[o.probe.configuration], o.probe.revision), o) for o in observations if o.built]
        failed = [(cell, o) for cell, o in built if math.isnan(o.value)]
        return cls(
            np.array([holding(space, space.levels, c) for c in rows]).reshape(-1, len(space.levels)),
            failed={cell for cell, o in failed if o.anchor},
            worked={cell for cell, o in built if not math.isnan(o.value)},
            valueless={cell[0] for cell, o in failed if not o.anchor},
        )

    def expects(self, held: Bools, revision: int) -> bool:
        """Whether a configuration of these levels, (n_levels,), is rather expected to fail there than not.

        As long as nothing worked, what is to blame may be anything: what was not tried may work.
        """
        if not self._any_worked:
            return False
        key = held.tobytes()
        if key not in self._expected:
            alone = self._pairs_alone
            found = [each.of(held[None, :], pairs_alone=alone, least=DOUBTFUL)[0] for each in self._blames]
            self._expected[key] = np.maximum(*found) >= DOUBTFUL
        fails = self._expected[key]
        return bool(fails[min(revision, len(fails) - 1)])


def holding(space: Space, levels: Sequence[Level], configuration: Configuration) -> Bools:
    """At which of some levels a configuration is, (n_levels,)."""
    return np.array([space.holds(level, configuration) for level in levels], dtype=bool)
