"""By how many unprofiled seconds each method's own cost moved, and which moves are beyond chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.distributions import student_quantile
from bot.analysis.methods.callers import Callers
from bot.analysis.methods.channels import (
    Estimate,
    Measured,
    by_calls,
    by_clock,
    by_instructions,
    by_running,
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
"""How much more evidence is asked for of a method outside of the checkout, and of one that kept its text and
calls where a runtime compiles, or its text, calls and instructions elsewhere. Arbitrary."""
SETTLED = 2.5
"""Standard deviations by which costs that only moved to a caller or callee must have moved. Arbitrary."""
LEAST_LEFT = 0.5
"""Of the measured change, when profiles say that it is smaller. Arbitrary."""
LEAST_SHARE = 0.05
"""Of the measured change: what explains less is not named. Arbitrary."""
STRETCHED = 0.3
"""Relative standard deviation of a change that only time tells of: a tool that times calls stretches what
calls much, and a runtime compiles otherwise while it is sampled. Arbitrary."""
PACE = 0.15
"""The same where instructions are counted: what they cost is asked of time, and a profiled trial runs alone,
where those without a profiler share a core. Arbitrary."""
WARMING = 0.5
"""The same where a runtime compiles while it runs: two trials that share a core, as those without a profiler
do, wait for their compilers longer than one that is profiled alone. Arbitrary."""
UNEXPLAINED = 0.25
"""Standard deviation, before profiles are looked at, of the share that no method that moved explains."""
BEYOND_METHODS = 0.15
"""The same where a runtime compiles and collects: time says less there than that some method changed."""

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
    delta, settled = _settled(callers, total, relevant, counted["instructions"])
    rest = (UNEXPLAINED * measured.change) ** 2
    ran = by_running(book, measured, likely)
    if ran is None:
        named = _beyond_chance(book, total, delta, relevant, counted=counted, text=text)
    else:
        moved, settled = _settled(callers, ran, relevant, counted["instructions"])
        named = _beyond_chance(book, ran, moved, relevant, counted=counted, text=text, compiled=True)
        kept = (text == 0.0) & ~counted["calls"]
        delta, named = _beside_changed(callers, delta, named & (moved * delta > 0.0), kept=kept, text=text)
        # Whoever else may have changed, as far as it seems to have moved.
        others = float((likely * (moved**2 + ran.deviation**2))[~named].sum())
        rest = (BEYOND_METHODS * measured.change) ** 2 + others
    only_time = times[1] is not None or np.isnan(book.base.instructions).all()
    stretched = (STRETCHED if only_time else PACE) * np.abs(delta)
    stretched = stretched if ran is None else _warming(delta, named, measured)
    unsure = np.hypot(total.deviation, stretched)
    seen = delta
    delta, deviation = _reconciled(delta, unsure, named, measured, rest)
    # What is told of one method agrees with its share of the measured change.
    after = np.where(book.in_head, np.maximum(total.before + total.delta + delta - seen, 0.0), 0.0)
    named &= np.abs(delta) >= relevant
    return Moves(total.before, after, delta, deviation, total.freedom or np.inf, named, settled)


def _settled(
    callers: Callers, found: Estimate, relevant: float, exact: Flags
) -> tuple[Array, tuple[tuple[int, int], ...]]:
    """Nets a callee against a caller where calls came or went and cost moved from one to the other.

    That is what inlining does, and code that is moved. The larger change keeps the difference.
    """
    sure = exact | (np.abs(found.delta) >= SETTLED * found.deviation)
    delta = np.where(sure, found.delta, 0.0)
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
    return np.where(sure, net, found.delta), tuple(between)


def _beside_changed(
    callers: Callers, delta: Array, named: Flags, *, kept: Flags, text: Array
) -> tuple[Array, Flags]:
    """Counts what a method that did not change costs more to a caller or callee that did and costs more too.

    Compilers move time between these, and what one returns or leaves to be collected the other pays for.
    """
    delta, named = delta.copy(), named.copy()
    for row in np.flatnonzero(named & kept).tolist():
        others = [edge.caller for edge in callers.incoming.get(row, ())]
        others += [callee for callee, edges in callers.incoming.items() if row in {e.caller for e in edges}]
        others = [o for o in others if named[o] and text[o] == 1.0 and delta[o] * delta[row] > 0.0]
        if others:
            delta[max(others, key=lambda other: abs(delta[other]))] += delta[row]
            named[row] = False
    return delta, named


def _beyond_chance(
    book: Ledger,
    total: Estimate,
    delta: Array,
    relevant: float,
    *,
    counted: Mapping[str, Flags],
    text: Array,
    compiled: bool = False,
) -> Flags:
    """Which changes are not chance: counts say so and time agrees, or time alone does.

    compiled: by a runtime, otherwise from trial to trial.
    """
    in_play = np.maximum(total.before, total.before + total.delta) >= relevant
    told = in_play & (counted["calls"] | counted["instructions"] | (text == 1.0))
    score = np.abs(delta) / np.maximum(total.deviation, 1e-12)
    freedom = total.freedom or np.inf
    # The same code, called as often, has little reason to move: a few samples are no evidence against it.
    counted_alike = ~np.isnan(book.base.instructions).any(axis=0) & ~np.isnan(book.head.instructions).any(
        axis=0
    )
    kept = (text == 0.0) & (compiled | counted_alike)
    calm = (np.array([method.file is None for method in book.methods]) | kept) & ~told
    blind = BLIND_ERROR / 2.0 / max(int((in_play & ~told).sum()), 1)
    alone = score / np.where(calm, FOREIGN, 1.0) >= -student_quantile(blind, freedom)
    error = BLIND_ERROR if compiled else TOLD_ERROR
    helped = told & (score >= -student_quantile(error / 2.0 / max(int(told.sum()), 1), freedom))
    exact = (counted["instructions"] | counted["calls"]) & (score >= AGREES)
    return np.asarray(in_play & (alone | helped | exact) & (np.abs(delta) >= relevant))


def _warming(delta: Array, named: Flags, measured: Measured) -> Array:
    """Standard deviation of what methods cost more in trials that a runtime's compilers had otherwise.

    Of the mean of what they seem to cost more and what they would if they explained the change, all together.
    """
    whole = float(np.abs(delta[named]).sum())
    wanted = np.abs(delta) * (abs(measured.change) / whole if whole > 0.0 else 1.0)
    return WARMING * (np.abs(delta) + wanted) / 2.0


def _reconciled(
    delta: Array, deviation: Array, named: Flags, measured: Measured, rest: float
) -> tuple[Array, Array]:
    """Those that moved and a rest add up to the change, which was measured with an error.

    rest: its variance beforehand. Returned are parts of the change that follows from both, and their standard
    deviations (delta method), as seconds of the measured one.
    """
    variance = np.where(named, deviation**2, 0.0)
    whole = float(variance.sum()) + rest
    seen = whole + measured.error**2 or 1.0
    gap = measured.change - float(delta[named].sum())
    out = delta + gap * variance / seen
    scale, part = 1.0, np.zeros_like(out)
    # What may be no change at all has no parts.
    if abs(measured.change) > measured.error:
        scale = 1.0 / max(1.0 - gap / measured.change * measured.error**2 / seen, LEAST_LEFT)
        part = out * scale / measured.change
    doubt = (
        variance * (1.0 - part) ** 2 + (whole - variance) * part**2 - (variance - part * whole) ** 2 / seen
    )
    wide = np.sqrt(np.maximum(doubt, 0.0)) * scale
    return np.where(named, out * scale, delta), np.where(named, wide, deviation)
