"""By how many unprofiled seconds each method's own cost moved, and which moves are beyond chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bot.analysis.methods.callers import Callers
from bot.analysis.methods.channels import (
    Estimate,
    Measured,
    by_calls,
    by_clock,
    by_instructions,
    by_samples,
    combined,
)
from bot.analysis.methods.ledger import Array, Ledger

MOVED_BLINDLY, MOVED_COUNTS, MOVED_TEXT = 0.03, 0.7, 0.3
"""Probability that a method's own cost moved, before its time is looked at. Arbitrary."""
BLIND_ERROR, TOLD_ERROR = 0.02, 0.05
"""Probability that any method is named that did not move: of those without other evidence, and of those
whose text or counts changed."""
AGREES = 1.0
"""Standard deviations of a change in seconds that bear out one of counts. Arbitrary."""
FOREIGN = 2.0
"""How much more evidence is asked for of a method outside of the checkout. Arbitrary."""
SETTLED = 2.5
"""Standard deviations by which costs that only moved to a caller or callee must have moved. Arbitrary."""
LEAST_SHARE = 0.05
"""Of the measured change: what explains less is not named. Arbitrary."""
STRETCHED = 0.3
"""Relative standard deviation of a change that only time tells of: a tool that times calls stretches what
calls much, and a runtime compiles otherwise while it is sampled. Arbitrary."""
UNEXPLAINED = 0.25
"""Standard deviation, before profiles are looked at, of the share that no method that moved explains."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Moves:
    """Seconds of an unprofiled trial at base and head, shapes (methods,), and what of it is a change.

    delta: without what only moved between callers and inlined callees. named: moved beyond chance. settled:
    caller and callee between whom cost moved.
    """

    before: Array
    after: Array
    delta: Array
    deviation: Array
    freedom: float
    named: Flags
    settled: tuple[tuple[int, int], ...]


def moves(
    book: Ledger, callers: Callers, measured: Measured, *, counted: Mapping[str, Flags], text: Array
) -> Moves | None:
    """Combines all that was measured; None: both builds have no quantity in common.

    counted: whether calls and instructions changed; text: 1 where a method's text changed, 0 where not, NaN.
    """
    likely = np.where(text == 1.0, MOVED_TEXT, MOVED_BLINDLY)
    likely = np.where(counted["calls"] | counted["instructions"], MOVED_COUNTS, likely)
    times = by_samples(book, measured, likely), by_clock(book, measured, likely, callers)
    found = [estimate for estimate in times if estimate is not None]
    time = combined(found) if found else None
    exact = by_instructions(book, measured, counted["instructions"], time)
    if exact is None:
        exact = by_calls(book, counted["calls"], time)
    found += [] if exact is None else [exact]
    if not found:
        return None
    total = combined(found)
    relevant = LEAST_SHARE * abs(measured.change)
    sure = counted["instructions"] | (np.abs(total.delta) >= SETTLED * total.deviation)
    delta, settled = _settled(callers, np.where(sure, total.delta, 0.0), relevant)
    delta = np.where(sure, delta, total.delta)
    named = _beyond_chance(book, total, delta, relevant, counted=counted, text=text)
    after = np.where(book.in_head, np.maximum(total.before + total.delta, 0.0), 0.0)
    only_time = times[1] is not None or np.isnan(book.base.instructions).all()
    unsure = np.hypot(total.deviation, STRETCHED * np.abs(delta)) if only_time else total.deviation
    delta, deviation = _reconciled(delta, unsure, named, measured)
    named &= np.abs(delta) >= relevant
    return Moves(total.before, after, delta, deviation, total.freedom or np.inf, named, settled)


def _settled(callers: Callers, delta: Array, relevant: float) -> tuple[Array, tuple[tuple[int, int], ...]]:
    """Nets a callee against a caller where calls came or went and cost moved from one to the other.

    That is what inlining does, and code that is moved. The larger change keeps the difference.
    """
    net, between = delta.copy(), []
    told = [side.calls.mean(axis=0) for side in (callers.book.base, callers.book.head)]
    kept = told[0] == told[1]
    for callee in np.flatnonzero(np.abs(delta) >= relevant).tolist():
        for edge in callers.incoming.get(callee, ()):
            before, after = edge.calls
            same = kept[callee] if before is None or after is None else before == after
            if same or edge.caller == callee or net[edge.caller] * net[callee] >= 0:
                continue
            moved = min(abs(net[edge.caller]), abs(net[callee])) * np.sign(net[callee])
            net[callee] -= moved
            net[edge.caller] += moved
            if abs(moved) >= relevant:
                between.append((edge.caller, callee))
    return net, tuple(between)


def _beyond_chance(
    book: Ledger, total: Estimate, delta: Array, relevant: float, *, counted: Mapping[str, Flags], text: Array
) -> Flags:
    """Which changes are not chance: counts say so and time agrees, or time alone does."""
    in_play = np.maximum(total.before, total.before + total.delta) >= relevant
    told = in_play & (counted["calls"] | counted["instructions"] | (text == 1.0))
    score = np.abs(delta) / np.maximum(total.deviation, 1e-12)
    law = stats.t(total.freedom) if total.freedom else stats.norm
    # Code outside of the checkout is the same in both builds: as often called, it has little reason to move.
    foreign = np.array([method.file is None for method in book.methods]) & ~told
    alone = score / np.where(foreign, FOREIGN, 1.0) >= law.isf(
        BLIND_ERROR / 2.0 / max(int((in_play & ~told).sum()), 1)
    )
    helped = told & (score >= law.isf(TOLD_ERROR / 2.0 / max(int(told.sum()), 1)))
    exact = (counted["instructions"] | counted["calls"]) & (score >= AGREES)
    return np.asarray(in_play & (alone | helped | exact) & (np.abs(delta) >= relevant))


def _reconciled(delta: Array, deviation: Array, named: Flags, measured: Measured) -> tuple[Array, Array]:
    """Those that moved add up to the measured change, but for a rest of which little is known beforehand."""
    out, wide = delta.copy(), deviation.copy()
    variance = np.where(named, deviation**2, 0.0)
    rest = measured.error**2 + (UNEXPLAINED * measured.change) ** 2
    gain = variance / (variance.sum() + rest)
    out += gain * (measured.change - delta[named].sum())
    wide[named] = np.sqrt((variance * (1.0 - gain))[named])
    return out, wide
