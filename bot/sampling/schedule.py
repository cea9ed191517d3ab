"""Which pair to run next: a first round that grows to what the budget holds, then shuffled rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

import numpy as np

from bot.model.at_fault import at_fault, held
from bot.model.report import LEAST_FAILED_PAIRS
from bot.model.space import Configuration, Value
from bot.model.trials import Pair, Track, Wish
from bot.sampling.probation import in_order

ROUNDS = 6
"""Pairs a configuration should get.

More configurations beat more repeats (they exercise more pairs), but a robust scale needs about six.
"""
FEW_ROUNDS = 3
"""The same for a budget that would hold fewer than `FEW` configurations at `ROUNDS`."""
FEW = 16
MOST = 96
"""Configurations at most: at 96, 98 % of the pairs of levels of 13 options are exercised often enough."""
BLIND = 8
"""Configurations started before the first pair tells what one costs."""
MORE_OF_DEFAULT = 2
"""Further pairs a round for the default configuration: most people run it, and the comment leads with it."""
CONTROL_EVERY = 12
"""One pair in so many is base against base: this run's own noise."""
FAILURES = 2
"""After so many failed pairs without a good one a configuration is given up (see `_undecided`)."""
PLAIN = 2
"""Configurations with little else than values that seem at fault, which are tried all the same. Arbitrary."""
HOPELESS = 16
"""Configurations that failed while none worked, after which no other is tried. Arbitrary."""
GREEDY = 4.0
"""A configuration may take this many times its fair share of the time before it sits out rounds."""


def room(pair_seconds: float, slots: int, budget: float, rounds: int = ROUNDS) -> int:
    """How many configurations a budget holds, each with a warm-up and the wanted number of rounds."""
    pairs = budget * slots / max(pair_seconds, 1e-9) * (1 - 1 / CONTROL_EVERY)
    few = int(pairs / (min(FEW_ROUNDS, rounds) + 1))
    return min(MOST, max(int(pairs / (rounds + 1)), min(FEW, few), 1))


def time_for_few(pair_seconds: float, slots: int) -> float:
    """Seconds of budget that `FEW` configurations take, each with a warm-up and `ROUNDS`."""
    return FEW * (ROUNDS + 1) * pair_seconds / slots / (1 - 1 / CONTROL_EVERY)


@dataclass
class _Record:
    """What a configuration has had so far."""

    pairs: int = 0
    failed: int = 0
    at_head: int = 0
    seconds: float = 0.0
    on_wall: int = 0


