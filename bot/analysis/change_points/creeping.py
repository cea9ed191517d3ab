"""What crept between the changes that are told, and where: a path that all configurations share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bot.analysis.change_points.noise import Floats, Ints
from bot.analysis.change_points.unexplained import CREPT, holding
from bot.analysis.change_points.visible import by_configuration
from bot.model.change_points import ChangePoint, Observation
from bot.model.space import Configuration, Space

PIECES, LEAST_REVISIONS = 8, 2
"""Straight pieces of the path at most, and measured revisions of one at least. Arbitrary."""
FAR, ROUNDS = 1.345, 10
"""Scales from which on a trial counts less (Huber 1964: 95 % efficient); times that weights are found."""
_RIDGE = 1e-9


@dataclass(frozen=True)
class Stretch:
    """From which revision to which one all configurations together moved, and how far: a log ratio."""

    first: int
    last: int
    size: float


def stretches(
    space: Space,
    observations: Sequence[Observation],
    points: Sequence[ChangePoint],
    *,
    least: float,
    anchor: int | None = None,
) -> tuple[Stretch, ...]:
    """Where the range crept by `least` (a share) or more, beside what is told however large that is.

    Log values are regressed on one path of straight pieces, beside a level of its own for each configuration
    between any two told changes that it holds (the within estimator of panel data; trials far off count less,
    Huber 1964). Neighbouring pieces that clearly go one way (`CREPT` standard errors) are one stretch; where
    no piece does, all of them may be. anchor: the revision to which values are ratios.
    """
    at, groups, logs = _panel(space, observations, points, anchor)
    measured = np.unique(at)
    pieces = min(PIECES, (len(measured) - 1) // LEAST_REVISIONS)
    if pieces < 1 or len(at) <= len(np.unique(groups)) + pieces:
        return ()
    knots = measured[np.round(np.linspace(0, len(measured) - 1, pieces + 1)).astype(np.intp)]
    moves, covariance = _path(np.clip((at[:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0), groups, logs)
    found: list[Stretch] = []
    for k in np.flatnonzero(np.abs(moves) > CREPT * np.sqrt(np.diagonal(covariance))).tolist():
        piece = Stretch(int(knots[k]), int(knots[k + 1]), float(moves[k]))
        if found and found[-1].last == piece.first and found[-1].size * piece.size > 0.0:
            piece = replace(piece, first=found[-1].first, size=found.pop().size + piece.size)
        found.append(piece)
    if not found and abs(moves.sum()) > CREPT * math.sqrt(covariance.sum()):
        found.append(Stretch(int(knots[0]), int(knots[-1]), float(moves.sum())))
    return tuple(stretch for stretch in found if abs(stretch.size) >= math.log1p(least))


def _panel(
    space: Space, observations: Sequence[Observation], points: Sequence[ChangePoint], anchor: int | None
) -> tuple[Ints, Ints, Floats]:
    """Revision, group and log value of each trial, (n_trials,): a group has no told change within it.

    Trials within the interval of a change that their configuration holds may be on either side, and are left
    out. At the anchor, beside itself, a configuration has no trial and is 0.
    """
    numbers: dict[tuple[Configuration, int], int] = {}
    parts: list[tuple[Ints, Ints, Floats]] = []
    beside = [] if anchor is None else [anchor]
    for configuration, trials in by_configuration(observations).items():
        at, logs = np.append(trials[0], beside).astype(np.intp), np.append(trials[1], np.zeros(len(beside)))
        held = holding(points, configuration, space)
        first, last = (np.array([p.interval[k] for p in held], dtype=np.intp) for k in (0, 1))
        clear = ~((at[:, None] >= first) & (at[:, None] < last)).any(axis=1)
        passed = (at[:, None] >= last).sum(axis=1)
        own = [numbers.setdefault((configuration, int(n)), len(numbers)) for n in passed]
        parts.append((at[clear], np.array(own, dtype=np.intp)[clear], logs[clear]))
    if not parts:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)
    places, groups, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return places, groups, values


def _path(columns: Floats, groups: Ints, logs: Floats) -> tuple[Floats, Floats]:
    """How far each piece goes, (n_pieces,), and the covariance of that.

    columns: how much of each piece lies before a trial, (n_trials, n_pieces).
    """
    weight = np.ones(len(logs))
    together = np.column_stack([columns, logs])
    for _ in range(ROUNDS):
        sums = np.zeros((int(groups.max()) + 1, together.shape[1]))
        np.add.at(sums, groups, weight[:, None] * together)
        mean = sums / np.maximum(np.bincount(groups, weight, minlength=len(sums)), _RIDGE)[:, None]
        within = together - mean[groups]
        x, y = within[:, :-1], within[:, -1]
        information = (weight[:, None] * x).T @ x + _RIDGE * np.eye(x.shape[1])
        moves = np.linalg.solve(information, (weight[:, None] * x).T @ y)
        left = np.abs(y - x @ moves)
        scale = max(1.4826 * float(np.median(left)), _RIDGE)
        weight = np.minimum(1.0, FAR * scale / np.maximum(left, _RIDGE))
    return np.asarray(moves, dtype=np.float64), np.asarray(scale**2 * np.linalg.inv(information))
