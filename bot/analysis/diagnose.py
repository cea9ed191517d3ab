"""Where the analyses meet: pairs in, alarm, names, intervals and a verdict out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import PAIR_COVER, Candidates, Equivalent, candidates
from bot.analysis.distributions import normal_quantile
from bot.analysis.exhausted import exhausted
from bot.analysis.experience import Expected, Experience
from bot.analysis.judgement import Judgement, judgement
from bot.analysis.leader import Rule, leader
from bot.analysis.pairs import Floats
from bot.analysis.reading import ONE_SIDED, Reading
from bot.analysis.recorded import Recorded
from bot.analysis.telling_apart import Doubt, unnamed
from bot.analysis.terms import single_effects
from bot.analysis.triples import with_triples
from bot.analysis.turns import first_turn, next_turn
from bot.analysis.watch import Watch
from bot.model.space import Configuration, Space, Term

__all__ = ["Judgement", "PairedEstimator", "Rule"]

SCREENED = 60
"""Levels that are paired after an alarm when there are too many to pair beforehand."""
NAMED_WELL = 0.95
"""A name with this probability is not worth more minutes."""
NARROW = 0.2
"""Nor is a size whose 90 % interval is this share of it to either side."""
NOISE_SHARE = 0.25
"""Nor where pairs cause only this share of the interval, the rest being how much configurations differ."""
LEAST_OF_ALL = 2
"""Configurations that hold a pair of levels, at least, where these are a table's, or all that are valid."""
LEAST_ROUNDS = 6
"""Nothing is named early on fewer pairs per configuration: the scales must be known."""
PATIENCE = 1.25
"""After an alarm the naming is repeated when pairs have grown by this factor."""


Suspicious: TypeAlias = Callable[[NDArray[np.bool_]], NDArray[np.intp]]
_UNKNOWN: Mapping[str, Any] = MappingProxyType({})


