"""What the pairs of a run amount to so far: the estimator's food, the controls, the failures."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bot.analysis.diagnose import PairedEstimator, Rule
from bot.analysis.telling_apart import Doubt
from bot.flows.run.free_counts import FreeCounts
from bot.model.noise import Noise
from bot.model.space import Configuration
from bot.model.trials import Pair, Side

_NUMBERS = re.compile(r"\d{4,}")
"""Of temporary files, processes, addresses: longer than exit codes."""


@dataclass
class Evidence:
    """Pairs in, log ratios to the estimator out; nothing is thrown away silently.

    wall_only: metrics that only the second, wall-clock track may speak for; empty when there is one track.
    The estimator needs the final list of configurations, so pairs wait until `start` is called.
    """

    rules: list[Rule]
    wall_only: frozenset[str]
    estimator: PairedEstimator | None = None
    pairs: int = 0
    trials: int = 0
    failed_trials: int = 0
    ok_pairs: Counter[Configuration] = field(default_factory=Counter)
    failed_pairs: Counter[Configuration] = field(default_factory=Counter)
    failures: dict[Configuration, str] = field(default_factory=dict)
    failed_sides: defaultdict[Configuration, set[Side]] = field(default_factory=lambda: defaultdict(set))
    controls: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    busy: list[float] = field(default_factory=list)
    of_base: defaultdict[Configuration, list[float]] = field(default_factory=lambda: defaultdict(list))
    free: FreeCounts = field(default_factory=FreeCounts)
    _index: dict[Configuration, int] = field(default_factory=dict)
    _waiting: list[tuple[Configuration, Mapping[str, float], Mapping[str, float]]] = field(
        default_factory=list
    )

    def start(self, configurations: Sequence[Configuration], make: Callable[[], PairedEstimator]) -> None:
        """Creates the estimator for the final sample and feeds it what came before."""
        self._index = {c: i for i, c in enumerate(configurations)}
        self.estimator = make()
        for waiting in self._waiting:
            self._feed(*waiting)
        self._waiting.clear()

    def extend(self, configurations: Sequence[Configuration]) -> None:
        """Further configurations, which are measured because of what was seen."""
        assert self.estimator is not None
        self._index |= {c: len(self._index) + i for i, c in enumerate(configurations)}
        self.estimator.extend(configurations)

    def doubt(self) -> Doubt | None:
        """Who may carry a certain change that has no sure name; None: there is none that surely shows."""
        return None if self.estimator is None else self.estimator.doubt()

    def observe(self, pair: Pair) -> None:
        """Takes one pair: a measurement, a control, or a counted failure."""
        if pair.cut:
            return
        self.trials += 2
        self.failed_trials += (not pair.first.ok) + (not pair.second.ok)
        configuration = pair.wish.configuration
        if pair.alone is not None:
            self.busy += [busy / wall for busy, wall in pair.alone.values() if wall > 0]
        if not pair.ok:
            trials = zip(pair.wish.sides, (pair.first, pair.second), strict=True)
            self.fail(configuration, {side for side, trial in trials if not trial.ok}, _failure(pair))
            return
        ratios = self._ratios(pair)
        if pair.wish.track == ("duet" if self.wall_only else "wall"):  # company changes how often one waits
            self.free.observe(pair)
        if pair.wish.control:
            for name, ratio in ratios.items():
                self.controls[name].append(ratio)
            return
        self.pairs += 1
        self.ok_pairs[configuration] += 1
        if (value := pair.first.metrics.get(self.rules[0].name)) is not None:
            self.of_base[configuration].append(value)
        if self.estimator is None:
            self._waiting.append((configuration, ratios, pair.first.metrics))
        else:
            self._feed(configuration, ratios, pair.first.metrics)

    def fail(self, configuration: Configuration, sides: set[Side], reason: str) -> None:
        """Counts a pair that failed; told is the first reason, unless a later one is of more sides."""
        known = self.failed_sides[configuration]
        if configuration not in self.failures or sides > known:  # a control fails without head
            self.failures[configuration] = reason
        self.failed_pairs[configuration] += 1
        known |= sides

    def noise(self) -> tuple[Noise, ...]:
        """This run's own noise per metric: robust standard deviation and bias of base against base, in %."""
        return tuple(Noise.of_pairs(rule.name, self.controls.get(rule.name, [])) for rule in self.rules)

    @property
    def configurations(self) -> list[Configuration]:
        """The final sample, the default configuration first."""
        return list(self._index)

    def base(self) -> dict[Configuration, float]:
        """Median of the primary metric at base, by configuration (CPU or wall seconds, mostly)."""
        return {c: float(np.median(values)) for c, values in self.of_base.items()}

    @property
    def alarmed(self) -> bool:
        """Whether a change is certain within the error rate, so that what carries it may be looked for."""
        return self.estimator is not None and self.estimator.alarmed_

    @property
    def decided(self) -> bool:
        """Whether nothing is left that more pairs could decide."""
        return self.estimator is not None and self.estimator.decided_

    def look(self, turn: int) -> None:
        """Looks at all pairs so far, so that `alarmed` may come sooner; each turn is worth something once."""
        if self.estimator is not None:
            self.estimator.look(turn)

    @property
    def leader(self) -> str:
        """The leading suspect in a few words, or nothing."""
        return "" if self.estimator is None else self.estimator.leader_

    def active(self) -> list[Configuration] | None:
        """Configurations still worth measuring; None (all) before the estimator began."""
        if self.estimator is None:
            return None
        order = self.configurations
        return [order[i] for i in self.estimator.active_]

    def waiting(self, share: float) -> bool:
        """Whether half of the warm-ups were busy for less than this share of their wall time."""
        return bool(self.busy) and float(np.median(self.busy)) < share

    def _feed(
        self, configuration: Configuration, ratios: Mapping[str, float], base: Mapping[str, float]
    ) -> None:
        assert self.estimator is not None
        if configuration in self._index:
            self.estimator.partial_fit(self._index[configuration], ratios, base)

    def _ratios(self, pair: Pair) -> dict[str, float]:
        """Raw log(head / base) of the metrics this pair's track may speak for."""
        alone = bool(self.wall_only) and pair.wish.track == "wall"
        names = [r.name for r in self.rules if (r.name in self.wall_only) == alone]
        return {n: pair.log_ratio(n) for n in names}


def _failure(pair: Pair) -> str:
    """One sentence on why a pair failed, naming the side."""
    said: dict[str, tuple[str, set[Side]]] = {}
    for side, trial in zip(pair.wish.sides, (pair.first, pair.second), strict=True):
        if not trial.ok:
            # One error, though each trial names a temporary file or process of its own.
            said.setdefault(_NUMBERS.sub("0", trial.reason), (trial.reason, set()))[1].add(side)
    if said:
        return "; ".join(f"{' and '.join(sorted(sides))}: {reason}" for reason, sides in said.values())
    return f"exit codes differ: base {pair.first.exit_code}, head {pair.second.exit_code}"
