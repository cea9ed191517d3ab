"""What the profiles of two builds say of each method, as arrays: time, calls, instructions, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bot.analysis.methods.identity import Pairing, pair
from bot.model.profiles import Method, Profile

ALIKE = 0.02
"""Distance (L1) of two vectors of shares below which they are one measurement in two units. Arbitrary."""
LEAST_CHANGE = 0.002
"""Of a count, relative: less is not a change (paths and environments differ in length). Arbitrary."""
SPREADS = 4.0
"""Standard deviations of a count's own replicates beyond which it changed. Arbitrary."""

Array = NDArray[np.float64]
Bodies = Mapping[Method, str]


@dataclass(frozen=True)
class Side:
    """Profiles of one build: what methods cost without callees; NaN: not known.

    Shapes (trials, methods), where a profile of which nobody kept the trials counts as one: shares, running,
    seconds: 0 where the tool saw nothing. Shapes (trials,): samples, NaN: none; counted: whether the shares
    are those of instructions; trials: CPU seconds. Shapes (profiles, methods): calls, instructions.
    """

    shares: Array
    running: Array
    seconds: Array
    samples: Array
    counted: NDArray[np.bool_]
    trials: Array
    calls: Array
    instructions: Array


@dataclass(frozen=True)
class Ledger:
    """Rows are the methods of head, then the vanished ones of base, as `methods` lists them."""

    methods: Sequence[Method]
    place: Mapping[Method, int]
    pairing: Pairing
    base: Side
    head: Side
    in_base: NDArray[np.bool_]
    in_head: NDArray[np.bool_]

    def before(self, row: int) -> Method:
        """The method as it is at base."""
        return self._renamed.get(self.methods[row], self.methods[row])

    @cached_property
    def _renamed(self) -> Mapping[Method, Method]:
        return {head: base for base, head in self.pairing.renamed.items()}


def ledger(base: Sequence[Profile], head: Sequence[Profile], bodies: tuple[Bodies, Bodies]) -> Ledger:
    """The profiles' methods, paired. Takes time in proportion to the methods."""
    befores = dict.fromkeys(method for profile in base for method in profile.methods)
    afters = dict.fromkeys(method for profile in head for method in profile.methods)
    paired = pair(befores, afters, bodies=bodies)
    methods = [*afters, *paired.vanished]
    place = {method: row for row, method in enumerate(methods)}
    rows = {before: place[paired.heads.get(before, before)] for before in befores}
    in_base, in_head = np.zeros(len(methods), dtype=bool), np.zeros(len(methods), dtype=bool)
    in_base[list(rows.values())] = True
    in_head[: len(afters)] = True
    return Ledger(
        methods,
        place,
        paired,
        _side(base, rows, len(methods)),
        _side(head, place, len(methods)),
        in_base,
        in_head,
    )


def _side(profiles: Sequence[Profile], rows: Mapping[Method, int], size: int) -> Side:
    trials = [trial for profile in profiles for trial in profile.trials or (profile,)]
    columns = np.array([_columns(trial, rows, size) for trial in trials])
    counts = np.array([_columns(profile, rows, size) for profile in profiles])
    return Side(
        shares=columns[:, 0],
        running=columns[:, 1],
        seconds=columns[:, 2],
        samples=np.array([float(trial.samples) if trial.samples else np.nan for trial in trials]),
        counted=np.array([_alike(one[0], _part(one[4])) for one in columns]),
        trials=np.array([trial.seconds for trial in trials]),
        calls=counts[:, 3],
        instructions=counts[:, 4],
    )


def _columns(profile: Profile, rows: Mapping[Method, int], size: int) -> Array:
    """Shape (5, methods). What no method of a profile knows is NaN; else what is absent costs nothing."""
    where = np.fromiter((rows[m] for m in profile.methods), dtype=np.int64, count=len(profile.methods))
    told = np.array(
        [
            (c.self_share, c.running_share, c.self_seconds, c.calls, c.instructions)
            for c in profile.methods.values()
        ],
        dtype=np.float64,
    ).reshape(-1, 5)
    told[:, 2] = np.nan_to_num(told[:, 2]) if np.isfinite(told[:, 2]).any() else np.nan
    out = np.where(np.isfinite(told).any(axis=0), 0.0, np.nan)[:, None].repeat(size, axis=1)
    out[:, where] = told.T
    return out


def sampled(side: Side) -> Array | None:
    """Shares of time that a sampling tool saw, each profile's summing to at most one; None: not in all."""
    if np.isnan(side.samples).any():
        return None
    rows = []
    for share, seconds, counted in zip(side.shares, side.seconds, side.counted, strict=True):
        if counted:
            # Too few samples: the shares are those of instructions, and only the seconds are of time.
            if np.isnan(seconds).any():
                return None
            rows.append(_part(seconds))
        else:
            rows.append(share)
    return np.array(rows)


def timed(side: Side) -> Array | None:
    """Seconds of a tool that times every call, as profiled; None: not in all, or just the sampled ones."""
    for share, seconds, counted, samples in zip(
        side.shares, side.seconds, side.counted, side.samples, strict=True
    ):
        same = _alike(_part(share), _part(seconds)) or counted
        if np.isnan(seconds).any() or (same and not np.isnan(samples)):
            return None
    return side.seconds


def changed(base: Array, head: Array) -> NDArray[np.bool_]:
    """Which counts differ beyond their replicates' spread, shape (methods,); unknown ones do not."""
    if not (base.size and head.size):
        return np.zeros(base.shape[1], dtype=bool)
    before, after = base.mean(axis=0), head.mean(axis=0)
    most = np.maximum(before, after)
    free = len(base) + len(head) - 2
    within = ((base - before) ** 2).sum(axis=0) + ((head - after) ** 2).sum(axis=0)
    spread = np.sqrt(within / max(free, 1))
    known = np.isfinite(most) & (most > 0)
    # A program whose counts vary at all may vary in those that happened to agree.
    relative = spread[known] / most[known]
    common = float(np.average(relative, weights=most[known])) if known.any() else 0.0
    bound = np.maximum(LEAST_CHANGE * most, SPREADS * np.maximum(spread, common * most))
    with np.errstate(invalid="ignore"):
        return np.asarray(known & (np.abs(after - before) > bound))


def rewritten(book: Ledger, bodies: tuple[Bodies, Bodies]) -> Array:
    """Whether a method's text changed: 1, 0, or NaN where a text is missing; shape (methods,)."""
    out = np.full(len(book.methods), np.nan)
    for before, after in book.pairing.heads.items():
        old, new = bodies[0].get(before), bodies[1].get(after)
        if old is not None and new is not None:
            out[book.place[after]] = float(old != new and old.split() != new.split())
    # What is new was written, as far as it is text of the checkout at all.
    for method in book.pairing.new:
        if method in bodies[1]:
            out[book.place[method]] = 1.0
    return out


def _part(values: Array) -> Array:
    total = values.sum()
    return values / total if total > 0 else np.full_like(values, np.nan)


def _alike(one: Array, other: Array) -> bool:
    distance = np.abs(one - other).sum()
    return bool(np.isfinite(distance) and distance < ALIKE)
