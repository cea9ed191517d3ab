"""Runs of failures in a range: from which revision to which, and in which configurations, nothing worked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from bot.flows.ranges.telling import spoken_level
from bot.model.at_fault import at_fault, fitting_terms, fitting_terms_by_value, held
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Level, Space, Term, Value, forbidding
from bot.model.trials import BESIDE


@dataclass(frozen=True)
class FailingRun:
    """Trials that failed, in configurations that worked before or after.

    first, last: revisions. term: what failing configurations have in common and no working one between
    these revisions has; None: nothing of one or two levels. trials: how many failed.
    """

    first: int
    last: int
    term: Term | None
    trials: int


def failing_runs(space: Space, observations: Sequence[Observation]) -> tuple[FailingRun, ...]:
    """Runs of failures by their first revision; what does not build or never works is none.

    Runs that have a level of their own come first. Other neighbouring runs are one as long as they have
    something in common that did not work between them.
    """
    found, rest = _of_levels(space, [o for o in observations if o.built])
    return tuple(sorted((*found, *_of_terms(space, rest)), key=lambda run: run.first))


def _of_levels(
    space: Space, observations: Sequence[Observation]
) -> tuple[list[FailingRun], list[Observation]]:
    """Runs of levels that are to blame by themselves, and the trials that these do not account for."""
    held = {o.probe.configuration: _held(space, o.probe.configuration) for o in observations}
    works: dict[Level, dict[int, bool]] = {level: {} for level in space.levels}
    for o in observations:
        for level in held[o.probe.configuration]:
            well = works[level].get(o.probe.revision, False)
            works[level][o.probe.revision] = well or not math.isnan(o.value)
    failed = {k: o.probe for k, o in enumerate(observations) if math.isnan(o.value)}
    found, explained = [], set[int]()
    for level, surely in _to_blame(failed.values(), held, works).items():
        for run in _failed([(r, not well) for r, well in works[level].items()]):
            if not surely.isdisjoint(run):
                mine = [k for k, p in failed.items() if p.revision in run and level in held[p.configuration]]
                found.append(FailingRun(run[0], run[-1], (str(level),), len(mine)))
                explained.update(mine)
    return found, [o for k, o in enumerate(observations) if k not in explained]


def _to_blame(
    failed: Iterable[Probe],
    held: Mapping[Configuration, Sequence[Level]],
    works: Mapping[Level, Mapping[int, bool]],
) -> Mapping[Level, set[int]]:
    """Levels beside which everything else of a configuration that failed worked, and at which revisions.

    That tells who fails where several options do at once. works: whether a trial with a level did, by
    revision.
    """
    found: dict[Level, set[int]] = defaultdict(set)
    for probe in failed:
        left = [level for level in held[probe.configuration] if not works[level][probe.revision]]
        if len(left) == 1 and any(known.get(probe.revision) for known in works.values()):
            found[left[0]].add(probe.revision)
    return found


def _held(space: Space, configuration: Configuration) -> list[Level]:
    return [level for level in space.levels if space.holds(level, configuration)]


def _of_terms(space: Space, observations: Sequence[Observation]) -> tuple[FailingRun, ...]:
    trials: dict[Configuration, list[tuple[int, bool]]] = defaultdict(list)
    for o in observations:
        trials[o.probe.configuration].append((o.probe.revision, math.isnan(o.value)))
    runs = sorted(
        (revisions[0], revisions[-1], configuration, len(revisions))
        for configuration, known in trials.items()
        for revisions in _failed(known)
    )
    found: list[FailingRun] = []
    failing: list[Configuration] = []
    for first, last, configuration, count in runs:
        if found:
            start, end = found[-1].first, max(found[-1].last, last)
            term = _common(space, [*failing, configuration], _working(trials, start, end))
            if term is not None or first <= found[-1].last:
                failing.append(configuration)
                found[-1] = FailingRun(start, end, term, found[-1].trials + count)
                continue
        failing = [configuration]
        found.append(FailingRun(first, last, _common(space, failing, _working(trials, first, last)), count))
    return tuple(found)


def in_words(run: FailingRun, labels: Sequence[str], tried: Collection[int]) -> str:
    """Where a run fails; and, if everything does, the revisions beside it that nobody tried: some may work.

    labels: of all revisions. tried: the revisions of all trials.
    """
    first, last = labels[run.first], labels[run.last]
    levels = " and ".join(spoken_level(str(level)) for level in run.term or ())
    where = f"with {levels}" if levels else "in every configuration"
    when = f"at {first}" if run.first == run.last else f"from {first} to {last}"
    before = max((r for r in tried if r < run.first), default=run.first)
    after = min((r for r in tried if r > run.last), default=run.last)
    gaps = [f"{labels[a]} and {labels[b]}" for a, b in ((before, run.first), (run.last, after)) if b > a + 1]
    unseen = f"; nothing was tried between {' or between '.join(gaps)}" if gaps and not run.term else ""
    return f"{when} {where} (all {run.trials}{unseen})"


def blamed(space: Space, worked: Mapping[Configuration, bool]) -> list[dict[str, Value]]:
    """Values of options with which nothing worked, while something did; worked: by configuration."""
    failed, well = ([space.as_dict(c) for c, w in worked.items() if w == side] for side in (False, True))
    return at_fault(failed, well) if well else []


def without_broken(
    space: Space, observations: Sequence[Observation], *, paired: bool
) -> tuple[list[Observation], list[str]]:
    """The trials that have none of the values that never work, and a note on those that have.

    That note is all that there is to say of them: which revisions they failed at tells nothing more.
    paired: whether each ran beside the anchor. Where that worked the program does, with an option that
    is new there.
    """
    worked = _worked(observations, paired=paired)
    broken = blamed(space, worked)
    if not broken:
        return list(observations), []
    kept = [o for o in observations if not held(space.as_dict(o.probe.configuration), broken)]
    failed = len(observations) - len(kept)
    well = [space.as_dict(c) for c, w in worked.items() if w]
    bad = [space.as_dict(c) for c, w in worked.items() if not w]
    sure = [values for values in broken if _alone(values, bad, well)]
    if sure == broken:
        return kept, [
            f"Nothing works with {together(broken)}: all {failed} trials failed, at every"
            " revision tried. Nothing is known of it: mend how it is run, or forbid it by a constraint."
        ]
    return kept, [
        f"Nothing worked with {together(broken)} so far: all {failed} trials failed, each beside other"
        " options, of which some may be why. Nothing is known of it: try it alone, then mend how it is run,"
        " or forbid what fails by a constraint."
    ]


def without_value(
    space: Space, observations: Sequence[Observation], anchor: str
) -> tuple[list[Observation], list[str]]:
    """The trials beside an anchor (its label) that worked, and a note on the configurations it fails in.

    Of the revision that ran beside a failing anchor such a trial says nothing.
    """
    failed = list(dict.fromkeys(o.probe.configuration for o in observations if o.built and not o.anchor))
    if not failed:
        return list(observations), []
    kept = [o for o in observations if o.anchor]
    who, have = (
        ("1 configuration fails", "it has")
        if len(failed) == 1
        else (f"{len(failed)} configurations fail", "they have")
    )
    return kept, [
        f"{who} at {anchor}, {BESIDE}: {have} no value at any revision."
        f" {_what_fails(space, failed, {o.probe.configuration for o in kept})}"
    ]


def _what_fails(space: Space, failed: Sequence[Configuration], worked: Collection[Configuration]) -> str:
    """What to do, with the levels that tell what fails from what works, or with what fails plainly."""
    if not worked:
        return "Nothing works there: mend how it is run."
    shared = [level for level in space.levels if all(space.holds(level, c) for c in failed)]
    alone = [level for level in shared if not any(space.holds(level, c) for c in worked)]
    bad, well = ([space.as_dict(c) for c in side] for side in (failed, worked))
    fit = ((alone[0],),) if len(alone) == 1 else fitting_terms(bad, well)
    if terms := fit if len(fit) == 1 else fitting_terms_by_value(bad, well):
        told = ", or with ".join(" and ".join(spoken_level(str(level)) for level in term) for term in terms)
        rules = ", ".join(f"`{forbidding(term)}`" for term in terms)
        return f"Nothing works there with {told}: mend how it is run, or forbid it by a constraint, {rules}."
    plainest = min((_chosen(space, c) for c in failed), key=len)
    example = f"with {together([plainest])} alone" if plainest else "the default"
    return f"One is {example}. Mend how it is run, or forbid what fails by a constraint."


def _chosen(space: Space, configuration: Configuration) -> dict[str, Value]:
    """The options that are not at their default."""
    given = space.as_dict(configuration)
    return {o.name: given[o.name] for o in space.options if given[o.name] != o.default}


def broken_values(
    space: Space, observations: Sequence[Observation], *, paired: bool
) -> list[dict[str, Value]]:
    """Values with which no trial worked, while others did; paired: whether each ran beside the anchor."""
    return blamed(space, _worked(observations, paired=paired))


def _worked(observations: Sequence[Observation], *, paired: bool) -> Mapping[Configuration, bool]:
    """Of each configuration that was run, whether a trial worked."""
    worked: dict[Configuration, bool] = defaultdict(bool)
    for o in (o for o in observations if o.built):
        worked[o.probe.configuration] |= o.value > 0 or (paired and o.anchor > 0)
    return worked


def _alone(
    values: Mapping[str, Value], failed: Sequence[Mapping[str, Value]], worked: Sequence[Mapping[str, Value]]
) -> bool:
    """Whether one that failed with these values differs in nothing else from one that worked."""
    return any(
        values.items() <= bad.items() and {name for name in bad if bad[name] != well[name]} <= values.keys()
        for bad in failed
        for well in worked
    )


def together(broken: Sequence[Mapping[str, Value]]) -> str:
    """Values at fault as levels; those that cannot be told apart joined by "and"."""
    return ", ".join(" and ".join(f"`{_level(*chosen)}`" for chosen in v.items()) for v in broken)


def _level(option: str, value: Value) -> Level:
    return Level(option, ("off", "on")[value] if isinstance(value, bool) else "=", value)


def _working(
    trials: Mapping[Configuration, Sequence[tuple[int, bool]]], first: int, last: int
) -> list[Configuration]:
    return [c for c, known in trials.items() if any(first <= r <= last and not failed for r, failed in known)]


def _failed(known: list[tuple[int, bool]]) -> Iterator[list[int]]:
    """The revisions of each run of failures of one configuration that works elsewhere."""
    if all(failed for _, failed in known):
        return
    for failed, run in groupby(sorted(known), key=lambda trial: trial[1]):
        if failed:
            yield [revision for revision, _ in run]


def _common(space: Space, failing: Sequence[Configuration], working: Sequence[Configuration]) -> Term | None:
    """The shortest term that all failing configurations hold and no working one."""
    if not working:
        return ()
    shared = [level for level in space.levels if all(space.holds(level, c) for c in failing)]
    shared.sort(key=lambda level: level.operator in ("off", "<"))  # what is on is blamed more readily
    for size in (1, 2):
        for levels in combinations(shared, size):
            if not any(all(space.holds(level, c) for level in levels) for c in working):
                return tuple(sorted(str(level) for level in levels))
    return None
