"""A table's noise: what its values differ by where nothing explains it, and what repeating them is worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from bot.analysis.pairs import Floats
from bot.analysis.recorded_moves import SEVERAL, UNLIKE, scattered
from bot.model.space import Configuration
from bot.model.trials import RECORDED

Cells = Mapping[tuple[int, Configuration], Sequence[float]]

EXACT = 0.2
"""Of a margin: what differs by less is no noise that could pass for a change."""
FEWEST = 4
"""Fewer differences do not show whether they are noise."""
MOVED = 0.25
"""Of all differences: so many at least are beyond what is exact where there is noise ..."""
BOTH = 0.2
"""... of either sign so many of these at least (around their middle), enough of each comparison unlike."""
WORTH = 0.3
"""Degrees of freedom of a robust scale, of each difference that it is learned from."""


@dataclass(frozen=True)
class Recorded:
    """That each cell of a table gives its few values again and again, and that these are noisy.

    noise: standard deviation of the log ratio of two values, and from how many degrees of freedom it is
    known (0: from this comparison alone). most: pairs of different values of each configuration; what is
    measured more often says nothing new.
    """

    noise: float
    freedom: float
    most: Mapping[Configuration, int]
    source: str = ""

    def note(self, metric: str) -> str:
        """What a reader must know of it."""
        few = sorted(set(self.most.values()))
        cells = (
            "one value" if few == [1] else f"{few[0]} to {few[-1]} values" if few[1:] else f"{few[0]} values"
        )
        told = (
            f"nothing but this comparison shows how noisy {metric} is"
            if not self.freedom
            else f"{self.source} differ by {100 * np.expm1(self.noise):.1f} %, which is taken for noise"
        )
        return (
            f"{RECORDED} {cells} of each configuration and revision, each of which counts once, and {told}. "
            "More values of each (repeated rows) show smaller changes."
        )


def recorded(cells: Cells, base: int, head: int, *, margin: float, counted: bool = False) -> Recorded | None:
    """What is known of the noise of a table's comparison; None: its values are as good as exact.

    Repeated values tell it best. Else neighbouring revisions do, as most of them change nothing; else this
    comparison alone, in which a change moves many configurations alike, and noise each by its own amount.

    cells: values by revision and configuration. margin: log ratio that is not worth a reader's time. counted:
    whether these are counts, which are exact unless their repetitions differ.
    """
    logs = {key: found for key, values in cells.items() if len(found := _logs(values))}
    shared = [c for r, c in logs if r == base and (head, c) in logs]
    dust = EXACT * margin
    repeated = np.concatenate([[], *(_steps(x) for (r, _), x in logs.items() if r in (base, head))])
    coarse = _coarse(cells, base, head) > dust
    noisy = partial(_noisy, dust=dust, coarse=coarse)
    own = np.array([logs[head, c].mean() - logs[base, c].mean() for c in shared])
    others = [(c, d) for c, d in _neighbours(logs, base, head) if len(d) >= FEWEST]
    elsewhere = [d for _, d in others]
    noise, freedom, source = 0.0, 0.0, ""
    if len(repeated) >= FEWEST:
        noise, freedom = _scale(repeated), min(WORTH * len(repeated), float(len(own)))
        source = "the values of a cell"
    elif counted:
        return None
    elif elsewhere:
        if noisy([d - np.median(d) for d in elsewhere]) or _mostly_scattered(others, dust):
            noise = float(np.median([_spread(d, dust) for d in elsewhere if np.abs(d).max() > dust]))
            again = [len(d) if coarse else int((d != 0.0).sum()) for d in elsewhere]
            freedom = WORTH * sum(max(count - 1, 0) for count in again)
            source = "other neighbouring revisions"
    elif noisy([own - np.median(own)] if len(own) else []) or scattered(shared, own, dust):
        noise = max(_spread(own, 0.0), 2.0 * dust)
    if noise <= dust:
        return None
    most = {c: min(len(logs[base, c]), len(logs[head, c])) for c in shared}
    return Recorded(noise, freedom, most, source)


def _logs(values: Sequence[float]) -> Floats:
    found = np.array(values, dtype=np.float64)
    return np.asarray(np.log(found[np.isfinite(found) & (found > 0.0)]))


def _steps(values: Floats) -> Floats:
    """Differences of values that no other difference shares."""
    return np.asarray(values[1::2] - values[: len(values) // 2 * 2 : 2])


def _mostly_scattered(others: Sequence[tuple[Sequence[Configuration], Floats]], dust: float) -> bool:
    """Whether most of what moved between other neighbours moved here and there: few, by unlike amounts."""
    moved = [(c, d) for c, d in others if np.abs(d).max() > dust]
    count = sum(int((np.abs(d) > dust).sum()) for _, d in moved)
    return count >= FEWEST and 2 * sum(scattered(c, d, dust) for c, d in moved) > len(moved)


def _neighbours(
    logs: Mapping[tuple[int, Configuration], Floats], base: int, head: int
) -> Iterator[tuple[Sequence[Configuration], Floats]]:
    """What the configurations differ by between neighbouring revisions, before base and after head."""
    revisions = sorted({r for r, _ in logs})
    low, high = min(base, head), max(base, head)
    for one, two in pairwise(revisions):
        if two <= low or one >= high:
            both = [c for r, c in logs if r == one and (two, c) in logs]
            yield both, np.array([logs[two, c][0] - logs[one, c][0] for c in both])


def _noisy(centred: Sequence[Floats], dust: float, *, coarse: bool) -> bool:
    """Whether differences from their middle look like noise rather than like a few changes.

    centred: of each comparison. coarse: that values are rounded, so that noise, too, moves many alike.
    """
    moved = [d[np.abs(d) > dust] for d in centred]
    count = sum(len(d) for d in moved)
    if count < max(FEWEST, MOVED * sum(len(d) for d in centred)):
        return False
    up = float(np.mean(np.concatenate(moved) > 0.0))
    unlike = sum(len(np.unique(np.floor(d / dust))) for d in moved)
    needed = sum(min(UNLIKE * len(d), SEVERAL) for d in moved)
    return min(up, 1.0 - up) >= BOTH and (coarse or unlike >= needed)


def _coarse(cells: Cells, base: int, head: int) -> float:
    """The last decimal place of the values of a comparison, as a share of the middle one."""
    values = np.array([v for (r, _), x in cells.items() if r in (base, head) for v in x if 0.0 < v < np.inf])
    for places in range(-9, 10):
        if len(values) and np.allclose(values, np.round(values, places), rtol=1e-12, atol=0.0):
            return float(10.0**-places / np.median(values))
    return 0.0


def _spread(differences: Floats, dust: float) -> float:
    """Scale of a revision's differences around their middle; those that are none were not measured again."""
    away = np.abs(differences - np.median(differences))
    moved = away[np.abs(differences) > dust]
    return 1.4826 * float(np.median(moved)) * float(np.sqrt(len(moved) / max(len(moved) - 1, 1)))


def _scale(differences: Floats) -> float:
    return 1.4826 * float(np.median(np.abs(differences)))
