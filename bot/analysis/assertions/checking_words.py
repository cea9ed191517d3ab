"""What a group's move is called: from what to what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.assertions.checked import Direction
from bot.analysis.assertions.checking_groups import Move
from bot.analysis.assertions.checking_trials import MEAN, TYPICAL
from bot.model.assertions import Floats, NamedPath


def direction(move: Move) -> Direction:
    """Slower: fewer calls below a border, or longer ones; unless a call on average says the contrary.

    Other features may well: calls that come late into the slow cluster are the shortest in it.
    """
    signs = np.sign(move.shift.estimate)
    signs[:TYPICAL] *= -1.0
    clear = abs(move.shift.estimate[MEAN]) > move.shift.reach[MEAN]
    if clear and signs[MEAN] != signs[move.feature]:
        return "differently"
    return "slower" if signs[move.feature] > 0 else "faster"


def told(move: Move, base: Floats, borders: Sequence[float]) -> str:
    """A sentence on what moved. base: its features (see `Features`), (n_features,); borders: seconds."""
    estimate, parts = move.shift.estimate, []
    share = int(np.argmax(np.abs(estimate[:TYPICAL]))) if len(borders) else 0
    clear = np.abs(estimate) > move.shift.reach
    if len(borders) and (move.feature < len(borders) or (clear[share] and abs(estimate[share]) >= 0.05)):
        after = min(max(base[share] + estimate[share], 0.0), 1.0)
        name = "fast" if len(borders) == 1 else f"below border {share + 1}"
        parts.append(f"{percent(base[share])} -> {percent(after)} {name} (< {seconds(borders[share])})")
    if move.feature >= len(borders) or not parts:
        place = max(move.feature, len(borders))
        mean = " on average" * (place == len(estimate) + MEAN)
        parts.append(f"takes {times(estimate[place])} as long{mean}")
    where = f"over {chain(move.stratum.path)}: " if move.stratum.path else ""
    return where + ", ".join(parts)


def percent(share: float) -> str:
    """A share: 41 %; 0.4 % where it rounds to nothing."""
    return f"{100.0 * share:.1g} %" if 0.0 < share < 0.005 else f"{100.0 * share:.0f} %"


def chain(path: NamedPath) -> str:
    """A path as people write it."""
    return " > ".join(path)


def times(logarithm: float) -> str:
    """A ratio: 1.8x, 0.45x, 12x."""
    ratio = float(np.exp(logarithm))
    return f"{ratio:.0f}x" if ratio >= 9.95 else f"{ratio:.1f}x" if ratio >= 0.95 else f"{ratio:.2f}x"


def seconds(duration: float) -> str:
    """With the unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration / 1e-9:.3g} ns"
