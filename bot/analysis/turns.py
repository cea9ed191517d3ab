"""What is measured next: in turn all that is open, and more often what leads, stands out or is expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.watch import Watch

LEAST_BATCH = 4
"""Pairs are weighed in batches of about one round: each pair alone would cost more than it tells."""
EVEN_ROUNDS = 3
"""After so many even rounds ..."""
FOCUS = 0.25
"""... every other turn belongs to this share of the configurations, those of the leading candidates."""
FEW_ROUNDS = 2
"""After so many to those that stand out ..."""
CLEARLY = 4.0
"""... by so many standard errors: they need many pairs for an alarm ..."""
STANDING = 0.4
"""... when they are at most this share of the configurations."""
EXPECTED = 0.5
"""Before that, where history knows what changes, to this share, those that show it best."""


@dataclass(frozen=True)
class Turn:
    """Configurations to measure, (n_configurations,), and after how many pairs there is another turn.

    focused: some were chosen of those that are open. hopeful: because of history alone.
    """

    rows: NDArray[np.bool_]
    batch: int
    focused: bool = False
    hopeful: bool = False


def first_turn(configurations: int) -> Turn:
    """Everybody's."""
    return Turn(np.ones(configurations, dtype=bool), max(LEAST_BATCH, configurations))


def next_turn(still: NDArray[np.bool_], watches: Sequence[Watch], pairs: int, *, after: Turn) -> Turn:
    """The turn after another one: of all that is open, and every other one of what leads or stands out.

    Few configurations hold a pair of options, and a bet wins at most a factor of two a pair. What is
    measured may depend on what was seen before: the bets stay fair.

    still: open configurations, (n_configurations,). watches: of the metrics with pairs, so many in all.
    """
    # Later batches grow: there is nothing to gain from looking ten thousand times.
    least = max(LEAST_BATCH, pairs // 40)
    standing = _standing(still, watches) if pairs >= FEW_ROUNDS * len(still) else np.zeros_like(still)
    focus: NDArray[np.bool_] = np.zeros_like(still)
    hopeful = False
    # What history hopes for must not delay what this run shows: its alarm leaves time to tell names apart.
    if standing.any() and (after.hopeful or not after.focused):
        focus, least = standing, max(least, len(still) // 2)
    elif not after.focused and pairs >= EVEN_ROUNDS * len(still):
        leading = max(watches, key=lambda watch: watch.bettor.lead)
        focus = leading.bettor.promising(int(FOCUS * still.sum())) & still
    elif not after.focused and pairs >= len(still):
        focus, hopeful = _hopeful(still, watches), True
    if focus.any():
        return Turn(focus, max(least, 2 * int(focus.sum())), focused=True, hopeful=hopeful)
    return Turn(still, max(least, int(still.sum())))


def _standing(still: NDArray[np.bool_], watches: Sequence[Watch]) -> NDArray[np.bool_]:
    """The few configurations that clearly stand out, where that is no alarm yet, (n_configurations,)."""
    found = np.zeros_like(still)
    for watch in watches:
        found |= (watch.standing(CLEARLY) & ~watch.alarms).any(axis=1)
    found &= still
    return found if found.sum() <= STANDING * still.sum() else np.zeros_like(still)


def _hopeful(still: NDArray[np.bool_], watches: Sequence[Watch]) -> NDArray[np.bool_]:
    """Configurations in which the changes that history expects would show soonest, (n_configurations,).

    They hold half of every other term, too: where history is wrong, little is lost.
    """
    chosen = np.zeros_like(still)
    hoping = [watch for watch in watches if watch.hoped.any()]
    if hoping:
        hope = sum(watch.bettor.shown(watch.hoped) / watch.scale**2 for watch in hoping)
        order = np.argsort(-np.where(still, hope, -1.0), kind="stable")
        chosen[order[: int(EXPECTED * still.sum())]] = True
    return chosen
