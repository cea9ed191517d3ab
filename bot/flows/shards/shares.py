"""What one machine of several measured, checked against the job, and whether it is too noisy to count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.diagnose import Rule
from bot.analysis.pairs import Floats
from bot.analysis.stored_pairs import StoredPairs, stored_pairs
from bot.flows.nights.past import configuration_of
from bot.flows.pull_request import rules
from bot.flows.run.job import Job
from bot.flows.shards.choice import LeftShard
from bot.model.errors import ArtifactError
from bot.model.history import Measurements, known_options, program_fingerprint
from bot.model.noise import LEAST_FOR_SCALE, Noise
from bot.model.report import Environment
from bot.model.space import Configuration

NOISY, FAR_NOISIER = 0.10, 5.0
"""Standard deviation of base against base (log ratio) beyond which, and beyond so many times the middle one
of all shards, a machine's pairs say too little."""
BIASED = 4.0
"""Standard errors (and one margin) by which base may not differ from base."""
UNKNOWN = "an unknown machine"


@dataclass(frozen=True)
class Share:
    """One shard's pairs: configurations by code into `configurations`, values of `metrics`."""

    number: int
    environment: Environment
    configurations: tuple[Configuration, ...]
    metrics: tuple[str, ...]
    pairs: StoredPairs

    @property
    def kind(self) -> str:
        """Which kind of machine it was measured on."""
        return self.environment.cpu or UNKNOWN

    def controls(self, metric: str) -> Floats:
        """log(base / base) of a metric."""
        pairs = self.pairs
        ratios: Floats = pairs.log_ratios[pairs.control & pairs.ok, self.metrics.index(metric)]
        return ratios[np.isfinite(ratios)]


def read_share(job: Job, left: LeftShard) -> Share | None:
    """A shard's pairs of this job's comparison; None: it measured none.

    Raises:
        ArtifactError: they are of another program, other options or revisions, or not as a run leaves them.
    """
    found = Measurements.concatenated(list(left.trials()))
    if not len(found):
        return None
    (run, *others) = found.runs
    if others or run.program != program_fingerprint(job.subject) or run.mode != "pull_request":
        raise ArtifactError("it is not one run of this program")
    if run.options != known_options(job.subject.space):
        raise ArtifactError("it was measured with other options")
    metrics = tuple(dict.fromkeys([*(rule.name for rule in rules(job.subject)), "wall"]))
    configurations = [configuration_of(options, job.subject.space) for options in found.configurations]
    known = [c for c in configurations if c is not None]
    if len(known) < len(configurations):
        raise ArtifactError("it has a configuration that the program does not have")
    revisions = job.comparison
    try:
        pairs = stored_pairs(found, metrics, base=revisions.base.id, head=revisions.head.id)
    except ValueError as error:
        raise ArtifactError(str(error)) from error
    return Share(left.shard.shard, run.environment, tuple(known), metrics, pairs)


def quiet(shares: Sequence[Share], rule: Rule) -> tuple[list[Share], list[str]]:
    """The shards whose own base against base is quiet and even enough; why the others are left out.

    Only controls are looked at, so what is left out does not depend on what head does.
    """
    spreads: dict[int, float] = {}
    for share in shares:
        noise = Noise.of_pairs(rule.name, share.controls(rule.name).tolist())
        if noise.sd_percent is not None:
            spreads[share.number] = noise.sd_percent / 100.0
    middle = float(np.median([*spreads.values(), 0.0])) if spreads else 0.0
    kept, notes = [], []
    for share in shares:
        spread = spreads.get(share.number)
        controls = share.controls(rule.name)
        if spread is not None and spread > max(NOISY, FAR_NOISIER * middle):
            notes.append(
                f"Shard {share.number} was left out: base differs from itself by {100 * spread:.0f} % there"
                f" ({share.kind})."
            )
        elif spread is not None and _biased(controls, np.log1p(rule.threshold)):
            notes.append(
                f"Shard {share.number} was left out: base was {100 * float(np.median(controls)):+.1f} % off"
                f" base there ({share.kind})."
            )
        else:
            kept.append(share)
    return kept, notes


def _biased(controls: Floats, margin: float) -> bool:
    error = float(np.std(controls, ddof=1)) / np.sqrt(len(controls))
    return len(controls) > 2 * LEAST_FOR_SCALE and abs(float(np.mean(controls))) > margin + BIASED * error
