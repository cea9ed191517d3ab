"""Utilisation profile of a program over the machines in history, and what moved between two revisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.machines.alternatives import Factors, by_class
from bot.analysis.machines.comparing import ProfileComparison
from bot.analysis.machines.hardware import steady, types_of
from bot.analysis.machines.profile import FEWEST, UtilisationProfile
from bot.analysis.published.utilisation import PublishedProfile, ranked_difference
from bot.flows.machines.times import MachineTimes, machine_times
from bot.flows.ports import Store
from bot.model.errors import UsageError
from bot.model.machines import CLASSES_OF, Machine
from bot.model.utilisation import (
    ClusterShare,
    FactorWeight,
    ProfileChange,
    ProgramProfile,
    PublishedImportances,
    StressorShare,
    Utilisation,
)

Floats = NDArray[np.float64]
INSTEAD = (
    "Hosted runners seldom offer so many types. What works on one machine: `suspects pr` counts what a change"
    " asks of it (instructions, misses, page faults, system calls) and names the resource that moved."
)
FEWEST_PUBLISHED = 3
"""Machines below which trees have nothing to split; the published form itself has no lower limit."""


def utilisation(
    store: Store,
    program: str,
    metric: str,
    *,
    rng: np.random.Generator,
    revisions: tuple[str, str] | None = None,
    published: bool = False,
) -> Utilisation:
    """The profile of a revision, and with `revisions` (base, head) the comparison of these.

    The revision is head, or else the newest that ran on enough machines; if none did, all of them together.

    program: `program_fingerprint` of the subject. published: with the published importances.

    Raises:
        UsageError: a revision is not in the history, or is ambiguous.
        HistoryError: the history cannot be read.
    """
    times = machine_times(store, program, metric)
    asked = revisions and tuple(_revision(times, wanted) for wanted in revisions)
    revision = asked[1] if asked else _enough(times)
    seconds = times.of(times.cells) if revision is None else times.at(revision)
    machines = sorted(seconds)
    stressors, rates, notes = _rates(times, machines)
    values = np.array([seconds[m] for m in machines])
    fitted = UtilisationProfile().fit(rates, values, rng=rng)
    profile = _told(fitted, stressors, rates, values)
    found = Utilisation(
        metric,
        tuple(_name(m) for m in machines),
        len(fitted.types_),
        times.tool,
        profile,
        None if revision is None else times.labels[revision] or revision,
        notes=(*store.notes(), *times.notes, *notes, *([INSTEAD] if profile.refusal else [])),
    )
    if published:
        found = replace(found, published=_published(stressors, rates, values))
    if asked is None:
        return found
    return replace(found, change=_change(times, *asked, rng=rng, published=published))


def _enough(times: MachineTimes) -> str | None:
    """The newest revision that ran on as many machines as a profile needs."""
    newest = sorted(times.newest, key=lambda revision: times.newest[revision], reverse=True)
    return next((revision for revision in newest if len(times.at(revision)) >= FEWEST), None)


def _rates(times: MachineTimes, machines: Sequence[Machine]) -> tuple[list[str], Floats, list[str]]:
    """Names of stressors, steady rates, (n_machines, n_stressors), NaN: none, and what was left out."""
    kept = [steady(times.fingerprints[machine].rates) for machine in machines]
    stressors = sorted({name for rates, _ in kept for name in rates})
    rates = np.array([[found.get(name, np.nan) for name in stressors] for found, _ in kept])
    notes = [
        f"{_name(machine)}: left out because of rates that vary by more than 10 %: {', '.join(unsteady)}."
        for machine, (_, unsteady) in zip(machines, kept, strict=True)
        if unsteady
    ]
    return stressors, rates.reshape(len(machines), len(stressors)), notes


def _told(
    fitted: UtilisationProfile, stressors: Sequence[str], rates: Floats, seconds: Floats
) -> ProgramProfile:
    """The profile as it is told; refused, without shares."""
    errors = [error if np.isfinite(error) else None for error in (fitted.error_, fitted.own_error_)]
    if fitted.refusal_:
        return ProgramProfile(fitted.refusal_, fitted.fitting_, error=errors[0], own_error=errors[1])
    names = [stressors[j] for j in fitted.stressors_]
    shares = [
        StressorShare(
            name,
            CLASSES_OF.get(name, ()),
            float(fitted.shares_[j]),
            float(fitted.selected_[j]),
            tuple(names[k] for k in np.flatnonzero(fitted.clusters_ == fitted.clusters_[j]) if k != j),
        )
        for j, name in enumerate(names)
        if fitted.shares_[j] > 0
    ]
    clusters = [
        ClusterShare(
            tuple(name for name, code in zip(names, fitted.clusters_, strict=True) if code == cluster),
            float(share),
            (float(fitted.intervals_[cluster][0]), float(fitted.intervals_[cluster][1])),
        )
        for cluster, share in enumerate(fitted.cluster_shares_)
    ]
    types = types_of(rates)
    factors = Factors().fit(types.rates, types.merged(seconds))
    told = zip(factors.names(names), factors.explained_, factors.weights_, strict=True)
    return ProgramProfile(
        shares=tuple(sorted(shares, key=lambda s: -s.share)),
        clusters=tuple(sorted(clusters, key=lambda c: -c.share)),
        classes=by_class({s.stressor: s.share for s in shares}),
        factors=tuple(FactorWeight(name, float(part), float(weight)) for name, part, weight in told),
        error=errors[0],
        own_error=errors[1],
    )


def _published(stressors: Sequence[str], rates: Floats, seconds: Floats) -> PublishedImportances | None:
    """As published: each machine is one, whatever its hardware."""
    complete = np.isfinite(rates).all(axis=0)
    if len(seconds) < FEWEST_PUBLISHED or not complete.any():
        return None
    fitted = PublishedProfile().fit(rates[:, complete], seconds)
    names = [stressors[j] for j in np.flatnonzero(complete).tolist()]
    order = np.argsort(-fitted.importances_, kind="stable")
    importances = {names[j]: float(fitted.importances_[j]) for j in order.tolist()}
    return PublishedImportances(importances, fitted.error_, fitted.own_error_, len(fitted.seeds))


def _change(
    times: MachineTimes, base: str, head: str, *, rng: np.random.Generator, published: bool
) -> ProfileChange:
    """Both revisions over the machines that ran both."""
    before = times.at(base)
    ratios = times.changes(base, head)
    machines = sorted(before.keys() & ratios.keys())
    stressors, rates, _ = _rates(times, machines)
    seconds = np.array([before[m] for m in machines])
    after = seconds * np.array([ratios[m] for m in machines])
    found = ProfileComparison().fit(rates, seconds, after, rng=rng)
    labels = times.labels[base] or base, times.labels[head] or head
    change = ProfileChange(*labels, found.refusal_, len(found.types_))
    if published and len(machines) >= FEWEST_PUBLISHED:
        change = replace(change, ranked=_ranked(stressors, rates, seconds, after))
    if found.refusal_:
        return change
    moved = None
    if found.moved_ is not None:
        name, used = stressors[found.moved_], list(found.stressors_)
        code = found.clusters_[used.index(found.moved_)]
        alike = [stressors[j] for j, c in zip(used, found.clusters_, strict=True) if c == code]
        others = tuple(other for other in alike if other != name)
        moved = StressorShare(name, CLASSES_OF.get(name, ()), found.share_, 1.0, others)
    return replace(
        change,
        ratio=found.ratio_,
        probability=found.probability_,
        stressor=moved,
        interval=found.interval_,
    )


def _ranked(stressors: Sequence[str], rates: Floats, base: Floats, head: Floats) -> str | None:
    complete = np.flatnonzero(np.isfinite(rates).all(axis=0))
    if not len(complete):
        return None
    profiles = [
        PublishedProfile(judged=False).fit(rates[:, complete], seconds).importances_
        for seconds in (base, head)
    ]
    differing = ranked_difference(profiles[0], profiles[1])
    return None if differing is None else stressors[complete[differing]]


def _revision(times: MachineTimes, wanted: str) -> str:
    """The full id of a revision: its id, the beginning of one, or its label."""
    measured = {revision for revision, _, _ in times.cells}
    exact = {r for r in measured if wanted in (r, times.labels[r])}
    found = exact or {r for r in measured if r.startswith(wanted)}
    if len(found) != 1:
        raise UsageError(
            f"{wanted}: {len(found)} revisions with trials on fingerprinted machines are called so"
        )
    return found.pop()


def _name(machine: Machine) -> str:
    return f"{machine.cpu}, {machine.cores} cores, Linux {machine.kernel}"
