"""What a run could have seen: the smallest slow-down with 80 % power, and what was not exercised."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates, level_covers
from bot.analysis.pairs import Floats
from bot.model.report import Visible, VisibleOption
from bot.model.space import Configuration, Level, Space, Term

LISTED = 50
ASKED = 3000
"""Pairs not exercised that are listed (the rest is counted), and that are asked whether they are possible."""


def visible(
    space: Space,
    configurations: Sequence[Configuration],
    measured: NDArray[np.bool_],
    *,
    found: Candidates,
    smallest: Callable[[Floats, Floats], Floats],
    possible: Callable[[Term], bool] | None,
) -> Visible:
    """The report's `visible`: per option its least visible level, and what no configuration exercises.

    measured: shape (n_configurations,). smallest: (covers, prior mass of each) -> slow-downs.
    """
    levels, covers = level_covers(space, configurations)
    covers &= measured
    mass = {term: m for group in found.groups for term, m in zip(group.terms, group.masses, strict=True)}
    rows = [i for i, level in enumerate(levels) if _plain(level) and covers[i].any()]
    seen = smallest(
        covers[[*rows]].astype(np.float64), np.array([mass.get((str(levels[i]),), 1e-4) for i in rows])
    )
    worst: dict[str, float] = {}
    for i, value in zip(rows, seen, strict=True):
        option = levels[i].option
        worst[option] = max(worst.get(option, 0.0), float(value))
    everything = smallest(measured[None, :].astype(np.float64), np.array([found.prior[0]]))[0]
    plain = [i for i, level in enumerate(levels) if level.operator in ("on", "off", "=")]
    missing, count = _missing_pairs([levels[i] for i in plain], covers[plain], possible)
    return Visible(
        options=tuple(VisibleOption(option=n, slow_down=_finite(worst.get(n, np.inf))) for n in space.names),
        everything=_finite(float(everything)),
        levels_not_exercised=tuple(str(levels[i]) for i in plain if not covers[i].any()),
        pairs_not_exercised=tuple(missing),
        pairs_not_exercised_count=count,
    )


def _plain(level: Level) -> bool:
    """Levels that stand for an option: on, or one of its values."""
    return level.operator in ("on", "=")


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _missing_pairs(
    levels: Sequence[Level], covers: NDArray[np.bool_], possible: Callable[[Term], bool] | None
) -> tuple[list[tuple[str, str]], int]:
    """Possible pairs of exercised levels that no configuration holds together: some, and how many."""
    seen = np.flatnonzero(covers.any(axis=1))
    dense = covers[seen].astype(np.float32)
    options = np.array([levels[int(i)].option for i in seen])
    absent = np.argwhere(np.triu((dense @ dense.T == 0) & (options[:, None] != options[None, :])))
    listed: list[tuple[str, str]] = []
    impossible = 0
    for i, j in absent[:ASKED]:
        pair = (str(levels[int(seen[i])]), str(levels[int(seen[j])]))
        if possible is not None and not possible(tuple(sorted(pair))):
            impossible += 1
        elif len(listed) < LISTED:
            listed.append(pair)
    return listed, len(absent) - impossible
