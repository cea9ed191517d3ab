"""What stands behind a change, from several machines' own explanations: methods, counts, assertions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from bot.analysis.machines.merging import Place, counts_by_place
from bot.flows.shards.choice import LeftShard
from bot.model.history import canonical
from bot.model.report import ConfigurationChange, Report
from bot.model.report_assertions import AssertionOutcome
from bot.model.report_methods import MethodSuspect
from bot.model.report_resources import CountedResources, ResourceCount

_T = TypeVar("_T")


def explained(found: Report, shards: Sequence[LeftShard]) -> Report:
    """The report with what those shards found that were sure enough of the same change to look closer."""
    looked = [one for one in shards if found.verdict == one.report.verdict != "none"]
    notes = list(found.notes)
    moved = found.verdict in ("regression", "improvement", "mixed")
    if not moved:
        looked = []
        if any(one.report.verdict in ("regression", "improvement", "mixed") for one in shards):
            notes.append("A shard alone saw a change that all shards together do not bear out.")
    elif not looked:
        notes.append("No shard alone was sure enough to look for methods; all together are.")
    counted = _counted(looked, notes)
    features = {feature for one in counted for feature in one.features}
    resources = _first(looked, lambda r: tuple(s for s in r.suspects.resources if s.feature in features))
    return found.model_copy(
        update={
            "suspects": found.suspects.model_copy(
                update={"methods": _methods(looked), "resources": resources}
            ),
            "profiles": _first(looked, lambda r: r.profiles),
            "resources": counted,
            "configurations": (*found.configurations, *_instructions(looked, notes)),
            "assertions": _assertions(shards, notes),
            "notes": tuple(dict.fromkeys(notes)),
        }
    )


def _first(shards: Sequence[LeftShard], part: Callable[[Report], tuple[_T, ...]]) -> tuple[_T, ...]:
    """That part of the first shard's report that has it: two profiles of a change tell one story twice."""
    return next((found for one in shards if (found := part(one.report))), ())


def _methods(shards: Sequence[LeftShard]) -> tuple[MethodSuspect, ...]:
    """Methods that most of the shards blame that looked for any; of each the one with the middle share."""
    found: defaultdict[tuple[str, str | None], list[MethodSuspect]] = defaultdict(list)
    for one in shards:
        for suspect in {s.method: s for s in reversed(one.report.suspects.methods)}.values():
            found[suspect.method, suspect.file].append(suspect)
    looked = sum(bool(one.report.profiles) for one in shards)
    middle = [
        sorted(several, key=lambda s: s.share_of_change)[(len(several) - 1) // 2]
        for several in found.values()
        if 2 * len(several) > looked
    ]
    return tuple(sorted(middle, key=lambda s: (-abs(s.share_of_change), s.method)))


def _place(shard: LeftShard) -> Place:
    return Place(shard.manifest.architecture, shard.report.environment.image)


def _counted(shards: Sequence[LeftShard], notes: list[str]) -> tuple[CountedResources, ...]:
    """Counts by configuration, of the place that most shards have; those of other places are told."""
    found: defaultdict[str, defaultdict[Place, list[CountedResources]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in shards:
        for counted in one.report.resources:
            found[canonical(counted.options)][_place(one)].append(counted)
    united = []
    for places in found.values():
        main = max(places, key=lambda place: (len(places[place]), place))
        for place, several in sorted(places.items()):
            counted = _of_place(place, several, notes)
            if place == main:
                united.append(counted)
                continue
            moved = [f"{c.count} {c.base:,.0f} -> {c.head:,.0f}" for c in counted.counts if c.moved]
            notes += [f"Counts on {place.architecture}: {', '.join(moved)}."] if moved else []
    return tuple(united)


def _of_place(place: Place, several: Sequence[CountedResources], notes: list[str]) -> CountedResources:
    """Counts of one configuration on comparable machines; what these disagree on is left out."""
    runs: list[tuple[Place, Mapping[str, float]]] = [
        (place, {f"{c.count} at {side}": getattr(c, side) for c in one.counts for side in ("base", "head")})
        for one in several
    ]
    kept, drifts = counts_by_place(runs)
    for drift in drifts:
        low, high = drift.values[0], drift.values[-1]
        notes.append(f"Machines disagree on {drift.name} ({low:,.0f} to {high:,.0f}): it is not told.")
    counts: list[ResourceCount] = []
    for count in {c.count: c for one in several for c in one.counts}.values():
        base, head = (kept[place].get(f"{count.count} at {side}") for side in ("base", "head"))
        if base is not None and head is not None:
            counts.append(count.model_copy(update={"base": base, "head": head}))
    return several[0].model_copy(update={"counts": tuple(counts)})


def _instructions(shards: Sequence[LeftShard], notes: list[str]) -> list[ConfigurationChange]:
    """Exact counts by configuration, of the architecture that most shards have; others are told apart."""
    found: defaultdict[str, defaultdict[str, list[ConfigurationChange]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in shards:
        for change in one.report.configurations:
            if change.metric == "instructions" and change.ratio is not None:
                found[canonical(change.options)][_place(one).architecture].append(change)
    united = []
    for places in found.values():
        main = max(places, key=lambda name: (len(places[name]), name))
        united.append(places[main][0])
        for name, (change, *_) in sorted(places.items()):
            if change.state != united[-1].state:
                notes.append(f"Instructions on {name}: {change.state} (x {change.ratio:.4f}).")
    return united


def _assertions(shards: Sequence[LeftShard], notes: list[str]) -> tuple[AssertionOutcome, ...]:
    """Each assertion's outcome: decided where all shards agree that decided it."""
    found: defaultdict[str, list[AssertionOutcome]] = defaultdict(list)
    for one in shards:
        for outcome in one.report.assertions:
            found[outcome.id].append(outcome)
    united = []
    for several in found.values():
        decided = [outcome for outcome in several if outcome.outcome != "undecided"] or several
        if len({outcome.outcome for outcome in decided}) > 1:
            notes.append(f"Machines disagree on the assertion {decided[0].id}: it stays undecided.")
            united.append(decided[0].model_copy(update={"outcome": "undecided"}))
        else:
            united.append(decided[0])
    return tuple(united)
