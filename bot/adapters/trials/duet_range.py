"""Runs trials at the revisions of a range: each beside an anchor revision's, or alone if counts are exact."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from bot.adapters.builds.range_workshop import RangeWorkshop
from bot.adapters.trials.bench import PairBench
from bot.model.change_points import Observation, Probe
from bot.model.noise import Noise
from bot.model.report import Environment, Spent
from bot.model.revisions import Revision
from bot.model.space import Configuration
from bot.model.trials import Pair, Side, Track, Wish

TRIALS = 2
"""Trials of a pair: the anchor's count, too."""
WAITING = 0.8
"""A program whose CPU time is below this share of its wall time waits."""
DETAIL = 100
"""Characters of a failure's beginning and of its end that are told."""


class DuetRange:
    """Fits the port RevisionBench: a value is the revision's metric / the anchor's, of one pair.

    The pair sees one machine, so values are comparable however far apart they were measured. The anchor
    itself is measured beside itself: its values show the noise. anchor: its place in `revisions`.
    budget: wall seconds from the first trial.
    """

    def __init__(
        self,
        pairs: PairBench,
        workshop: RangeWorkshop,
        revisions: Sequence[Revision],
        *,
        anchor: int,
        rng: np.random.Generator,
        budget: float,
    ) -> None:
        self._pairs, self._workshop, self._revisions, self._anchor = pairs, workshop, revisions, anchor
        self._rng, self._budget, self._most = rng, budget, math.inf
        self._metric, self._track, self._alone = "cpu", track_of("cpu"), False
        self._trials = self._ok = self._failed = 0
        self._under_way = 0
        self._controls: list[float] = []
        self._examples: dict[bool, str] = {}

    def compare(self, metric: str, *, alone: bool = False) -> None:
        """Chooses what values are: a name of `Trial.metrics`; CPU seconds at first.

        alone: they are not compared with the anchor's, and are no ratios; only for exact counts.
        """
        self._metric, self._track, self._alone = metric, track_of(metric), alone

    def limit(self, trials: int) -> None:
        """So many may be run in all."""
        self._most = trials

    def waits(self, configuration: Configuration) -> bool:
        """Whether the program waits for most of its time, from one pair of the anchor with itself."""
        for pair in self._pairs.measure(iter([self._wish(Probe(configuration, self._anchor))])):
            self._count(pair)
            if pair.ok and pair.alone is not None:
                return all(busy < WAITING * wall for busy, wall in pair.alone.values())
        return False

    def measure(self, probes: Sequence[Probe]) -> Iterator[Observation]:
        """Observations in order of completion; what is to be built next is built meanwhile."""
        queue = deque(probes[i] for i in self._rng.permutation(len(probes)))
        self._workshop.want([probe.revision for probe in queue])
        unbuilt: deque[Observation] = deque()
        for pair in self._pairs.measure(self._wishes(queue, unbuilt)):
            self._under_way -= 1
            while unbuilt:
                yield unbuilt.popleft()
            if not pair.cut:
                self._count(pair)
                yield self._observation(pair)
        yield from unbuilt

    def elapsed(self) -> float:
        """Wall seconds since the first trial began."""
        return self._pairs.elapsed()

    def stopped(self) -> bool:
        """Whether a signal asked the run to end."""
        return self._pairs.stopped()

    def spent(self) -> Spent:
        """Seconds, trials (two a pair), and builds with the sum of their seconds."""
        return Spent(
            seconds=self.elapsed(),
            build_seconds=self._workshop.seconds,
            trials=self._trials,
            pairs=self._ok,
            builds=self._workshop.builds,
            failed_trials=self._failed,
        )

    def notes(self) -> Sequence[str]:
        """What was built, compared and isolated how; what failed: one at the anchor and one elsewhere."""
        anchor = self._revisions[self._anchor].label
        said = f"Each trial ran beside one of {anchor} on the same core: values are ratios to {anchor}."
        if self._track == "wall":
            said = f"Each trial ran in turn with one of {anchor}: values are ratios to {anchor}."
        if self._alone:
            varies = "but for some 1 % where threads or a garbage collector run, as in Go, Java and Node"
            said = (
                f"Instructions were counted, which are the same at any time ({varies}): each trial ran alone."
            )
        return (said, *self._workshop.notes(), *self._pairs.notes(), *self._examples.values())

    def environment(self) -> Environment:
        """The machine, and the noise of the anchor beside itself."""
        noise = Noise.of_pairs(self._metric, self._controls)
        return self._pairs.environment().model_copy(update={"noise": (noise,)})

    def _wishes(self, queue: deque[Probe], unbuilt: deque[Observation]) -> Iterator[Wish | None]:
        """The pairs of what is built, as it is built; probes of what cannot be built are answered at once."""
        if self._track == "wall":  # it means something only while nothing else runs: all is built first
            while not self._over() and any(self._building(probe) for probe in queue):
                self._workshop.wait()
        while queue and not self._over():
            probe = next((probe for probe in queue if not self._building(probe)), None)
            if probe is None:
                if self._under_way:
                    yield None
                else:
                    self._workshop.wait()
                continue
            queue.remove(probe)
            match self._workshop.state(probe.revision):
                case "failed":
                    unbuilt.append(Observation(probe, math.nan, built=False))
                case "built" if self._trials + self._each * (self._under_way + 1) <= self._most:
                    self._under_way += 1
                    yield self._wish(probe)

    @property
    def _each(self) -> int:
        """Trials that a value takes."""
        return 1 if self._alone else TRIALS

    def _building(self, probe: Probe) -> bool:
        return self._workshop.state(probe.revision) == "building"

    def _wish(self, probe: Probe) -> Wish:
        if self._alone:
            return Wish(probe.configuration, ("head", "head"), self._track, probe.revision, single=True)
        beside: Side = "base" if self._workshop.same(probe.revision, self._anchor) else "head"
        return Wish(probe.configuration, ("base", beside), self._track, probe.revision)

    def _over(self) -> bool:
        return self.stopped() or self.elapsed() >= self._budget

    def _count(self, pair: Pair) -> None:
        trials = (pair.first, pair.second)[: self._each]
        self._trials += sum(trial.repetitions > 0 for trial in trials)
        self._ok += pair.ok
        self._failed += sum(not trial.ok for trial in trials)

    def _observation(self, pair: Pair) -> Observation:
        assert pair.wish.revision is not None
        probe = Probe(pair.wish.configuration, pair.wish.revision)
        anchor, revision = (t.metrics.get(self._metric, math.nan) for t in (pair.first, pair.second))
        if pair.ok and anchor > 0 and revision > 0:
            if self._alone:
                return Observation(probe, revision)
            if pair.wish.control:
                self._controls.append(math.log(revision / anchor))
            return Observation(probe, revision / anchor, anchor=anchor)
        at_anchor, said = self._example(pair)
        self._examples.setdefault(at_anchor, said)
        return Observation(probe, math.nan, anchor=anchor if pair.first.ok and anchor > 0 else 0.0)

    def _example(self, pair: Pair) -> tuple[bool, str]:
        """Whether the anchor itself failed, and one sentence on a failed pair."""
        assert pair.wish.revision is not None
        places = (pair.wish.revision if self._alone else self._anchor, pair.wish.revision)
        for place, trial in zip(places, (pair.first, pair.second), strict=True):
            if not trial.ok:
                said = " ".join(trial.reason.split())
                if len(said) > 2 * DETAIL:  # how it ended, and a program's last words: there the error stands
                    said = f"{said[:DETAIL]} ... {said[-DETAIL:]}"
                label = self._revisions[place].label
                return place == self._anchor, f"An example of a failed trial, at {label}: {said}"
        codes = f"{pair.first.exit_code} and {pair.second.exit_code}"
        return False, f"An example of a pair without a value: exit codes {codes}, metric {self._metric}."


def track_of(metric: str) -> Track:
    """How a metric is measured: what a partner on the same core would distort is measured alone."""
    if metric == "instructions":
        return "instructions"
    return "duet" if metric in ("cpu", "max_rss") else "wall"
