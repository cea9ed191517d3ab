"""Which configurations are profiled: one flagged for each suspect, and an unflagged one as a control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.model.report import ConfigurationChange, Effect
from bot.model.space import Configuration, Space, distance

MOST_FLAGGED = 2


@dataclass(frozen=True)
class Flagged:
    """What was decided on the primary metric: changes by configuration, suspects, and base's seconds."""

    changes: Mapping[Configuration, ConfigurationChange]
    suspects: Sequence[Effect]
    seconds: Mapping[Configuration, float]


def choose(
    space: Space, flagged: Flagged, *, short: bool = False
) -> tuple[list[Configuration], Configuration | None]:
    """Flagged configurations, and an unflagged one where no suspect holds, if there is one.

    For each suspect, the most probable first, the flagged configuration nearest to the default, if none of
    those chosen holds it; at most `MOST_FLAGGED`. The control is the nearest to the first of them.
    short: where little time is left, only the quickest flagged configuration of the first suspect, and its
    control.
    """
    first = next(iter(flagged.changes), ())
    moved = [c for c, change in flagged.changes.items() if change.state in ("slower", "faster")]
    moved = [c for c in moved if flagged.seconds.get(c)]
    moved.sort(key=lambda c: flagged.seconds[c] if short else distance(c, first))
    chosen: list[Configuration] = []
    for suspect in flagged.suspects:
        held = [c for c in moved if space.carries(suspect.term, c)]
        if held and not set(held) & set(chosen):
            chosen.append(held[0])
    chosen = chosen[: 1 if short else MOST_FLAGGED] or moved[:1]
    if not chosen:
        return [], None
    calm = [
        c for c, change in flagged.changes.items() if change.state in ("same", "unclear") and change.pairs
    ]
    calm = [c for c in calm if not any(space.carries(suspect.term, c) for suspect in flagged.suspects)]
    return chosen, min(calm, key=lambda c: distance(c, chosen[0]), default=None)
