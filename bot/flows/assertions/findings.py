"""What checking assertions came to, in the report's terms."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.analysis.assertions.checked import CheckedGroup
from bot.flows.assertions.inquiry import AssertionInquiry, CheckedAssertion
from bot.flows.run.job import Job
from bot.model.assertions import Assertion, CallEdge, Condition, NamedPath
from bot.model.report_assertions import AssertionGroup, AssertionOutcome, AssertionPath
from bot.sampling.constraints import ConstraintSolver

ASSERTING_SHARE = 0.2
"""Of the budget, for watching asserted methods; kept for it whatever else is found."""
SAME = 0.05
"""Difference of two shares that is not worth an edit."""
MOST_PATHS = 60
"""Of a method, in the report."""
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class AssertionFindings:
    """Outcomes in the order of the file, and what a reader must know of how they were got."""

    outcomes: tuple[AssertionOutcome, ...] = ()
    notes: tuple[str, ...] = ()
    checked: tuple[CheckedAssertion, ...] = ()


def check_assertions(job: Job, clock: Callable[[], float], *, until: float) -> AssertionFindings:
    """Checks base's assertions in the default configuration, until seconds on a clock."""
    if not job.assertions:
        return AssertionFindings()
    if job.open_profiles is None:
        return AssertionFindings(notes=("Assertions are on methods, and this subject has none.",))
    inquiry = AssertionInquiry(
        job.open_profiles(),
        ConstraintSolver(job.subject.space).default(),
        clock,
        until,
        false_alarms=job.subject.false_alarms,
        tell=job.progress.stage,
    )
    found = inquiry.run(job.assertions)
    outcomes = tuple(_outcome(one, job.entry_text) for one in found)
    return AssertionFindings(outcomes, tuple(inquiry.notes), tuple(found))


def _outcome(found: CheckedAssertion, entry_text: Callable[[Assertion], str]) -> AssertionOutcome:
    checked, assertion = found.checked, found.assertion
    return AssertionOutcome(
        id=assertion.id,
        method=assertion.method,
        file=assertion.file,
        groups=tuple(_group(group) for group in checked.groups),
        borders_seconds=checked.borders,
        outcome=checked.outcome,
        edges=_edges(assertion),
        trials=(len(found.base), len(found.head)),
        slower=checked.slower,
        why=checked.why,
        new_paths=checked.new_paths,
        paths=tuple(_paths(found)),
        proposed=entry_text(found.proposed) if found.violated and _edited(found) else "",
    )


def _edited(found: CheckedAssertion) -> bool:
    """Whether the proposed entry expects something else; what moved may lie within one cluster."""
    was, now = found.assertion, found.proposed
    pairs = zip(was.groups, now.groups, strict=False)
    return (len(was.places), len(was.groups)) != (len(now.places), len(now.groups)) or any(
        abs(a - b) > SAME
        for group, other in pairs
        for a, b in zip(group.expected, other.expected, strict=True)
    )


def _edges(assertion: Assertion) -> dict[str, CallEdge]:
    """Those that conditions speak of, by name: the same in all groups."""
    named = {name: edge for group in assertion.groups for name, edge in group.when.edges.items()}
    return {name: edge for name, edge in sorted(named.items()) if edge in assertion.atoms}


def _paths(found: CheckedAssertion) -> list[AssertionPath]:
    """Those with most calls."""
    calls: dict[NamedPath, list[int]] = defaultdict(lambda: [0, 0])
    for side, trials in enumerate((found.base, found.head)):
        for observation in trials:
            for path, durations in observation.durations.items():
                calls[path][side] += len(durations)
    most = sorted(calls, key=lambda path: (-sum(calls[path]), path))[:MOST_PATHS]
    return [
        AssertionPath(path=path, group=found.assertion.group_of(path), calls=(calls[path][0], calls[path][1]))
        for path in most
    ]


def _group(group: CheckedGroup) -> AssertionGroup:
    known = math.isfinite(group.ratio)
    return AssertionGroup(
        expression=spelled(group.when),
        when=group.when.text,
        expected=group.expected,
        observed=group.head,
        base=group.base,
        calls=group.calls,
        ratio=group.ratio if known else None,
        interval=group.interval if known and all(map(math.isfinite, group.interval)) else None,
        outcome=group.outcome,
        paths=group.paths,
        said=group.said,
    )


def spelled(when: Condition) -> str:
    """A condition with its edges in full: `parse > read and not load > read`."""
    return _NAME.sub(lambda m: _full(m[0], when), when.text)


def _full(word: str, when: Condition) -> str:
    edge: Sequence[str] = when.edges.get(word, (word,))
    return " > ".join(edge)
