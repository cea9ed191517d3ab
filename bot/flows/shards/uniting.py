"""From the pairs of several machines to the evidence of one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.diagnose import PairedEstimator, Rule
from bot.analysis.pairs import Floats
from bot.analysis.stored_pairs import OK, failed_sides, failure
from bot.analysis.unlike_machines import Machine, MachinesEstimator
from bot.flows.history.experience import Recalled
from bot.flows.pull_request import paired_estimator, rules, timed
from bot.flows.run.evidence import Evidence
from bot.flows.run.job import Job
from bot.flows.shards.shares import Share
from bot.model.history import TRACKS
from bot.model.space import Configuration

INSTRUCTIONS, WALL = TRACKS.index("instructions"), TRACKS.index("wall")
GROWTH = 4
"""A batch is this part of all pairs before it, and about one round at least."""


@dataclass(frozen=True)
class United:
    """All shards' pairs in the order in which they are weighed, (n_pairs,) each.

    rows: code into `cells`, a configuration on a kind of machine. ratios: of each rule, (n_pairs, n_rules).
    base: what base took, likewise.
    """

    cells: tuple[tuple[Configuration, str], ...]
    rows: NDArray[np.int64]
    ratios: Floats
    base: Floats

    @property
    def kinds(self) -> list[str]:
        """Kinds of machines."""
        return sorted({kind for _, kind in self.cells})

    def batches(self) -> Iterator[slice]:
        """Consecutive pairs: about one round, later more at once."""
        done, least = 0, max(len(self.cells), 4)
        while done < len(self.rows):
            size = max(least, done // GROWTH)
            yield slice(done, done + size)
            done += size


def evidence_of(job: Job, shares: Sequence[Share], recalled: Recalled) -> Evidence:
    """What one run would hold after all these pairs; shares: in order of their numbers.

    The pairs of all shards are weighed in turn. Machines of one kind count as one machine; of several kinds
    the kind is a factor of its own.
    """
    of_time, wanted = timed(job.subject), rules(job.subject)
    evidence = Evidence(wanted, frozenset() if wanted[0].name in of_time else of_time)
    waited = evidence.wall_only and any((share.pairs.track == WALL).any() for share in shares)
    if waited and all(rule.name != "wall" for rule in wanted):
        wanted.append(Rule("wall", "lower", job.subject.threshold))
    for share in shares:
        _count(evidence, share)
    united = _united(job, evidence, shares)
    estimator = _estimator(job, evidence, united, recalled)
    for some in united.batches():
        values = {rule.name: united.ratios[some, i] for i, rule in enumerate(wanted)}
        base = {rule.name: united.base[some, i] for i, rule in enumerate(wanted)}
        # What an amount of work takes differs between kinds of machines.
        estimator.partial_fit_all(united.rows[some], values, base if len(united.kinds) < 2 else {})
    evidence.start(list(dict.fromkeys(c for c, _ in united.cells)), lambda: estimator)
    return evidence


def _ratios(evidence: Evidence, share: Share) -> Floats:
    """log(second / first) of each rule, (n_pairs, n_rules), where the pair's track may speak for it."""
    found = share.pairs.log_ratios
    alone = (share.pairs.track == WALL) & bool(evidence.wall_only)
    columns = []
    for rule in evidence.rules:
        allowed = alone == (rule.name in evidence.wall_only)
        columns.append(np.where(allowed, found[:, share.metrics.index(rule.name)], np.nan))
    return np.stack(columns, axis=1)


def _count(evidence: Evidence, share: Share) -> None:
    """Pairs, trials, failures and controls, as if they had been seen one by one."""
    pairs = share.pairs
    use = pairs.track != INSTRUCTIONS
    evidence.trials += 2 * int(use.sum())
    evidence.failed_trials += int((pairs.outcome[use] != OK).sum())
    for place in np.flatnonzero(use & ~pairs.ok):
        configuration = share.configurations[pairs.configuration[place]]
        evidence.fail(configuration, failed_sides(pairs, int(place)), failure(pairs, int(place)))
    ratios = _ratios(evidence, share)
    controls = use & pairs.ok & pairs.control
    for i, rule in enumerate(evidence.rules):
        evidence.controls[rule.name] += ratios[controls & np.isfinite(ratios[:, i]), i].tolist()
    good = use & pairs.ok & ~pairs.control
    evidence.pairs += int(good.sum())
    base = pairs.values[:, 0, share.metrics.index(evidence.rules[0].name)]
    for code, configuration in enumerate(share.configurations):
        own = good & (pairs.configuration == code)
        if own.any():
            evidence.ok_pairs[configuration] += int(own.sum())
            evidence.of_base[configuration] += base[own & np.isfinite(base)].tolist()


def _united(job: Job, evidence: Evidence, shares: Sequence[Share]) -> United:
    several = len({share.kind for share in shares}) > 1
    default = next(iter(job.sampler(1)))
    places: dict[tuple[Configuration, str], int] = {}
    for share in shares:
        known = sorted(share.configurations, key=lambda c: c != default)
        for configuration in known:
            places.setdefault((configuration, share.kind if several else ""), len(places))
    cells = sorted(places, key=lambda cell: (cell[0] != default, places[cell]))
    row_of = {cell: row for row, cell in enumerate(cells)}
    none = np.empty((0, len(evidence.rules)))
    rows, ratios, bases, turns = [np.empty(0, np.int64)], [none], [none], [np.empty(0)]
    for share in shares:
        use = np.flatnonzero((share.pairs.track != INSTRUCTIONS) & share.pairs.ok & ~share.pairs.control)
        own = [row_of[c, share.kind if several else ""] for c in share.configurations]
        rows.append(np.array(own, np.int64)[share.pairs.configuration[use]])
        ratios.append(_ratios(evidence, share)[use])
        places_of = [share.metrics.index(rule.name) for rule in evidence.rules]
        bases.append(share.pairs.values[use, 0][:, places_of])
        turns.append(np.arange(len(use), dtype=float))
    order = np.argsort(np.concatenate(turns), kind="stable")
    return United(
        cells=tuple(cells),
        rows=np.concatenate(rows)[order],
        ratios=np.concatenate(ratios)[order],
        base=np.concatenate(bases)[order],
    )


def _estimator(job: Job, evidence: Evidence, united: United, recalled: Recalled) -> PairedEstimator:
    if len(united.kinds) < 2:
        return paired_estimator(job, [c for c, _ in united.cells], evidence.rules, recalled)
    kind_of = np.array([kind for _, kind in united.cells])[united.rows]
    machines = []
    for kind in united.kinds:
        use = kind_of == kind
        values = {rule.name: united.ratios[use, i] for i, rule in enumerate(evidence.rules)}
        machines.append(Machine(kind, united.rows[use], values))
    return MachinesEstimator(
        space=job.subject.space,
        rows=united.cells,
        machines=machines,
        rules=evidence.rules,
        false_alarms=job.subject.false_alarms,
        equivalent=job.solver.equivalent,
        possible=job.solver.possible,
        rng=job.rng,
    )
