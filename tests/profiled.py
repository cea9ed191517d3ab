"""Profiles of a small program whose methods' costs are known, as nights leave them in a history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from bot.model.history import RunRecord, known_options, program_fingerprint
from bot.model.profile_history import ProfileRecorder, ProfileTable
from bot.model.profiles import Method, MethodCost, Profile, Tool
from bot.model.report import RevisionRef
from bot.model.space import Configuration
from bot.model.subject import ChoiceOption, FlagOption, NumberOption, Program, Subject
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import random_uniform

BEGAN = datetime(2026, 1, 1, 3, 17, tzinfo=UTC)
SUBJECT = Subject(
    program=Program(runtime="python", run="./shop {options}"),
    options={
        "tax": FlagOption(flag="--tax"),
        "fancy": FlagOption(flag="--fancy"),
        "quiet": FlagOption(flag="--quiet"),
        "store": ChoiceOption(choice={"memory": "--memory", "disk": "--disk"}, default="memory"),
        "items": NumberOption(number=(1, 2, 4, 8), flag="--items={value}", default=2),
    },
)
SPACE = SUBJECT.space
TOOL = Tool("cProfile", "3.12", "coarse", frozenset({"calls", "seconds"}))
COUNTING = Tool("callgrind", "3.19", "coarse", frozenset({"calls", "instructions"}))
PRICE, DRAW, MAIN = Method("shop.cart:price", "shop/cart.py", 7), Method("shop.ui:draw"), Method("shop:main")
Costs = Mapping[Method, float]
"""Seconds (or thousands of instructions) of each method that is called."""


def shop(options: Mapping[str, Any]) -> dict[Method, float]:
    """`price` pays for tax and items, `draw` is called only with fancy, `main` always costs the same."""
    found = {MAIN: 0.05, PRICE: 0.02 * options["items"] * (3 if options["tax"] else 1)}
    if options["fancy"]:
        found[DRAW] = 0.1
    return found


def drawn(count: int, seed: int = 0) -> list[Configuration]:
    rng = np.random.default_rng(seed)
    return random_uniform(SPACE, ConstraintSolver(SPACE), count, rng=rng)


def profile(
    costs: Costs,
    *,
    noise: float = 0.0,
    machine: float = 1.0,
    rng: np.random.Generator,
    exact: bool = False,
) -> Profile:
    """One profile; machine: what seconds are multiplied with; exact: in instructions, which never vary."""
    total = sum(costs.values())
    methods = {
        method: MethodCost(
            cost / total,
            None if exact else cost * machine * float(np.exp(noise * rng.standard_normal())),
            calls=round(cost * 1000),
            instructions=round(cost * 1e6) if exact else None,
        )
        for method, cost in costs.items()
    }
    return Profile(COUNTING if exact else TOOL, "ok", machine * total, methods)


def night(
    number: int,
    configurations: Sequence[Configuration],
    costs: Callable[[Mapping[str, Any]], Costs] = shop,
    *,
    noise: float = 0.0,
    repetitions: int = 2,
    machine: float = 1.0,
    exact: bool = False,
    random: bool = True,
    calibrated: Callable[[Mapping[str, Any]], float] | None = None,
) -> ProfileTable:
    """What the night `number` profiled, at a revision of the same number.

    calibrated: seconds of a trial without the profiler.
    """
    rng = np.random.default_rng(number)
    recorder = ProfileRecorder()
    revision = RevisionRef(revision=f"{number:040x}", label=f"v{number}")
    for configuration in configurations:
        options = SPACE.as_dict(configuration)
        found = costs(options)
        for _ in range(repetitions):
            recorder.add(
                profile(found, noise=noise, machine=machine, rng=rng, exact=exact),
                revision,
                options,
                drawn=random,
                unprofiled=calibrated(options) if calibrated else float("nan"),
            )
    return recorder.table(record(number))


def record(number: int) -> RunRecord:
    return RunRecord(
        id=f"night-{number}",
        mode="nightly",
        started=BEGAN + timedelta(days=number),
        program=program_fingerprint(SUBJECT),
        options=known_options(SPACE),
    )