@dataclass
class Schedule:
    """Turns an ordered sample into wishes while the clock runs.

    sample: configurations, every prefix balanced (sampling.pull_request). slots: pairs that run at once.
    budget: seconds of measuring. clock: seconds since the first trial. primary: the track of ordinary pairs.
    rounds: pairs a configuration should get. controls: whether base is run beside itself. doubted: what is
    expected to fail, and the cause. served: what is measured for a wished configuration; or None. After the
    first round `settled` is true and `configurations` is final. What holds values with which several
    configurations failed and none worked is not begun.
    """

    sample: Sequence[Configuration]
    slots: int
    budget: float
    clock: Callable[[], float]
    rng: np.random.Generator
    primary: Track = "duet"
    active: Callable[[], Collection[Configuration] | None] = lambda: None
    finished: Callable[[], bool] = lambda: False
    second_track: bool = False
    rounds: int = ROUNDS
    controls: bool = True
    doubted: Mapping[Configuration, Hashable] = field(default_factory=dict)
    served: Callable[[Configuration], Configuration | None] = lambda _c: None
    settled: bool = False
    configurations: list[Configuration] = field(default_factory=list)
    _records: dict[Configuration, _Record] = field(default_factory=dict)
    _controls: int = 0
    _issued: int = 0
    _running: int = 0
    _broken: Sequence[Mapping[int, Value]] = ()

    def wishes(self) -> Iterator[Wish | None]:
        """Wishes until the budget is spent or `finished()`; None while there is nothing to start."""
        yield from self._first_round()
        while not self._over():
            turn = [c for c in self._round() if self._fits(c)]
            if not turn:
                if not self._running:
                    return
                yield None
            yield from self._in_turn(turn, self.primary)
            if self.second_track:
                yield from self._in_turn(self._share(turn), "wall")

    def observe(self, pair: Pair) -> None:
        """Learns a pair's cost and whether it failed."""
        self._running -= 1
        record = self._records.setdefault(pair.wish.configuration, _Record())
        if pair.cut or pair.wish.control:  # that base works beside itself says nothing of head
            return
        record.seconds += pair.seconds
        record.failed += not pair.ok
        record.at_head += _fails_at_head(pair)
        record.pairs += pair.ok
        if not pair.ok or record.pairs == 1:
            self._broken = at_fault(self._options(worked=False), self._options(worked=True))

    def extend(self, configurations: Sequence[Configuration]) -> None:
        """Adds configurations after the first round; the round under way ends, for they are waited for."""
        self.configurations += configurations
        self._records |= {c: _Record() for c in configurations}

    def _hopeless(self, configuration: Configuration) -> bool:
        return held(dict(enumerate(configuration)), self._broken)

    def _plainer(self, configuration: Configuration) -> Configuration | None:
        """Instead of one that holds values at fault: one of little else, not begun yet; None: no more.

        What fails with one value or another failed with whatever came along with both.
        """
        options = dict(enumerate(configuration))
        faults = [values for values in self._broken if held(options, [values])]
        changed = {number: value for values in faults[:1] for number, value in values.items()}
        alone = self.served(tuple(changed.get(n, value) for n, value in enumerate(self.sample[0])))
        alike = [c for c in self.sample[:MOST] if held(dict(enumerate(c)), faults[:1])]
        alike.sort(key=lambda c: sum(a != b for a, b in zip(c, self.sample[0], strict=True)))
        if alone is not None and held(dict(enumerate(alone)), faults[:1]):
            alike.insert(0, alone)
        return next((c for c in alike[:PLAIN] if c not in self.configurations), None)

    def _worked(self, configuration: Configuration) -> bool:
        return configuration in self._records and self._records[configuration].pairs > 0

    def _options(self, *, worked: bool) -> list[dict[int, Value]]:
        """The values of the configurations of which pairs ended well, or all failed."""
        return [
            dict(enumerate(c))
            for c, r in self._records.items()
            if r.pairs + r.failed and worked == bool(r.pairs)
        ]

    @property
    def pair_seconds(self) -> float | None:
        """Median cost of a pair over configurations, warm-ups included; None before the first."""
        costs = [r.seconds / (r.pairs + r.failed) for r in self._records.values() if r.pairs + r.failed]
        return float(np.median(costs)) if costs else None

    @property
    def _room(self) -> int:
        if self.pair_seconds is None:
            return BLIND
        return room(self.pair_seconds, self.slots, self.budget, self.rounds)

    def _first_round(self) -> Iterator[Wish | None]:
        for configuration in in_order(self.sample[:MOST], self.doubted, self._worked):
            while self.pair_seconds is None and len(self.configurations) >= BLIND and self._running:
                yield None
            failed = len(self._options(worked=False))
            if self._over() or len(self.configurations) - failed >= self._room:
                break
            if failed >= HOPELESS and not any(r.pairs for r in self._records.values()):
                break
            chosen = self._plainer(configuration) if self._hopeless(configuration) else configuration
            if chosen is None or chosen in self.configurations:
                continue
            self.configurations.append(chosen)
            yield from self._with_control(chosen, self.primary)
        while self._running and not self._over():
            yield None
        self.settled = True

    def _round(self) -> list[Configuration]:
        allowed = self.active()
        alive = [
            c
            for c in self.configurations
            if (allowed is None or c in allowed)
            and (self._records[c].pairs or self._records[c].failed < FAILURES)
        ]
        if not alive:
            return []
        fair = GREEDY * sum(r.seconds for r in self._records.values()) / len(self._records)
        patient = [c for c in alive if self._records[c].seconds <= fair] or alive
        if self.configurations[0] in alive and len(alive) >= FEW:
            patient += [self.configurations[0]] * MORE_OF_DEFAULT
        shuffled = [patient[i] for i in self.rng.permutation(len(patient))]
        return [*self._undecided(), *shuffled]

    def _undecided(self) -> list[Configuration]:
        """Where head alone fails, as often as is missing to tell it: many a run has no third round."""
        alone = {c: r for c, r in self._records.items() if not r.pairs and r.failed == r.at_head > 0}
        missing = LEAST_FAILED_PAIRS - sum(r.failed for r in alone.values())
        return list(islice(cycle(alone), max(missing, 0))) if alone else []

    def _in_turn(self, turn: Sequence[Configuration], track: Track) -> Iterator[Wish]:
        known = len(self.configurations)
        for configuration in turn:
            if self._over() or len(self.configurations) > known:
                return
            if self._fits(configuration):
                yield from self._with_control(configuration, track)

    def _share(self, turn: Sequence[Configuration]) -> list[Configuration]:
        """Those that have their wall-clock pair this round: alone on the machine, a pair takes all slots.

        In a block, because the machine must fall quiet before it; the least measured first.
        """
        fresh = sorted(dict.fromkeys(turn), key=lambda c: self._records[c].on_wall)
        chosen = fresh[: math.ceil(len(fresh) / self.slots)]
        for configuration in chosen:
            self._records[configuration].on_wall += 1
        return chosen

    def _with_control(self, configuration: Configuration, track: Track) -> Iterator[Wish]:
        yield self._wish(configuration, control=False, track=track)
        if self.controls and self._issued >= CONTROL_EVERY * self._controls + 1 and not self._over():
            self._controls += 1
            yield self._wish(configuration, control=True, track=track)

    def _wish(self, configuration: Configuration, *, control: bool, track: Track) -> Wish:
        self._records.setdefault(configuration, _Record())
        self._issued += 1
        self._running += 1
        return Wish(configuration, ("base", "base") if control else ("base", "head"), track)

    def _over(self) -> bool:
        return self.clock() >= self.budget or self.finished()

    def _fits(self, configuration: Configuration) -> bool:
        """Whether a pair started now should end in time; one that would be cut is not started."""
        record = self._records[configuration]
        done = record.pairs + record.failed
        cost = record.seconds / done if done else self.pair_seconds or 0.0
        return self.clock() + cost <= self.budget


def _fails_at_head(pair: Pair) -> bool:
    """Whether head failed, and base worked beside it."""
    ended = {side: trial.ok for side, trial in zip(pair.wish.sides, (pair.first, pair.second), strict=True)}
    return ended == {"base": True, "head": False}
