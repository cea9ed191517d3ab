"""Plays ten nights of one world, by our search and by uniform sampling, and scores what each told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.night import uniform
from benchmarks.night.world import NIGHTS, World
from bot.flows.machines import drift
from bot.flows.nights.past import NIGHTS as REMEMBERED
from bot.flows.nights.search import NightSearch
from bot.flows.nights.second_look import named_besides, second_look
from bot.flows.nights.window import Window
from bot.model.change_points import ChangePoint, Observation


def ours(world: World, budget: int, rng: np.random.Generator) -> dict[str, Any]:
    """Our nights; budget: trials of one at most."""
    past, told, noted = nights(world, budget, rng)
    return {**score(world, told), "trials": [len(t) for t in past], "noted": noted}


def nights(
    world: World, budget: int, rng: np.random.Generator
) -> tuple[list[list[Observation]], list[Sequence[ChangePoint]], list[int]]:
    """What each of our nights measured and told, and which noted that the machine moved."""
    past: list[list[Observation]] = []
    told: list[Sequence[ChangePoint]] = []
    noted = []
    for night in range(world.nights + 1):
        tips = [0, 0, *world.tips[:night]]
        window = Window(world.tips[night] + 1, reference=tips[-2], previous=tips[-1])
        search = NightSearch(world.space, window, world.solver, rng=rng).remember(past[-REMEMBERED:])
        tonight: list[Observation] = []
        while wishes := search.wishes():
            taken = [world.observe(probe, night) for probe in wishes[: budget - len(tonight)]]
            tonight += taken
            search.partial_fit(taken)
            if len(taken) < len(wishes):
                break
        if past:
            now, then = drift.anchored(tonight), drift.anchored(past[-1])
            if drift.moved(now, then) is not None:
                noted.append(night)
        past.append(tonight)
        shown = search.change_points_
        again = second_look(search, past[-REMEMBERED - 1 :])
        told.append([*shown, *named_besides(shown, search.unclear_, again)])
    return past, told, noted


def random_trials(world: World, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Uniform sampling with so many trials a night; each night reads the last three."""
    past: list[list[Observation]] = []
    told: list[Sequence[ChangePoint]] = []
    for night in range(NIGHTS + 1):
        past.append(uniform.trials(world, night, count, rng))
        told.append(uniform.found(world, past[-3:], world.tips[night] + 1, rng))
    return {**score(world, told), "trials": [count] * (NIGHTS + 1), "noted": []}


def score(world: World, told: Sequence[Sequence[ChangePoint]]) -> dict[str, Any]:
    """Which changes were told, first in which night and how exactly; what else was told.

    A change is found by its exact term in an interval that holds its commit; placed: at the very commit.
    """
    first: dict[int, tuple[int, bool, int]] = {}
    false: dict[tuple[int, tuple[str, ...]], int] = {}
    for night, points in enumerate(told):
        for point in points:
            hits = [
                i
                for i, c in enumerate(world.changes)
                if c.term == point.term and point.interval[0] <= c.at <= point.interval[1]
            ]
            if hits:
                width = point.interval[1] - point.interval[0] + 1
                first.setdefault(hits[0], (night, point.revision == world.changes[hits[0]].at, width))
            else:
                false.setdefault((point.revision, point.term), night)
    return {
        "changes": [
            {**asdict(c), "told": first[i][0] if i in first else None,
             "placed": i in first and first[i][1], "width": first[i][2] if i in first else None}
            for i, c in enumerate(world.changes)
        ],
        "false": [{"revision": r, "term": t, "night": n} for (r, t), n in false.items()],
        "blamed": sum(n == world.moved for n in false.values()),
        "moved": world.moved,
    }  # fmt: skip
