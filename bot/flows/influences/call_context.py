"""What single calls add to influences: context variance, the published second step, what profilers cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.hindsight import configurations
from bot.analysis.influences.context import variations
from bot.analysis.influences.costs import CostTable
from bot.analysis.influences.explaining import TermInfluence
from bot.analysis.influences.learning import InfluenceModels
from bot.analysis.influences.overhead import overhead
from bot.analysis.influences.remembered import LEAST_PROBE, REST
from bot.analysis.influences.watched import WatchedTrial, newest, watched_trials
from bot.analysis.published.influences.coarse import FEWEST
from bot.analysis.published.influences.fine import fine_costs
from bot.analysis.published.influences.pipeline import PublishedInfluences
from bot.model.duration_history import DurationTable
from bot.model.history import OUTCOMES
from bot.model.overhead import OverheadDriver, ProfilerOverhead
from bot.model.profile_history import ProfileTable
from bot.model.profiles import CallSeries
from bot.model.space import Configuration, Space
from bot.model.variation import Variation

MOST_TOLD = 20
"""Methods whose variation is told."""
TERMS = 3
"""Terms of a method in a note, the strongest."""


def varied(costs: CostTable, durations: DurationTable, method: str | None) -> tuple[Variation, ...]:
    """Variation of the watched methods, or of all whose name ends so, the costliest first."""
    watched = {m.name for m in durations.methods}
    names = [n for n in dict.fromkeys([*costs.methods, *sorted(watched)]) if n != REST]
    chosen = [n for n in names if (n in watched if method is None else n.endswith(method))]
    return variations(newest(durations), costs, chosen[:MOST_TOLD])


def refine(
    published: PublishedInfluences, probe: CostTable | None, space: Space, durations: DurationTable
) -> tuple[str, ...]:
    """Second step of the published pipeline, on what was watched of its hard methods; what must be known."""
    hard = set(published.hard_methods_)
    if not hard:
        return ()
    costs = _fine_table(space, watched_trials(space, newest(durations)), hard)
    held = set() if probe is None else set(probe.configurations)
    learn = [i for i, c in enumerate(costs.configurations) if c not in held]
    test = [i for i, c in enumerate(costs.configurations) if c in held]
    if not costs.methods or len(learn) < FEWEST:
        return (
            f"{len(hard)} methods are hard by the published filter; their single calls were watched in"
            f" {len(learn)} configurations, and {FEWEST} are needed to learn again.",
        )
    published.refine(costs.select(learn), costs.select(test) if len(test) >= LEAST_PROBE else None)
    return (
        f"{len(costs.methods)} hard methods were learnt again from single calls without the longest 1 %, in"
        f" {len(learn)} configurations.",
    )


def relearnt(
    errors: Mapping[str, float],
    space: Space,
    durations: DurationTable,
    *,
    models: InfluenceModels,
    explained: Callable[[InfluenceModels], Sequence[TermInfluence]],
) -> tuple[str, ...]:
    """Hard methods that our models predict better from single calls without the longest 1 %, and by what.

    errors: of hard methods, from coarse profiles. models: not fitted yet. Calls have their callees in
    them, so that these influences are told apart from the others.
    """
    costs = _fine_table(space, watched_trials(space, newest(durations)), set(errors))
    if not costs.methods or len(costs.configurations) < FEWEST + LEAST_PROBE:
        return ()
    models.fit(costs)
    drivers: dict[str | None, list[str]] = {}
    for one in explained(models):
        if one.term and one.sure:
            drivers.setdefault(one.method, []).append(f"{' + '.join(one.term)} {1e3 * one.influence:+.3g} ms")
    told = [
        f"`{m.method}` (error {100 * m.error:.0f} % instead of {100 * errors[m.method]:.0f} %):"
        f" {', '.join(drivers.get(m.method, ['no option drives it'])[:TERMS])}"
        for m in models.models_["seconds"]
        if m.method is not None and m.state == "learnt" and m.error < errors[m.method]
    ]
    if not told:
        return ()
    return (f"Learnt better from single calls, callees included, longest 1 % left out: {'; '.join(told)}.",)


def _fine_table(space: Space, trials: Sequence[WatchedTrial], names: set[str]) -> CostTable:
    """Costs of the named methods where any was watched; not known where one was too frequent for that."""
    runs: dict[Configuration, list[Sequence[CallSeries] | None]] = {}
    known: dict[Configuration, set[str]] = {}
    for trial in trials:
        if not names & trial.known:
            continue
        series = [one for one in trial.series if one.method.name in names]
        runs.setdefault(trial.configuration, []).append(series)
        known.setdefault(trial.configuration, set()).update(trial.known)
    costs = fine_costs(space, list(runs.items()))
    stale = np.array([[m not in known[c] for m in costs.methods] for c in costs.configurations], bool)
    return replace(costs, stale=stale.reshape(len(costs.configurations), len(costs.methods)))


def profiler_overheads(
    space: Space, profiles: ProfileTable, durations: DurationTable
) -> tuple[ProfilerOverhead, ...]:
    """Of each profiler whose trials were also run without it, coarse ones first."""
    good = profiles.where(profiles.outcome == OUTCOMES.index("ok"))
    return (
        *_overheads(space, good, good.seconds),
        *_overheads(space, durations, durations.profiled),
    )


def _overheads(
    space: Space, table: ProfileTable | DurationTable, seconds: NDArray[np.float64]
) -> list[ProfilerOverhead]:
    found, codes = configurations(table, space)
    trial = table.run.astype(np.int64) << 32 | table.profile
    _, first = np.unique(trial, return_index=True)
    first = first[codes[table.configuration[first]] >= 0]
    told = []
    for tool in np.unique(table.tool[first]):
        own = first[table.tool[first] == tool]
        place = codes[table.configuration[own]]
        profiled, unprofiled = (_means(place, v[own], len(found)) for v in (seconds, table.unprofiled))
        one = overhead(space, found, profiled=profiled, unprofiled=unprofiled)
        if one is not None:
            told.append(
                ProfilerOverhead(
                    tool=table.tools[tool],
                    configurations=int((np.isfinite(profiled) & np.isfinite(unprofiled)).sum()),
                    pearson=None if math.isnan(one.pearson) else one.pearson,
                    spearman=None if math.isnan(one.spearman) else one.spearman,
                    ratio=one.median,
                    drivers=tuple(OverheadDriver(option=o, correlation=c) for o, c in one.drivers),
                )
            )
    return told


def _means(place: NDArray[np.int64], values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Mean of the known values at each place, shape (count,); NaN: none is known."""
    known = np.isfinite(values)
    sums = np.bincount(place[known], values[known], count)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / np.bincount(place[known], minlength=count))
