"""Which resources carry a change: counts of flagged configurations; nothing here turns a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bot.analysis.resources.naming import CERTAINTY, Named, named
from bot.analysis.resources.unit_costs import UnitCosts
from bot.flows.methods.choice import Flagged, choose
from bot.flows.ports import Bench
from bot.flows.resources.counting import ResourceCounting, Runs
from bot.flows.resources.findings import Measured, Resources, counted, suspects
from bot.flows.run.free_counts import FreeCounts
from bot.flows.run.job import Job
from bot.model.resources import SOURCE_OF, Source
from bot.model.space import Configuration
from bot.model.trials import Side

RESOURCES_SHARE, MOST_SECONDS = 0.2, 60.0
"""Of the budget, at most, goes into counted trials; and never more than so many seconds."""
SIDES: tuple[Side, ...] = ("base", "head")
LEAST_SECONDS = 1.0
"""Less than this is not worth beginning."""


def counting_seconds(job: Job) -> float:
    """Seconds that counted trials may take."""
    return min(RESOURCES_SHARE * job.budget, MOST_SECONDS) if job.open_resources is not None else 0.0


@dataclass
class ResourceInquiry:
    """Counts what was flagged, until `until` seconds on the bench's clock."""

    job: Job
    bench: Bench
    flagged: Flagged
    free: FreeCounts
    until: float

    @cached_property
    def _costs(self) -> UnitCosts:
        return self.job.costs()

    def run(self) -> Resources:
        """Features of each flagged configuration; else counts that moved although no time did."""
        chosen, _ = choose(self.job.subject.space, self.flagged)
        if not chosen:
            return self._untimed()
        counting = None
        if self.job.open_resources is not None:
            self.job.progress.stage("counting what changed configurations ask of the machine")
            counting = ResourceCounting(self.job.open_resources(), self.bench.elapsed, self.until)
        measured = [self._counted(self._affordable(one, counting), counting) for one in chosen]
        found = [one for one in measured if one.named.counts]
        return Resources(
            tuple(suspect for one in found for suspect in suspects(one)),
            tuple(counted(one) for one in found),
            (*(counting.notes.told if counting else ()), *(_told(self._costs) if found else ())),
        )

    def _affordable(self, wanted: Configuration, counting: ResourceCounting | None) -> Configuration:
        """The wanted one, or the quickest in which the same suspects hold when that takes too long."""
        seconds = self.flagged.seconds
        if counting is None or counting.affordable(seconds[wanted]):
            return wanted
        changes = self.flagged.changes
        alike = [
            one
            for one, change in changes.items()
            if change.state == changes[wanted].state
            and seconds.get(one)
            and self._terms(one) == self._terms(wanted)
        ]
        return min(alike, key=lambda one: seconds[one], default=wanted)

    def _terms(self, configuration: Configuration) -> list[tuple[str, ...]]:
        space = self.job.subject.space
        return [s.term for s in self.flagged.suspects if space.carries(s.term, configuration)]

    def _counted(self, configuration: Configuration, counting: ResourceCounting | None) -> Measured:
        seconds = self.flagged.seconds[configuration]
        change = seconds * ((self.flagged.changes[configuration].ratio or 1.0) - 1.0)
        runs = Runs(configuration)
        if counting is not None and counting.left >= LEAST_SECONDS:
            counting.count(runs, seconds, lambda source: self._doubtful(runs, change, source))
        terms = self._terms(configuration)
        return self._measured(runs, self._named(runs, change), change=change, term=terms[0] if terms else ())

    def _named(self, runs: Runs, change: float, certainty: float = CERTAINTY) -> Named:
        base, head = ([*self.free.counts(runs.configuration, side), *runs.counts(side)] for side in SIDES)
        return named(
            base, head, costs=self._costs.seconds, change=change, start_up=runs.start_up, certainty=certainty
        )

    def _doubtful(self, runs: Runs, change: float, source: Source) -> bool:
        return any(
            one.doubtful and SOURCE_OF[one.count] == source for one in self._named(runs, change).counts
        )

    def _untimed(self) -> Resources:
        """The configuration nearest to the default whose counts moved, of those whose time did not."""
        calm = [c for c, change in self.flagged.changes.items() if change.state == "same"]
        for configuration in calm:
            runs = Runs(configuration)
            found = self._named(runs, 0.0, CERTAINTY / len(calm))
            if found.features:
                return Resources(counted=(counted(self._measured(runs, found, change=None, term=())),))
        return Resources()

    def _measured(self, runs: Runs, found: Named, *, change: float | None, term: tuple[str, ...]) -> Measured:
        return Measured(
            options=self.job.subject.space.as_dict(runs.configuration),
            named=found,
            runs=runs,
            volumes={side: self.free.volumes(runs.configuration, side) for side in SIDES},
            change=change,
            term=term,
        )


def _told(costs: UnitCosts) -> list[str]:
    """Where the costs are from; that they are typical ones needs no word."""
    if costs.error is None or costs.fitted is None:
        return []
    return [
        f"What events cost was fitted on this kind of machine on {costs.fitted:%Y-%m-%d}"
        f" (mean error {costs.error:.0%})."
    ]
