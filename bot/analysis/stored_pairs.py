"""Pairs of base and head as a run stored them, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.analysis.pairs import Floats
from bot.model.history import NO_EXIT_CODE, NO_METRIC, NO_PAIR, OUTCOMES, Measurements
from bot.model.trials import Side

OK = OUTCOMES.index("ok")


@dataclass(frozen=True)
class StoredPairs:
    """Pairs in the order in which they were measured, (n_pairs,) each.

    configuration: code into the measurements' own table. track: code into `TRACKS`. control: base against
    base. ok: both trials ended well, with the same exit code. outcome, exit_code: of both, (n_pairs, 2).
    values: of the wanted metrics, (n_pairs, 2, n_metrics); NaN where a trial has none.
    """

    configuration: NDArray[np.int32]
    track: NDArray[np.int8]
    control: NDArray[np.bool_]
    ok: NDArray[np.bool_]
    outcome: NDArray[np.int8]
    exit_code: NDArray[np.int16]
    values: Floats

    def __len__(self) -> int:
        """Pairs."""
        return len(self.configuration)

    @property
    def log_ratios(self) -> Floats:
        """log(second / first) of each metric, (n_pairs, n_metrics); NaN where there is none."""
        positive = np.where((self.values > 0) & self.ok[:, None, None], self.values, np.nan)
        ratios: Floats = np.log(positive[:, 1] / positive[:, 0])
        return np.where(np.isfinite(ratios), ratios, np.nan)


def stored_pairs(found: Measurements, metrics: Sequence[str], *, base: str, head: str) -> StoredPairs:
    """The pairs of one run between two revisions (full ids).

    Raises:
        ValueError: a trial belongs to no pair, a pair has not just two trials of one configuration and track,
            or one of another revision: no run of ours leaves that.
    """
    _, first, trial = np.unique(found.trial, return_index=True, return_inverse=True)
    side = np.array([{base: 0, head: 1}.get(r.revision, 2) for r in found.revisions], np.int8)
    column = np.array([*(metrics.index(m) if m in metrics else -1 for m in found.metrics), -1], np.intp)
    values = np.full((len(first), len(metrics)), np.nan)
    rows = np.flatnonzero((found.metric != NO_METRIC) & (column[found.metric] >= 0))
    values[trial[rows], column[found.metric[rows]]] = found.value[rows]
    pair, second = found.pair[first], found.second[first]
    order = np.lexsort((second, pair))
    if len(order) % 2 or (pair == NO_PAIR).any():
        raise ValueError("a trial belongs to no pair")
    both = order.reshape(-1, 2)

    sides = side[found.revision[first]][both]
    shared: tuple[NDArray[Any], ...] = (found.pair, found.configuration, found.track)
    same = [(c[both[:, 0]] == c[both[:, 1]]).all() for c in (codes[first] for codes in shared)]
    apart = not second[both[:, 0]].any() and second[both[:, 1]].all()
    numbers = pair[both[:, 0]]
    if not all(same) or not apart or (np.diff(numbers) == 0).any():
        raise ValueError("a pair is not two trials of one configuration")
    if (sides[:, 0] != 0).any() or (sides[:, 1] > 1).any():
        raise ValueError("a pair is of other revisions")
    outcome, code = found.outcome[first][both], found.exit_code[first][both]
    return StoredPairs(
        configuration=found.configuration[first][both[:, 0]],
        track=found.track[first][both[:, 0]],
        control=sides[:, 1] == 0,
        ok=(outcome == OK).all(axis=1) & (code[:, 0] == code[:, 1]),
        outcome=outcome,
        exit_code=code,
        values=values[both],
    )


def failed_sides(pairs: StoredPairs, place: int) -> set[Side]:
    """Whose trials failed; both of a control are base's."""
    sides: tuple[Side, Side] = ("base", "base" if pairs.control[place] else "head")
    return {side for side, outcome in zip(sides, pairs.outcome[place], strict=True) if outcome != OK}


def failure(pairs: StoredPairs, place: int) -> str:
    """One sentence on why a pair failed, naming the side."""
    said = []
    for side, outcome, code in zip(
        ("base", "head"), pairs.outcome[place].tolist(), pairs.exit_code[place].tolist(), strict=True
    ):
        if outcome != OK:
            told = f" code {code}" if OUTCOMES[outcome] == "exit" and code != NO_EXIT_CODE else ""
            said.append(f"{side}: {OUTCOMES[outcome]}{told}")
    if said:
        return "; ".join(said)
    first, second = pairs.exit_code[place].tolist()
    return f"exit codes differ: base {first}, head {second}"
