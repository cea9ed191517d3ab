"""Checks an assertion on base and head: held, violated or undecided, and which group moved how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bot.analysis.assertions.borders import placed
from bot.analysis.assertions.checked import Checked, CheckedGroup, Outcome
from bot.analysis.assertions.checking_groups import Move, Sides, Stratum
from bot.analysis.assertions.checking_shifts import LEAST_TRIALS
from bot.analysis.assertions.checking_trials import TYPICAL, LoggedCalls, calls_by_path, cleaned
from bot.analysis.assertions.checking_words import chain, direction, percent, told
from bot.model.assertions import AssertedGroup, Assertion, CallObservation, Floats, edges_of, shares

MOST_WRONG = 0.01
"""Share of durations that may be none; with more the clock is not to be trusted."""
LEAST_CALLS = 50
"""At base, so that there are some on either side of a border. Arbitrary."""
MOST_UNCOVERED = 0.1
"""Share of a side's calls of which nothing may be asserted."""
MOST_TOLD = 5
"""New paths that are told one by one."""
LEAST_CLUSTER = 0.02
"""Share of calls of a cluster that is worth a border (seeds/002, definition 1)."""


def check(
    assertion: Assertion,
    base: Sequence[CallObservation],
    head: Sequence[CallObservation],
    *,
    false_alarms: float,
) -> Checked:
    """Compares trials of both sides, taken in turn on one machine; an observation is a trial.

    false_alarms: chance that any group of an unchanged method is called moved; over several assertions the
    caller shares it out. Whatever the input, the outcome says what is known: nothing is raised.
    """
    (before, wrong), (after, wrong_head) = cleaned(base), cleaned(head)
    before, after = [t for t in before if t], [t for t in after if t]
    seen = calls_by_path(before), calls_by_path(after)
    edges = {edge for paths in seen for path in paths for edge in edges_of(path)}
    checked = Checked(
        id=assertion.id,
        method=assertion.method,
        outcome="undecided",
        why=(),
        new_paths=tuple(sorted(p for p in seen[1] if p not in seen[0])),
        gone=tuple(sorted(set(assertion.atoms) - edges)) if seen[0] or seen[1] else (),
    )
    calls = sum(seen[0].values()) + sum(seen[1].values())
    share = (wrong + wrong_head) / max(calls + wrong + wrong_head, 1)
    if obstacle := malformed(assertion) or _obstacle(assertion, before, after, share):
        lacking = max(0, LEAST_TRIALS - min(len(before), len(after))) if before and after else 0
        few = LEAST_CALLS - sum(seen[0].values()) if assertion.places and seen[0] and seen[1] else 0
        return replace(checked, why=(obstacle, *_news(checked)), more_trials=lacking, more_calls=max(few, 0))
    borders = np.log(_borders(assertion, before))
    sides = Sides(assertion, before, after, borders)
    moves = sides.moves(false_alarms)
    groups = tuple(_group(assertion, sides, i, moves) for i in range(len(assertion.groups)))
    return _concluded(replace(checked, borders=tuple(np.exp(borders).tolist()), groups=groups), sides)


def malformed(assertion: Assertion) -> str | None:
    """What an edited entry contradicts itself in; None: nothing."""
    places = np.array([0.0, *assertion.places, 1.0])
    if not (np.diff(places) > 0.0).all():
        return "its places are not ascending values between 0 and 1"
    if not assertion.groups:
        return "it has no groups"
    for group in assertion.groups:
        expected = np.array(group.expected)
        if len(expected) != len(places) - 1:
            return f"`{group.when.text}` expects {len(expected)} shares of {len(places) - 1} clusters"
        if not ((expected >= 0.0).all() and abs(expected.sum() - 1.0) < LEAST_CLUSTER):
            return f"the shares that `{group.when.text}` expects do not sum to 1"
    return None


