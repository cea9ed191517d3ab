"""One night that several machines spent: every segment into the history once, and one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.flows.nights.concluding import concluded
from bot.flows.nights.issues import announce
from bot.flows.nights.job import NightJob
from bot.flows.nights.past import Night
from bot.flows.ranges.chaining import Chain
from bot.flows.shards.choice import LeftShard
from bot.model.change_points import Observation, Probe
from bot.model.errors import ArtifactError
from bot.model.history import NO_METRIC, NO_PAIR, Measurements
from bot.model.report import Environment, Report, Spent


@dataclass(frozen=True)
class PastRange:
    """The bench of what was measured elsewhere: it measures nothing more."""

    cost: Spent
    machine: Environment
    said: tuple[str, ...] = ()

    def measure(self, probes: Sequence[Probe]) -> Iterator[Observation]:  # noqa: ARG002  the shape of a bench
        """Nothing."""
        return iter(())

    def elapsed(self) -> float:
        """Seconds of all machines together."""
        return self.cost.seconds

    def stopped(self) -> bool:
        """Never."""
        return False

    def spent(self) -> Spent:
        """What all machines together cost."""
        return self.cost

    def notes(self) -> Sequence[str]:
        """What the machines could not give."""
        return self.said

    def environment(self) -> Environment:
        """Of the first machine."""
        return self.machine


def trials_of(left: LeftShard, program: str) -> Measurements:
    """A shard's trials.

    Raises:
        ArtifactError: they are no night's, or of another program.
    """
    found = Measurements.concatenated(list(left.trials()))
    if any(run.program != program or run.mode != "nightly" for run in found.runs) or len(found.runs) > 1:
        raise ArtifactError("it is not one night of this program")
    return found


def usual_metric(tonight: Sequence[Measurements], default: str) -> str:
    """What most shards compared revisions in."""
    counts = Counter(found.metrics[0] for found in tonight if found.metrics)
    return max(sorted(counts), key=lambda name: counts[name], default=default)


def partner_of(tonight: Sequence[Measurements], places: Mapping[str, int]) -> int | None:
    """The place of the revision beside which the others ran; None: trials ran alone."""
    counts: Counter[int] = Counter()
    for found in tonight:
        first = (found.pair != NO_PAIR) & ~found.second & (found.metric != NO_METRIC)
        for code in found.revision[first].tolist():
            if (place := places.get(found.revisions[code].revision)) is not None:
                counts[place] += 1
    return max(sorted(counts), key=lambda place: counts[place], default=None)


def night_of(job: NightJob, tonight: Sequence[Night], shards: Sequence[LeftShard]) -> Report:
    """The report of what all machines measured, by the same search that a night of one machine is told by.

    Influences, and assertions that are proposed, are those that the first shard learnt which learnt any: the
    next night learns from all. Issues are opened here, and nowhere else.
    """
    job.progress.stage(f"uniting {len(tonight)} shards")
    job.search.remember([_seconds(n) for n in job.past]).unite([_seconds(n) for n in tonight])
    measured = [observation for night in tonight for observation in night.observations]
    report = concluded(job, measured, notes=())
    own = [one.report for one in shards]
    report = report.model_copy(
        update={
            "influences": next((r.influences for r in own if r.influences), ()),
            "proposed_assertions": next(
                (r.proposed_assertions for r in own if r.proposed_assertions != report.proposed_assertions),
                report.proposed_assertions,
            ),
        }
    )
    if job.issues is None or not report.measured:
        return report
    told = announce(job.issues, report, job.line)
    return report.model_copy(update={"notes": (*report.notes, *told)})


def _seconds(night: Night) -> list[Observation]:
    return Chain().seconds(night.observations)
