"""The one report of a pull request that several machines measured, whatever of it is late or missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.flows.history.experience import recall
from bot.flows.pull_request import rules
from bot.flows.pull_requests.conclusion import conclude, report
from bot.flows.run.evidence import Evidence
from bot.flows.run.job import Job
from bot.flows.shards.choice import Chosen, LeftShard
from bot.flows.shards.explanations import explained
from bot.flows.shards.shares import Share, quiet, read_share
from bot.flows.shards.uniting import evidence_of
from bot.model.errors import ArtifactError
from bot.model.report import Environment, Report, Spent
from bot.model.space import Configuration
from bot.model.trials import Pair, Wish

TOLD = 12
"""Shards whose noise is told one by one."""


@dataclass(frozen=True)
class PastBench:
    """The bench of what was measured elsewhere: it measures nothing more."""

    seconds: float
    machine: Environment
    said: tuple[str, ...]
    slots: int = 1

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:  # noqa: ARG002  the shape of a bench
        """No pair."""
        return iter(())

    def served(self, configuration: Configuration) -> Configuration:
        """The same."""
        return configuration

    def elapsed(self) -> float:
        """Seconds of all machines together."""
        return self.seconds

    def stopped(self) -> bool:
        """Never."""
        return False

    def notes(self) -> Sequence[str]:
        """What the machines could not give."""
        return self.said

    def environment(self) -> Environment:
        """Of all machines."""
        return self.machine


def merge(job: Job, chosen: Chosen) -> Report:
    """One report from the shards that count; nothing is measured here.

    What is refused is told in the notes; where nothing is left, so are the builds that failed.
    """
    if job.comparison.same_tree:
        return report(job, verdict="none", notes=("Base and head have the same tree: nothing to measure.",))
    if chosen.plan is not None:
        job = replace(job, budget=chosen.plan.budget * chosen.plan.shards)
    job.progress.stage(f"uniting {len(chosen.shards)} shards")
    read, notes = _read(job, chosen)
    shares, said = quiet(read, rules(job.subject)[0])
    notes += said
    spent = Spent.together([one.report.spent for one in chosen.shards])
    recalled = recall(job.memory, job.subject, rules(job.subject), job.solver, accepted=job.accepted)
    if not shares:
        failures = {f.side: f for one in chosen.shards for f in one.report.build_failures}
        return report(
            job,
            verdict="inconclusive",
            notes=(*notes, "No shard measured anything that counts."),
            build_failures=tuple(failures.values()),
            spent=spent,
            recalled=recalled,
        )
    used = {share.number for share in shares}
    counted = [one for one in chosen.shards if one.shard.shard in used]
    evidence = evidence_of(job, shares, recalled)
    notes += [*_noise(evidence, shares), *_machines(counted)]
    bench = PastBench(spent.seconds, _environment(shares), tuple(notes))
    found = conclude(job, bench, evidence, until=0.0, spent=spent, recalled=recalled)
    return explained(found, counted)


def _read(job: Job, chosen: Chosen) -> tuple[list[Share], list[str]]:
    """The shards' pairs, and what is told of those that have none."""
    shares, notes = [], list(chosen.notes)
    for one in chosen.shards:
        try:
            share = read_share(job, one)
        except ArtifactError as error:
            notes.append(f"Shard {one.shard.shard} was left out: {error}.")
            continue
        if share is not None:
            shares.append(share)
        else:
            notes.append(f"Shard {one.shard.shard} measured nothing{_why(one.report)}.")
    return shares, notes


def _why(found: Report) -> str:
    if found.build_failures:
        return f": {found.build_failures[0].side} could not be built there"
    return f": {found.notes[0].rstrip('.')}" if found.notes and found.verdict == "none" else ""


def _environment(shares: Sequence[Share]) -> Environment:
    """The machine if all are alike; else how many there are of each kind."""
    kinds = Counter(share.kind for share in shares)
    first = shares[0].environment
    if len(kinds) == 1:
        return first.model_copy(update={"load": None, "noise": ()})
    cpu = ", ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items()))
    cores = {share.environment.cores for share in shares}
    return Environment(cpu=cpu, cores=first.cores if len(cores) == 1 else 0)


def _noise(evidence: Evidence, shares: Sequence[Share]) -> list[str]:
    """How far base is from itself on each machine."""
    metric = evidence.rules[0].name
    told = []
    for share in shares[:TOLD]:
        noise = share.environment.noise_of(metric)
        shown = "unknown" if noise is None or noise.sd_percent is None else f"{noise.sd_percent:.2g} %"
        told.append(f"{share.number}: {shown}")
    more = f" and {len(shares) - TOLD} more" if len(shares) > TOLD else ""
    shown = f"{', '.join(told)}{more}"
    return [f"{len(shares)} shards count. Noise of {metric}, base against base, by shard: {shown}."]


def _machines(shards: Sequence[LeftShard]) -> list[str]:
    """What machines could not give: of all of them once, else with the shards' numbers."""
    said: defaultdict[str, list[int]] = defaultdict(list)
    for one in shards:
        for note in one.manifest.notes:
            said[note].append(one.shard.shard)
    return [
        note if len(numbers) == len(shards) else f"Shard {', '.join(map(str, numbers))}: {note}"
        for note, numbers in said.items()
    ]
