"""Counts that every pair brings with it: what the kernel's own accounting said of its trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bot.model.resources import Count
from bot.model.space import Configuration
from bot.model.trials import Pair, Side, Trial

COUNTS: Mapping[Count, tuple[str, ...]] = {
    "page_faults": ("minor_faults", "major_faults"),
    "waits": ("voluntary_switches",),
    "blocks": ("blocks",),
}
"""A trial's metrics that make up a count."""
VOLUMES = ("max_rss", "read_bytes", "written_bytes")


@dataclass
class FreeCounts:
    """Trials by configuration and side, as pairs and controls come in."""

    _trials: defaultdict[tuple[Configuration, Side], list[Trial]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def observe(self, pair: Pair) -> None:
        """Takes a pair that ended well."""
        for side, trial in zip(pair.wish.sides, (pair.first, pair.second), strict=True):
            self._trials[pair.wish.configuration, side].append(trial)

    def counts(self, configuration: Configuration, side: Side) -> list[dict[Count, float]]:
        """Of each trial, what its metrics tell."""
        return [_counts(trial) for trial in self._trials.get((configuration, side), ())]

    def volumes(self, configuration: Configuration, side: Side) -> dict[str, float]:
        """Medians over the trials, in bytes."""
        trials = self._trials.get((configuration, side), ())
        values = {name: [t.metrics[name] for t in trials if name in t.metrics] for name in VOLUMES}
        return {name: float(np.median(found)) for name, found in values.items() if found}


def _counts(trial: Trial) -> dict[Count, float]:
    known = trial.metrics
    return {
        count: sum(known[name] for name in names)
        for count, names in COUNTS.items()
        if all(name in known for name in names)
    }