def _obstacle(
    assertion: Assertion, before: Sequence[LoggedCalls], after: Sequence[LoggedCalls], wrong: float
) -> str | None:
    """Why base and head cannot be compared at all."""
    if wrong > MOST_WRONG:
        return f"{percent(wrong)} of the durations are negative or no numbers: the clock is not to be trusted"
    if not before or not after:
        where = "at base and head" if not before and not after else "at head" if before else "at base"
        return f"`{assertion.method}` has no calls {where}: renamed, inlined, or not called any more"
    if min(len(before), len(after)) < LEAST_TRIALS:
        return f"{len(before)} trials at base and {len(after)} at head; {LEAST_TRIALS} each are needed"
    every = _every(before)
    if assertion.places and len(every) < LEAST_CALLS:
        return f"{len(every)} calls at base; {LEAST_CALLS} are needed to place a border among them"
    if assertion.places and np.ptp(every) == 0.0:
        return f"all {len(every)} calls at base took the same time: no border parts them"
    return None


def _every(trials: Sequence[LoggedCalls]) -> Floats:
    """Durations of all calls, seconds, ascending, (n,)."""
    return np.asarray(np.exp(np.sort(np.concatenate([d for trial in trials for d in trial.values()]))))


def _borders(assertion: Assertion, trials: Sequence[LoggedCalls]) -> Floats:
    """Borders in seconds, (n_borders,): where the groups, as often as they are called here, have them.

    The places of an assertion are of the mix of groups when it was mined. Its expected shares say where they
    are in any other mix, so that more calls of one group move no border.
    """
    counts, covered = np.zeros(len(assertion.groups)), []
    for path, n in calls_by_path(trials).items():
        if (group := assertion.group_of(path)) is not None:
            counts[group] += n
            covered.append(path)
    if counts.sum() < LEAST_CALLS:
        return placed(_every(trials), np.array(assertion.places))
    below = np.cumsum([group.expected for group in assertion.groups], axis=1)[:, :-1]
    calls = _every([{path: trial[path] for path in covered if path in trial} for trial in trials])
    return placed(calls, (counts @ below / counts.sum()).clip(0.0, 1.0))


def _group(assertion: Assertion, sides: Sides, place: int, moves: Sequence[Move]) -> CheckedGroup:
    """What is known of one group."""
    asserted = assertion.groups[place]
    vectors = [sides.vector(place, side) for side in (0, 1)]
    calls = (sum(sides.members(place, 0).values()), sum(sides.members(place, 1).values()))
    group = CheckedGroup(
        asserted.when, asserted.expected, "undecided", "", base=vectors[0], head=vectors[1], calls=calls
    )
    if not all(calls):
        where = "at base" if calls[1] else "at head" if calls[0] else "at base and head"
        return replace(group, said=f"no calls {where}")
    stratum = next((s for s in sides.groups if s.group == place), None)
    if stratum and (best := sides.views(stratum)[0]).known:
        ends = best.estimate[TYPICAL] + np.array([0.0, -1.0, 1.0]) * best.reach[TYPICAL]
        ratio, low, high = np.exp(ends).tolist()
        group = replace(group, ratio=ratio, interval=(low, high))
    mine = [move for move in moves if move.stratum.group == place]
    found = _moved(group, sides, mine) if mine else _unmoved(group, sides, stratum)
    if sides.misfit(place, asserted.expected):
        was, now = ("/".join(f"{100 * share:.0f}" for share in v) for v in (asserted.expected, vectors[0]))
        also = f"; {found.said}" if mine else ""
        said = f"expects {was} % and base has {now} %{also}"
        return replace(found, outcome="undecided", said=said, more_trials=0)
    return found


def _moved(group: CheckedGroup, sides: Sides, moves: Sequence[Move]) -> CheckedGroup:
    """Told by the group's own move if there is one, else by the first of its paths'."""
    chosen = next((move for move in moves if move.stratum.path is None), moves[0])
    said = told(chosen, sides.levels(chosen.stratum), np.exp(sides.borders).tolist())
    paths = tuple(move.stratum.path for move in moves if move.stratum.path)
    if chosen.stratum.path is None and len(paths) == 1:
        said += f", mostly over {chain(paths[0])}"
    return replace(group, outcome="violated", said=said, moved=direction(chosen), paths=paths)


