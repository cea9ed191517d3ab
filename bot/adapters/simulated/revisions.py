"""A range of revisions without a machine: trials from a function or a table, on a simulated clock."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bot.adapters.simulated.bench import FIRST_FAILURE_SECONDS, Source, cost, nothing_run
from bot.model.change_points import Observation, Probe
from bot.model.report import Environment, Spent


class SimulatedRange:
    """Fits the port RevisionBench: revision r of the range is revision `first` + r of the source.

    budget: simulated seconds; trials: how many; no trial starts once either is spent.
    """

    def __init__(
        self,
        source: Source,
        *,
        first: int,
        rng: np.random.Generator,
        budget: float = math.inf,
        trials: int | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._source, self._first, self._rng, self._stop = source, first, rng, stop
        self._budget, self._most = budget, math.inf if trials is None else trials
        self._clock = 0.0
        self._costs: list[float] = []
        self._failed = 0

    def measure(self, probes: Sequence[Probe]) -> Iterator[Observation]:
        """Observations in the order of their probes, until these, the budget or the trials end.

        Raises:
            UsageError: the callable raised, or returned something else than seconds.
        """
        for probe in probes:
            if self._stop() or self._clock >= self._budget or self._trials >= self._most:
                return
            revision = self._first + probe.revision
            both = (revision, revision)
            configuration = self._source.nearest(probe.configuration, both)
            value = next(self._source.draw(configuration, both, self._rng))
            yield Observation(Probe(configuration, probe.revision), self._paid(value))

    def elapsed(self) -> float:
        """Simulated seconds of all trials so far."""
        return self._clock

    def stopped(self) -> bool:
        """Whether the run was asked to end."""
        return self._stop()

    def spent(self) -> Spent:
        """Trials and simulated seconds."""
        return Spent(seconds=self._clock, trials=self._trials, failed_trials=self._failed)

    def notes(self) -> Sequence[str]:
        """Nothing was run."""
        return nothing_run(self._source)

    def environment(self) -> Environment:
        """No machine."""
        return Environment(cpu="simulated")

    @property
    def _trials(self) -> int:
        return len(self._costs) + self._failed

    def _paid(self, value: float) -> float:
        """The value, or NaN for a failed trial, which costs the median so far."""
        if 0.0 < value < math.inf:
            self._costs.append(cost(self._source, value))
            self._clock += self._costs[-1]
            return value
        self._failed += 1
        self._clock += statistics.median(self._costs) if self._costs else FIRST_FAILURE_SECONDS
        return math.nan
