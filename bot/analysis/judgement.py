"""What is told of the evidence: named effects, configurations, the verdict and what would settle it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.distributions import student_quantile
from bot.analysis.exhausted import exhausted, held_by_all_that_moved
from bot.analysis.pairs import PRIOR_PAIRS
from bot.analysis.reading import ONE_SIDED, TOP, Reading
from bot.analysis.settling import doubts, none_bound
from bot.analysis.single_effect import SingleEffect
from bot.analysis.terms import credible
from bot.analysis.visible import visible
from bot.analysis.watch import Watch
from bot.model.report import ConfigurationChange, Effect, State, Verdict, Visible
from bot.model.space import Configuration, Space, Term

ALIAS = 0.05
"""Another candidate of the credible set with at least this share is told as an alias."""
ALIASES = 12
"""Aliases told at most."""
UNEQUAL = 1.5
"""Shares that differ by this factor are worth a word."""
WILD, FEWEST_KNOWN = 0.99, 20
"""Of all pairs that have others beside them, so many at least, a single pair may be as far off as this share
of them: whoever reads of it does so because it stands out."""


@dataclass(frozen=True)
class Judgement:
    """The estimator's part of a report; `options`: significant and relevant effects, most probable first.

    suspected: of an inconclusive run, whom its pairs point at without a proof.
    """

    verdict: Verdict
    effects: tuple[Effect, ...]
    options: tuple[Effect, ...]
    configurations: tuple[ConfigurationChange, ...]
    visible: Visible
    notes: tuple[str, ...]
    suspected: tuple[Effect, ...] = ()


def judgement(
    space: Space,
    configurations: Sequence[Configuration],
    readings: Sequence[Reading],
    *,
    possible: Callable[[Term], bool] | None,
) -> Judgement:
    """Puts the readings of all metrics (the primary one first) into words and numbers."""
    options: list[Effect] = []
    overall: list[Effect] = []
    changes: list[ConfigurationChange] = []
    notes: list[str] = []
    whole = exhausted(space, configurations, possible)
    for reading in readings:
        if reading.fit is None:
            notes.append(f"No pair gave a value of {reading.metric}: nothing is said of it.")
            continue
        named = [_effect(reading, effect) for effect in reading.named()]
        named += _of_all(space, configurations, reading, named, whole=whole)
        options += named
        overall += [] if any(e.term == () for e in named) else [_overall(reading)]
        notes += [*_unexplained(reading, named), *_amounts(reading)]
    for reading in readings:
        changes += _changes(space, configurations, reading)
    # Percents of probability are what a reader sees; of what is as sure, the larger change first.
    options.sort(key=lambda e: (-round(e.probability, 2), -abs(math.log(e.ratio or 1.0))))
    left = doubts(readings)
    verdict = _verdict(readings, settled=not left)
    suspected: list[Effect] = []
    if verdict == "inconclusive":
        notes += left
        found = [(reading, effect) for reading in readings for effect in reading.suspected()]
        suspected = [_effect(*one).model_copy(update={"significant": False}) for one in found]
    return Judgement(
        verdict=verdict,
        effects=(*overall, *options),
        options=tuple(options),
        configurations=tuple(changes),
        visible=_visible(space, configurations, readings, possible=possible),
        notes=tuple(notes),
        suspected=tuple(suspected),
    )


def _verdict(readings: Sequence[Reading], *, settled: bool) -> Verdict:
    harm = any(bool(r.alarms[0]) for r in readings)
    benefit = any(bool(r.alarms[1]) for r in readings)
    if harm or benefit:
        return "mixed" if harm and benefit else "regression" if harm else "improvement"
    return "none" if settled and any(r.fit is not None for r in readings) else "inconclusive"


def _ratios(
    reading: Reading, size: float, interval: tuple[float, float]
) -> tuple[float, tuple[float, float]]:
    """Harm in log ratios back to head / base."""
    low, high = sorted(math.exp(reading.watch.sign * v) for v in interval)
    return math.exp(reading.watch.sign * size), (low, high)


def _effect(reading: Reading, effect: SingleEffect) -> Effect:
    """A named effect; its aliases: equivalent terms, then what sample or evidence cannot tell apart."""
    assert reading.fit is not None
    found = reading.found
    told = found.told(effect.top)
    inclusion = float(reading.fit.inclusion()[effect.top])
    others = [(term, part * effect.posterior[effect.top]) for term, part in told.alike]
    rivals = [i for i in credible(effect.posterior) if i != effect.top and found.kinds[i] != "configuration"]
    others += [(found.terms[i], float(effect.posterior[i])) for i in rivals]
    others = sorted((o for o in others if o[1] >= ALIAS), key=lambda o: -o[1])
    ratio, interval = _ratios(reading, *reading.seen(effect))
    spared = reading.spared(effect)
    opposite = {_opposite(one) for one in spared} if told.term == () and len(spared) == 1 else set()
    aliases = [*told.same, *(term for term, _ in others)]
    return Effect(
        metric=reading.metric,
        term=told.term,
        aliases=tuple(term for term in aliases if term not in opposite)[:ALIASES],
        ratio=ratio,
        interval=interval,
        probability=min(inclusion * told.share, 1.0),
        prior=_before(reading, told.share * float(found.prior[effect.top])),
        significant=True,
        relevant=True,
        spared=tuple(spared),
    )


def _opposite(term: Term) -> Term:
    """All but a switch's one position is its other one."""
    return tuple(level[1:] if level.startswith("!") else f"!{level}" for level in term if len(term) == 1)


