"""What sampled shares, timed calls and instructions each say of how much a method's own cost moved."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.distributions import normal_quantile
from bot.analysis.methods.callers import Callers
from bot.analysis.methods.ledger import Array, Ledger, sampled, timed
from bot.analysis.methods.spread import common_scale, spread

COST_OF_INSTRUCTIONS = 0.5
"""Relative standard deviation of what new instructions cost against the old ones. Arbitrary."""
COST_OF_CALL = 0.5
"""The same of what additional calls of a method cost."""
COST_OF_CALLS = 0.5
"""The same of what a tool that times calls adds to each."""
DISTORTED = 0.1
"""The same of a change of time that such a tool sees, for all it does beside."""
PROPORTION = 0.5
"""Part of itself by which the change of what the program's own threads run may differ. Arbitrary."""
LEAST_LEFT = 0.1
"""Of a method's time when the tool's own is taken off."""


@dataclass(frozen=True)
class Measured:
    """A trial without profiler: seconds at base and head, and the 90 % interval of head / base."""

    seconds: tuple[float, float]
    interval: tuple[float, float]

    @property
    def change(self) -> float:
        """Seconds."""
        return self.seconds[1] - self.seconds[0]

    @property
    def error(self) -> float:
        """Standard deviation of the change."""
        return self.seconds[0] * (self.interval[1] - self.interval[0]) / 2.0 / float(normal_quantile(0.95))

    def of(self, seconds: float) -> Measured:
        """The same change, and as unsure, of a part of the trial at base that takes so long."""
        low, high = (1.0 + (end - 1.0) * self.seconds[0] / seconds for end in self.interval)
        return Measured((seconds, max(seconds + self.change, LEAST_LEFT * seconds)), (low, high))


@dataclass(frozen=True)
class Estimate:
    """Unprofiled seconds of each method at base, their change and its deviation; shapes (methods,).

    freedom: degrees of freedom of the deviation; 0: it is no estimate from replicates.
    """

    before: Array
    delta: Array
    deviation: Array
    freedom: int


def by_samples(book: Ledger, measured: Measured, likely: Array) -> Estimate | None:
    """From shares of time that a sampling tool saw; likely: prior probability that a method changed.

    What it did not see of a trial (the start of a process, say) is left out, as no method's. What it saw
    beyond is its own work, on all methods alike.
    """
    base, head = sampled(book.base), sampled(book.head)
    if base is None or head is None:
        return None
    samples = np.concatenate([book.base.samples, book.head.samples])
    told = float((book.base.seconds.sum(axis=1) / base.sum(axis=1)).mean())
    seen = measured.of(min(told, measured.seconds[0]) if told > 0.0 else measured.seconds[0])
    return _by_shares((base, head), float(len(samples) / (1.0 / samples).sum()), seen, likely)


def by_running(book: Ledger, measured: Measured, likely: Array) -> Estimate | None:
    """From samples of the program's own threads; None: they are not told from those of the runtime.

    Compilers and collectors take what they take, which differs from trial to trial: what they did for a
    method tells little of whether it moved. Seconds are of the whole trial, as if theirs were in proportion.
    """
    sides = book.base.running, book.head.running
    if np.isnan(sides[0]).all() or np.isnan(sides[1]).all():
        return None
    samples = np.concatenate([book.base.samples, book.head.samples])
    low, high = measured.interval
    unsure = PROPORTION * abs(measured.change) / measured.seconds[0]
    wide = replace(measured, interval=(low - unsure, high + unsure))
    base, head = np.nan_to_num(sides[0]), np.nan_to_num(sides[1])
    return _by_shares((base, head), float(len(samples) / (1.0 / samples).sum()), wide, likely)


def by_clock(book: Ledger, measured: Measured, likely: Array, callers: Callers) -> Estimate | None:
    """From seconds of a tool that times every call; what it adds itself is taken off by calls."""
    raw = timed(book.base), timed(book.head)
    if raw[0] is None or raw[1] is None:
        return None
    base, head = raw[0], raw[1]
    if not (base.sum(axis=1).all() and head.sum(axis=1).all()):
        return None
    calls = [
        (np.nan_to_num(side.calls).mean(axis=0) + out) / 2.0
        for side, out in zip((book.base, book.head), callers.outgoing, strict=True)
    ]
    more = calls[1] - calls[0]
    # Such a tool may count waiting for a core: what the trial had of one is what it can have spent.
    profiled = float(np.minimum(base.sum(axis=1), book.base.trials).mean())
    profiled, plain = max(profiled, measured.seconds[0]), measured.seconds[0]
    each = max(0.0, profiled - plain) / max(float(calls[0].sum()), 1.0)
    after = max(profiled + measured.change + each * float(more.sum()), LEAST_LEFT * profiled)
    error = 1.645 * measured.error / profiled
    expected = Measured((profiled, after), (after / profiled - error, after / profiled + error))
    parts = base / base.sum(axis=1, keepdims=True), head / head.sum(axis=1, keepdims=True)
    found = _by_shares(parts, None, expected, likely)
    delta = found.delta - each * more
    unsure = np.hypot(DISTORTED * delta, COST_OF_CALLS * each * more)
    before = np.maximum(found.before - each * calls[0], LEAST_LEFT * found.before)
    return Estimate(before, delta, np.hypot(found.deviation, unsure), found.freedom)


