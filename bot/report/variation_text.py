"""Variation of methods for a terminal: repetitions, configurations, single calls; and what profilers cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.model.duration_history import BETWEEN
from bot.model.overhead import ProfilerOverhead
from bot.model.variation import CallGroup, ContextFactor, Variation
from bot.report.formats import clean, fraction, seconds

SHOWN = 0.1
"""Share of the variance from which on a factor is told: below, it goes with next to nothing."""
CALLERS = 3
"""Innermost callers that are shown of a path."""


def variation_text(variations: Sequence[Variation], *, every: bool) -> str:
    """Lines on each method; `every`: also on those whose calls do not differ most."""
    shown = [v for v in variations if every or v.by_context]
    head = (
        ["Methods whose single calls differ more than configurations do", ""] if shown and not every else []
    )
    return "".join(f"{line}\n" for line in [*head, *(line for v in shown for line in _method(v))])


def _method(found: Variation) -> Iterator[str]:
    yield clean(found.method)
    parts = [
        f"{fraction(value)} between {what}"
        for value, what in (
            (found.measurement, "repetitions"),
            (found.configuration, "configurations"),
            (found.context, "the calls of a run"),
        )
        if value is not None
    ]
    yield f"  variation of its time: {', '.join(parts) or 'not known'}"
    if found.context is None:
        yield "  its single calls were not watched"
    telling = [f for f in found.factors if f.share >= SHOWN and f.slowest]
    for factor in sorted(telling, key=lambda f: -f.share):
        yield from _factor(factor)
    if found.by_context and not telling:
        yield f"  no arguments or callers stand out among its slow calls ({found.calls:,} calls)"
    yield ""


def _factor(factor: ContextFactor) -> Iterator[str]:
    yield f"  slow calls go with their {factor.by}: {fraction(factor.share)} of the variance"
    for group in factor.slowest:
        calls = f"{group.calls:,} calls of {seconds(group.seconds)}"
        yield f"    {group.times:.3g} times the usual: {_value(factor, group)} ({calls})"


def _value(factor: ContextFactor, group: CallGroup) -> str:
    if factor.by == "arguments":
        return clean(group.value)
    return clean(BETWEEN.join(group.value.split(BETWEEN)[-CALLERS:])) or "no known caller"


def overhead_text(profilers: Sequence[ProfilerOverhead]) -> str:
    """A line on each profiler."""
    lines = []
    for one in profilers:
        drivers = ", ".join(f"{clean(d.option)} ({d.correlation:+.2f})" for d in one.drivers)
        lines.append(
            f"{clean(one.tool)}: {one.ratio:.2f} times the unprofiled seconds; over {one.configurations}"
            f" configurations Pearson {_correlation(one.pearson)}, Spearman {_correlation(one.spearman)}"
            f"{f'; its overhead goes with {drivers}' if drivers else ''}"
        )
    return "".join(f"{line}\n" for line in ["What profiling costs", *lines, ""]) if lines else ""


def _correlation(value: float | None) -> str:
    return "not known" if value is None else f"{value:.2f}"