class PairedEstimator:
    """Decides, from paired measurements, what a change made slower or faster and in which term.

    space: options. configurations: the sample; the first is the default. rules: metrics, primary first.
    false_alarms: error rate over all metrics and both directions, at whatever time one looks. equivalent:
    whether two terms hold in the same valid configurations. possible: whether any of those holds a term.
    experience: what history lets expect; it may be wrong. recorded: that values are a table's, and noisy.

    Learned: `active_`, `alarmed_`, `decided_`, `leader_` (cheap; brought up to date about once a round).
    See docs/how-it-decides.md.
    """

    def __init__(  # noqa: PLR0913  (all by keyword)
        self,
        *,
        space: Space,
        configurations: Sequence[Configuration],
        rules: Sequence[Rule],
        false_alarms: float,
        equivalent: Equivalent,
        rng: np.random.Generator,
        possible: Callable[[Term], bool] | None = None,
        experience: Experience | None = None,
        recorded: Recorded | None = None,
    ) -> None:
        self.space, self.configurations, self.rules = space, tuple(configurations), tuple(rules)
        self.false_alarms, self.rng = false_alarms, rng
        self.equivalent, self.possible = _cached(equivalent), possible
        self._recorded, self._whole = recorded, exhausted(space, self.configurations, possible)
        alpha = false_alarms / (2 * max(len(rules), 1))
        self.active_: tuple[int, ...] = tuple(range(len(self.configurations)))
        self.alarmed_ = False
        self.decided_ = False
        self.leader_ = ""
        self._next_naming = 0
        self._waiting = 0
        self._turn = first_turn(len(self.configurations))
        self._watches: dict[str, Watch] = {}
        self._expected = dict(experience.metrics) if experience is not None else {}
        if self.configurations:
            found = self._candidates()
            for rule in rules:
                self._watches[rule.name] = self._watch(found, rule, alpha)

    def _watch(self, found: Candidates, rule: Rule, alpha: float) -> Watch:
        """A metric's pairs, with what history says of it."""
        expected = self._expected.get(rule.name, Expected())
        return Watch(
            expected.informed(found, self.space),
            margin=math.log1p(rule.threshold),
            sign=1.0 if rule.better == "lower" else -1.0,
            alpha=alpha,
            pattern=expected.pattern(self.configurations),
            rate=expected.rate if rule.name in self._expected else None,
            hoped=expected.hoped(found, self.space),
            sizes=expected.sizes(found),
            recorded=self._record(),
        )

    def _record(self) -> tuple[Recorded, NDArray[np.int64]] | None:
        """What a table is known to be worth: how many pairs of each configuration."""
        if self._recorded is None:
            return None
        most = [self._recorded.most.get(c, 0) for c in self.configurations]
        return self._recorded, np.array(most, dtype=np.int64)

    def partial_fit(
        self, configuration: int, log_ratios: Mapping[str, float], base: Mapping[str, float] = _UNKNOWN
    ) -> Self:
        """Takes one pair: its configuration's index, log(head / base) per metric (missing or NaN: none).

        base: what base took, per metric; without it an effect is the same share in every configuration.
        """
        told = False
        for name, watch in self._watches.items():
            value = log_ratios.get(name, math.nan)
            if math.isfinite(value):
                watch.add(configuration, value, base.get(name, math.nan))
                told = True
        self._waiting += told
        if self._waiting >= self._turn.batch:
            self._update()
        return self

    def partial_fit_all(
        self,
        configurations: NDArray[np.int64],
        log_ratios: Mapping[str, Floats],
        base: Mapping[str, Floats] = _UNKNOWN,
    ) -> Self:
        """Takes a batch of pairs that were measured elsewhere, (n_pairs,) each, as `partial_fit` takes one.

        Bets on all of them are made at the scales known before the batch.
        """
        for name, values in log_ratios.items():
            self._watches[name].add_all(configurations, values, base.get(name))
        self._update(naming=False)
        return self

    def extend(self, configurations: Sequence[Configuration]) -> Self:
        """Further configurations, last in the list; they help to name a change, and prove none."""
        self.configurations += tuple(configurations)
        for name, watch in self._watches.items():
            watch.extend(self._expected.get(name, Expected()).pattern(configurations))
        return self

    def doubt(self) -> Doubt | None:
        """Who may carry a certain change that has no sure name; None: there is none that surely shows."""
        self._update(naming=False)
        for rule in self.rules:
            if rule.name in self._watches and self._watches[rule.name].alarms.any():
                found = unnamed(self.space, self.configurations, self._read(rule))
                if found is not None:
                    return found
        return None

    def judge(self) -> Judgement:
        """The verdict on the pairs so far; may be asked for at any time."""
        self._look(Watch.look)
        self._update(naming=False)
        readings = [self._read(rule) for rule in self.rules if rule.name in self._watches]
        return judgement(self.space, self.configurations, readings, possible=self.possible)

    def look(self, turn: int) -> Self:
        """Looks at the pairs before the end, so that `alarmed_` may come sooner; what is measured next stays.

        turn: a place of `EARLY`; each is worth something once.
        """
        self._look(lambda watch, found: watch.look_early(found, turn))
        self.alarmed_ = any(bool(watch.alarms.any()) for watch in self._watches.values())
        return self

    def _look(self, look: Callable[[Watch, Candidates], None]) -> None:
        for watch in self._watches.values():
            watch.weigh()
            if watch.pairs:
                look(watch, with_triples(watch.found, self.space, self.configurations, *watch.summary()))

    def _read(self, rule: Rule) -> Reading:
        """What one metric's pairs say now."""
        watch = self._watches[rule.name]
        if not watch.pairs:
            n = len(self.configurations)
            return Reading(
                rule.name, watch, watch.found, None, np.zeros(n), np.full(n, np.inf), np.zeros(2, dtype=bool)
            )
        location, variance = watch.summary()
        alarms = watch.alarms
        found, sizes = watch.found, watch.sizes
        if alarms.any():
            expected = self._expected.get(rule.name, Expected())
            if not watch.sampled.all():  # some were added
                found = expected.informed(self._candidates(), self.space)
            found = self._paired(location, variance, expected) if found.screened else found
            found = with_triples(found, self.space, self.configurations, location, variance)
            sizes = expected.sizes(found)
        fit = single_effects(
            found, location, variance, costs=watch.costs, expected=sizes, guess=bool(alarms.any())
        )
        return Reading(rule.name, watch, found, fit, location, variance, alarms)

    def _paired(self, location: Floats, variance: Floats, expected: Expected) -> Candidates:
        """After an alarm, pairs of the most suspicious levels join when all pairs were too many."""
        weight = np.where(np.isfinite(variance), 1.0 / variance, 0.0)

        def suspicious(covers: NDArray[np.bool_]) -> NDArray[np.intp]:
            total = covers @ weight
            score = np.abs(covers @ (weight * location)) / np.sqrt(np.maximum(total, 1e-12))
            return np.sort(np.argsort(-score, kind="stable")[:SCREENED])

        return expected.informed(self._candidates(suspicious), self.space)

    def _candidates(self, suspicious: Suspicious | None = None) -> Candidates:
        """Who may carry a change; where all valid ones were measured, two configurations are no quirk."""
        few = self._recorded is not None or self._whole
        return candidates(
            self.space,
            self.configurations,
            self.equivalent,
            suspicious=suspicious,
            fewest=LEAST_OF_ALL if few else PAIR_COVER,
        )

    def _update(self, *, naming: bool = True) -> None:
        """Brings the learned attributes up to date."""
        watches = [watch for watch in self._watches.values() if watch.pairs]
        if not watches:
            return
        self._waiting = 0
        for watch in watches:
            watch.weigh()
        if self._recorded is not None:  # all of a table is read
            return
        still = np.zeros(len(self.configurations), dtype=bool)
        for watch in watches:
            still |= watch.bettor.open
        self.alarmed_ = any(bool(watch.alarms.any()) for watch in watches)
        self.leader_ = leader(self.rules, self._watches)
        counts = np.max([watch.log.counts for watch in watches], axis=0)
        self._turn = next_turn(still, watches, int(counts.sum()), after=self._turn)
        self.active_ = tuple(np.flatnonzero(self._turn.rows).tolist())
        # A configuration that never succeeds must not keep the others waiting.
        self.decided_ = not np.any(still & (counts > 0))
        if self.alarmed_ and naming and not self.decided_ and counts.sum() >= self._next_naming:
            self._next_naming = int(counts.sum() * PATIENCE)
            rounds = counts.sum() / len(self.configurations)
            self.decided_ = bool(rounds >= LEAST_ROUNDS) and all(self._settled(rule) for rule in self.rules)

    def _settled(self, rule: Rule) -> bool:
        """Whether more pairs would hardly change what is named: sure, narrow, and nothing large is left."""
        watch = self._watches[rule.name]
        if not watch.alarms.any():
            return not np.any(watch.bettor.open & (watch.log.counts > 0))
        reading = self._read(rule)
        named = reading.named()
        if not named or any(e.presence * e.posterior[e.top] < NAMED_WELL for e in named):
            return False
        noise = normal_quantile(ONE_SIDED) * reading.noise()
        for effect in named:
            half = (effect.interval[1] - effect.interval[0]) / 2
            if max(NARROW * abs(effect.size), watch.margin / 2) < half < noise[effect.top] / NOISE_SHARE:
                return False
        return reading.little_left(named)


def _cached(equivalent: Equivalent) -> Equivalent:
    """Asks a solver each question once."""
    known: dict[tuple[Term, Term], bool] = {}

    def answer(first: Term, second: Term) -> bool:
        key = (first, second) if first <= second else (second, first)
        if key not in known:
            known[key] = equivalent(*key)
        return known[key]

    return answer