def _overall(reading: Reading) -> Effect:
    """The mean over all measured configurations, when the change is not in everything alike."""
    assert reading.fit is not None
    # Configurations that were added because of what was seen are none of an even sample.
    seen = np.isfinite(reading.variance) & reading.watch.sampled
    n = int(seen.sum())
    size = float(reading.location[seen].mean())
    error = float(np.sqrt(reading.variance[seen].sum()) / n)
    half = float(student_quantile(ONE_SIDED, max(reading.watch.pairs / 3.0, 1.0))) * error
    ratio, interval = _ratios(reading, size, (size - half, size + half))
    return Effect(
        metric=reading.metric,
        term=(),
        ratio=ratio,
        interval=interval,
        probability=float(reading.fit.inclusion()[0]),
        prior=_before(reading, float(reading.found.prior[0])),
        significant=False,
        relevant=abs(size) > reading.watch.margin,
    )


def _before(reading: Reading, mass: float) -> float | None:
    """Probability before this run that a pull request changes a term: rate of changes x prior mass."""
    return None if reading.watch.rate is None else min(reading.watch.rate * mass, 1.0)


def _explained(reading: Reading, named: Sequence[Effect], direction: int) -> bool:
    """Whether harm (0) or benefit (1) has a name, or did not alarm."""
    harm = 1 if direction == 0 else -1
    found = any(math.log(e.ratio) * reading.watch.sign * harm > 0 for e in named)
    return found or not reading.alarms[direction]


def _of_all(
    space: Space,
    configurations: Sequence[Configuration],
    reading: Reading,
    named: Sequence[Effect],
    *,
    whole: bool,
) -> list[Effect]:
    """Where all valid configurations were measured: names of what has none, by who moved."""
    left = [direction for direction in (0, 1) if whole and not _explained(reading, named, direction)]
    found = (held_by_all_that_moved(space, configurations, reading, direction) for direction in left)
    return [effect for effect in found if effect is not None]


