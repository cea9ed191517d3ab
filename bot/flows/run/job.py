"""What one pull-request analysis needs: the question, and the world as ports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.recorded import Recorded
from bot.analysis.resources.unit_costs import PRIOR, UnitCosts
from bot.flows.history.accepting import Accepted
from bot.flows.history.diff_aware import Aim
from bot.flows.history.experience import Memory
from bot.flows.ports import Bench, ProfileBench, Progress, ResourceBench, Sampler, Solver, Workshop
from bot.model.assertions import Assertion
from bot.model.profiles import Method
from bot.model.revisions import Comparison
from bot.model.subject import Subject


@dataclass(frozen=True)
class Job:
    """One comparison to analyse within `budget` seconds.

    workshop: None when nothing is built (simulated subjects). open_bench: the bench for the built sides,
    given the seconds it may measure. notes: what the reader must be told already (where base came from, ...).
    memory: where the history is; None: there is none. open_profiles: profiles of the built sides, asked for
    once something is flagged; None: the subject has no methods. open_resources: likewise, counts of what
    trials ask of the machine; None: nothing is run. open_reverted: a bench on which base is head without the
    change of one method's text, within so many seconds, builds included; None, and why, when there is no such
    program. aim: lets the sample aim at terms; None: it cannot. assertions: those of base's
    file; entry_text: one of them as the file has it. condition: notes on how fast this machine is, for others
    of its kind. costs: what events cost here. accepted: changes that are no alarm; None: not asked.
    unmentioned: those of some words that no file of head's built tree has; None: there is no tree. recorded:
    that values are a table's, and noisy; None: each trial is another one, or exact.
    """

    subject: Subject
    name: str
    comparison: Comparison
    budget: float
    solver: Solver
    sampler: Sampler
    workshop: Workshop | None
    open_bench: Callable[[float], Bench]
    progress: Progress
    rng: np.random.Generator
    notes: tuple[str, ...] = ()
    memory: Memory | None = None
    open_profiles: Callable[[], ProfileBench] | None = None
    open_resources: Callable[[], ResourceBench] | None = None
    open_reverted: Callable[[Method, float], tuple[Bench | None, str]] | None = None
    aim: Aim | None = None
    assertions: tuple[Assertion, ...] = ()
    entry_text: Callable[[Assertion], str] = lambda entry: entry.id
    condition: Callable[[], Sequence[str]] = tuple
    costs: Callable[[], UnitCosts] = lambda: UnitCosts(PRIOR)
    accepted: Accepted | None = None
    unmentioned: Callable[[Collection[str]], Collection[str]] | None = None
    recorded: Recorded | None = None