def _unmoved(group: CheckedGroup, sides: Sides, stratum: Stratum | None) -> CheckedGroup:
    """Held, or what is missing."""
    if stratum is None:
        return replace(group, said="reached over other paths than at base only")
    views = [view for view in sides.views(stratum) if view.known]
    if not views:
        return replace(
            group, said=f"too few calls in a trial: {group.calls[0]} at base, {group.calls[1]} at head"
        )
    if more := min(view.more_trials() for view in views):
        return replace(group, said=f"trials differ too much: {more} more a side are needed", more_trials=more)
    return replace(group, outcome="held", said=f"holds, {group.ratio:.2f}x as long")


def _concluded(checked: Checked, sides: Sides) -> Checked:
    """The outcome of all groups, and its reasons."""
    outcomes = {group.outcome for group in checked.groups}
    open_ = sorted((g for g in checked.groups if g.outcome != "held"), key=lambda g: g.outcome != "violated")
    reasons = [f"`{group.when.text}`: {group.said}" for group in open_]
    for name, counts in zip(("base", "head"), sides.calls, strict=True):
        loose = sum(n for path, n in counts.items() if sides.group_of[path] is None)
        if loose > MOST_UNCOVERED * sum(counts.values()):
            outcomes.add("undecided")
            reasons.append(f"{loose} calls at {name} fulfil no condition, or several")
    outcome: Outcome = next(o for o in ("violated", "undecided", "held") if o in outcomes)
    lacking = [g for g in checked.groups if g.more_trials] if outcome == "undecided" else []
    found = replace(
        checked,
        outcome=outcome,
        more_trials=max((g.more_trials for g in lacking), default=0),
        more_calls=max((g.more_trials * g.calls[0] // len(sides.base) for g in lacking), default=0),
        ambiguous=tuple(p for p in checked.new_paths if sides.group_of[p] is None),
        vanished=tuple(i for i, g in enumerate(checked.groups) if g.calls[0] and not g.calls[1]),
    )
    return replace(found, why=(*(reasons or ["every group holds"]), *_news(found)))


def _news(checked: Checked) -> list[str]:
    """What a reader should know beside the outcome."""
    paths = [
        f"new path {chain(p)}" + " (fulfils no condition, or several)" * (p in checked.ambiguous)
        for p in checked.new_paths
    ]
    more = [f"and {len(paths) - MOST_TOLD} more new paths"] if len(paths) > MOST_TOLD else []
    return [*paths[:MOST_TOLD], *more, *(f"no path has the edge {chain(e)} any more" for e in checked.gone)]


def proposed(
    assertion: Assertion, head: Sequence[CallObservation], *, borders: Sequence[float] = ()
) -> Assertion:
    """The entry edited to what head does: same conditions, vectors and calls as observed.

    borders: seconds on this machine (`Checked.borders`); without, they are placed on head. Where calls moved
    across them, their places among all calls are new; one beyond which hardly a call is left is dropped, and
    so is a group that is not reached any more. With too few calls the entry stays as it is.
    """
    trials = [trial for trial in cleaned(head)[0] if trial]
    if not trials or malformed(assertion):
        return assertion
    ordered = _every(trials)
    if not len(borders) and len(ordered) < LEAST_CALLS:
        return assertion
    seconds = np.asarray(borders) if len(borders) else _borders(assertion, trials)
    places = np.searchsorted(ordered, seconds, side="left") / len(ordered)
    apart = np.diff(places, append=1.0) >= LEAST_CLUSTER
    kept = apart & (places >= LEAST_CLUSTER)
    cuts, places = np.log(seconds[kept]), places[kept]
    groups = []
    for place, group in enumerate(assertion.groups):
        logs = [d for t in trials for path, d in t.items() if assertion.group_of(path) == place]
        if logs:
            every = np.concatenate(logs)
            groups.append(AssertedGroup(group.when, shares(every, cuts.tolist()), len(every)))
    if not groups:
        return assertion
    return replace(assertion, places=tuple(places.tolist()), groups=tuple(groups), trials=len(trials))