def _unexplained(reading: Reading, named: Sequence[Effect]) -> list[str]:
    """Alarms without a name, and who is closest."""
    assert reading.fit is not None
    notes = []
    for direction, word in enumerate(("worse", "better")):
        harm = 1 if direction == 0 else -1
        if _explained(reading, named, direction):
            continue
        leads = [e for e in reading.fit.effects if e.size * harm > 0 and e.presence > TOP][:1]
        closest = [reading.found.terms[i] for e in leads for i in credible(e.posterior)[:3]]
        told = ", ".join("+".join(term) or "everything" for term in closest if len(term) <= 2)
        ending = f"; closest: {told}" if told else ""
        notes.append(
            f"{reading.metric} got {word} beyond chance, "
            f"but this sample does not single out an option{ending}."
        )
    return notes


def _amounts(reading: Reading) -> list[str]:
    """Named effects that are the same amount, and so quite another share, in each configuration."""
    notes = []
    for effect in reading.named():
        shares = np.sort(np.abs(np.expm1(effect.each[reading.shows(effect)])))
        if effect.fixed and len(shares) and shares[-1] > UNEQUAL * shares[0]:
            term = "+".join(reading.found.told(effect.top).term) or "everything"
            low, high = (f"{100 * np.sign(effect.own) * share:+.0f} %" for share in (shares[0], shares[-1]))
            notes.append(
                f"{reading.metric} of {term} changed by about the same amount in all its configurations: "
                f"by {low} to {high} of what base takes there."
            )
    return notes


def _changes(
    space: Space, configurations: Sequence[Configuration], reading: Reading
) -> list[ConfigurationChange]:
    """Each configuration's own change, with a 90 % interval (Student's t with the pairs behind its scale).

    Of a single pair nothing tells whether it was disturbed: it may have been as much as any other.
    """
    margin = reading.watch.margin
    limit = none_bound(margin)
    counts = reading.watch.log.counts
    alone = _wild(reading.watch) * reading.watch.scale * (counts == 1)
    quantile = student_quantile(0.95, np.maximum(counts + PRIOR_PAIRS - 1.0, 1.0))
    found = []
    for i, configuration in enumerate(configurations):
        pairs = int(counts[i])
        ratio = interval = None
        state: State = "unclear"
        if pairs:
            size = float(reading.location[i])
            half = max(float(quantile[i] * math.sqrt(reading.variance[i])), float(alone[i]))
            ratio, interval = _ratios(reading, size, (size - half, size + half))
            state = _state(size - half, size + half, margin=margin, limit=limit, alarms=reading.alarms)
        found.append(
            ConfigurationChange(
                options=space.as_dict(configuration),
                metric=reading.metric,
                ratio=ratio,
                interval=interval,
                pairs=pairs,
                state=state,
            )
        )
    return found


def _wild(watch: Watch) -> float:
    """Scales that pairs with others beside them lie from these at most, but for a few; 0: unknown."""
    values, counts = watch.log.values, watch.log.counts
    several = counts > 1
    if counts[several].sum() < FEWEST_KNOWN:
        return 0.0
    place, _ = watch.summary()
    away = np.abs(values - place[:, None])[several] / watch.scale[several, None]
    return float(np.nanquantile(away, WILD))


def _state(low: float, high: float, *, margin: float, limit: float, alarms: NDArray[np.bool_]) -> State:
    """Slower and faster only after an alarm of that direction: the error rate is the pull request's."""
    if alarms[0] and low > margin:
        return "slower"
    if alarms[1] and high < -margin:
        return "faster"
    return "same" if low > -limit and high < limit and low < margin and high > -margin else "unclear"


def _visible(
    space: Space,
    configurations: Sequence[Configuration],
    readings: Sequence[Reading],
    *,
    possible: Callable[[Term], bool] | None,
) -> Visible:
    """What the primary metric could have seen."""
    if not readings or readings[0].fit is None:
        return Visible()
    watch = readings[0].watch

    return visible(
        space,
        configurations,
        watch.log.counts > 0,
        found=watch.found,
        smallest=watch.smallest_visible,
        possible=possible,
    )