def by_instructions(
    book: Ledger, measured: Measured, changed: NDArray[np.bool_], time: Estimate | None
) -> Estimate | None:
    """From instructions, at what they cost in the method (`time`: what else is known of it) or in all.

    Says nothing (an infinite deviation) of methods whose instructions did not change: memory may be slower.
    New instructions may cost many times the old ones (misses): where time says so, it is right.
    """
    base, head = book.base.instructions, book.head.instructions
    if np.isnan(base).all() or np.isnan(head).all():
        return None
    counts = np.nan_to_num(base).mean(axis=0), np.nan_to_num(head).mean(axis=0)
    usual = measured.seconds[0] / max(counts[0].sum(), 1.0)
    each = np.full(len(counts[0]), usual)
    if time is not None:
        # A method of few samples costs what it usually does: both count, as one does at 1 % of the time.
        weight = 0.01 * measured.seconds[0]
        each = (time.before + weight) / (counts[0] + weight / usual)
    delta = each * (counts[1] - counts[0])
    deviation = _doubted(delta, COST_OF_INSTRUCTIONS, changed, time)
    return Estimate(usual * counts[0], delta, deviation, 0)


def by_calls(book: Ledger, changed: NDArray[np.bool_], time: Estimate | None) -> Estimate | None:
    """From calls, at what a call costs in both builds together; of methods whose calls changed.

    What a call costs may have changed too: where time says so, it is right.
    """
    calls = book.base.calls.mean(axis=0), book.head.calls.mean(axis=0)
    if time is None or not changed.any():
        return None
    each = np.maximum(2.0 * time.before + time.delta, 0.0) / np.maximum(calls[0] + calls[1], 1.0)
    delta = np.nan_to_num(each * (calls[1] - calls[0]))
    return Estimate(time.before, delta, _doubted(delta, COST_OF_CALL, changed, time), 0)


def combined(estimates: list[Estimate]) -> Estimate:
    """Weighted by precision; where they contradict each other, the deviation grows (Birge's ratio)."""
    weights = np.array([1.0 / np.maximum(e.deviation, 1e-12) ** 2 for e in estimates])
    deltas = np.array([e.delta for e in estimates])
    total = weights.sum(axis=0)
    known = total > 0
    scale = np.where(known, total, 1.0)
    delta = (weights * deltas).sum(axis=0) / scale
    told = (weights > 0).sum(axis=0)
    ratio = np.sqrt((weights * (deltas - delta) ** 2).sum(axis=0) / np.maximum(told - 1, 1))
    deviation = np.where(known, np.maximum(ratio, 1.0) / np.sqrt(scale), 0.0)
    # Time is time; what instructions would usually take is used where there is no clock.
    times = [e for e in estimates if e.freedom] or estimates
    before = np.mean([e.before for e in times], axis=0)
    return Estimate(before, delta, deviation, max(e.freedom for e in estimates))


def _doubted(delta: Array, relative: float, changed: NDArray[np.bool_], time: Estimate | None) -> Array:
    """Deviation of what counts say: at least as large as what time, in doubt in its favour, contradicts."""
    deviation = relative * np.abs(delta)
    if time is not None:
        deviation = np.maximum(deviation, np.abs(time.delta - delta) - time.deviation)
    return np.where(changed, deviation, np.inf)


def _by_shares(
    sides: tuple[Array, Array], samples: float | None, measured: Measured, likely: Array
) -> Estimate:
    base, head = sides
    noise = spread((base, head), samples)
    error = np.sqrt(noise.variance * (1.0 / len(base) + 1.0 / len(head)))
    shares = base.mean(axis=0), head.mean(axis=0)
    before, after = measured.seconds
    scale = common_scale(shares, error, likely, ratio=after / before, interval=measured.interval)
    delta = scale.factor * shares[1] - shares[0]
    deviation = np.hypot(error, scale.deviation * scale.factor * shares[1])
    return Estimate(shares[0] * before, delta * before, deviation * before, noise.freedom)
