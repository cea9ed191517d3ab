"""Explanations take over from each other what they say of a place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.pruning import pruned

NEXT = 1
"""Measured revisions on each side of a place that are of it: a step may be drawn beside its own revision."""
CLEARLY = float(np.log(9.0))
"""Log odds from which on one explanation of a place leaves the other no chance: what is told is 90 % sure."""


def take_over(evidence: Evidence, chains: Sequence[list[int]], rng: np.random.Generator) -> None:
    """Gives each chain what another one says of a place where that is clearly more probable (in place).

    Compared without what is there by chance. Where trials do not decide clearly each chain keeps what it
    says: that they differ is what shows that a name is not sure.
    Source: Liang and Wong, "Evolutionary Monte Carlo", Statistica Sinica 2000. There all of a place is
    exchanged, and as probably as balance wants; chains here are few, and looks too few to wait for that.
    """
    plain = [pruned(evidence, chosen) for chosen in chains]
    places = sorted({j % evidence.places for chosen in plain for j in chosen})
    for i in rng.permutation(len(chains)):
        for place in rng.permutation(places):
            said = {tuple(sorted(_split(evidence, chosen, place)[0])) for chosen in plain}
            if len(said) == 1:
                continue
            own, rest = _split(evidence, plain[i], place)
            scores = {there: evidence.score([*rest, *there]) for there in sorted(said)}
            best = max(scores, key=scores.__getitem__)
            if scores[best] > scores[tuple(sorted(own))] + CLEARLY:
                plain[i] = [*rest, *best]
                chains[i][:] = [*_split(evidence, chains[i], place)[1], *best]


def _split(evidence: Evidence, chosen: Sequence[int], place: int) -> tuple[list[int], list[int]]:
    """The candidates of a place, and all others."""
    there = [j for j in chosen if abs(j % evidence.places - place) <= NEXT]
    return there, [j for j in chosen if j not in there]
