"""Histories with known changes, as earlier runs would have left them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from bot.model.history import KnownOption, Measurements, RunRecord, known_options
from bot.model.recording import Recorder
from bot.model.report import RevisionRef
from bot.model.space import Configuration, Space, Term
from bot.model.trials import Pair, Side, Trial, Wish
from tests.unit.analysis.worlds import planted

FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def revision(place: int) -> RevisionRef:
    return RevisionRef(revision=f"r{place}", label=f"v{place}")


def places(count: int) -> dict[str, int]:
    return {f"r{place}": place for place in range(count)}


def nights(*world: Any, **more: Any) -> Measurements:
    """The runs of `each_night` as one."""
    return Measurements.concatenated(each_night(*world, **more))


def each_night(
    space: Space,
    configurations: Sequence[Configuration],
    changes: Mapping[int, tuple[Term, float]],
    *,
    count: int,
    rng: np.random.Generator,
    noise: float | np.ndarray = 0.01,
    duets: bool = True,
    drift: float = 0.0,
    uneven: float = 0.0,
    repeats: int = 3,
    program: str = "",
    named: Callable[[int], RevisionRef] = revision,
) -> list[Measurements]:
    """Night i compares revision i with revision i + 1 in all configurations.

    changes: revision -> term and log ratio. noise: of a trial, for all or (n_configurations,). duets: pairs,
    else trials alone. drift: log seconds that the machine gains a night. uneven: standard deviation of what
    a change does to each configuration, in shares of the change.
    """
    n = len(configurations)
    level = rng.uniform(0.0, 2.0, n)
    sd = np.broadcast_to(noise, n)
    besides = rng.spawn(1)[0]  # its own stream: all else that is drawn stays the same
    moved = {
        at: planted(space, {term: size}, configurations) * (1.0 + uneven * besides.standard_normal(n))
        for at, (term, size) in changes.items()
    }
    parts = []
    for night in range(count):
        recorder = Recorder()
        before = planted(space, {}, configurations) + night * drift + level
        for at in changes:
            before = before + (at <= night) * moved[at]
        after = before + moved.get(night + 1, 0.0)
        sides: dict[Side, RevisionRef] = {"base": named(night), "head": named(night + 1)}
        for c, configuration in enumerate(configurations):
            for _ in range(repeats):
                first, second = (
                    Trial("ok", {"cpu": float(np.exp(mean[c] + sd[c] * rng.standard_normal()))}, exit_code=0)
                    for mean in (before, after)
                )
                if duets:
                    recorder.pair(Pair(Wish(configuration), first, second, 1.0), sides, space)
                else:
                    for trial, side in ((first, sides["base"]), (second, sides["head"])):
                        recorder.trial(trial, side, space.as_dict(configuration))
        parts.append(recorder.measurements(record(space, night, program=program)))
    return parts


def record(
    space: Space, night: int, *, program: str = "", options: Mapping[str, KnownOption] | None = None
) -> RunRecord:
    return RunRecord(
        id=f"night-{night}",
        mode="nightly",
        started=FIRST + timedelta(days=night),
        program=program,
        options=dict(options) if options is not None else known_options(space),
    )
