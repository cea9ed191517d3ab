"""Methods that violate an assertion join the suspects: what their calls cost more, and over which path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.flows.assertions.inquiry import CheckedAssertion
from bot.flows.history.memory import recall_terms
from bot.flows.run.job import Job
from bot.model.assertions import CallObservation, NamedPath
from bot.model.profiles import Method
from bot.model.report_methods import MethodSuspect
from bot.model.space import Value


@dataclass(frozen=True)
class Blamed:
    """What is known already: the suspects, and the seconds by which the configuration became slower."""

    suspects: Sequence[MethodSuspect]
    options: dict[str, Value]
    change: float | None


def with_violations(job: Job, found: Sequence[CheckedAssertion], known: Blamed) -> list[MethodSuspect]:
    """The suspects, with the methods of violated assertions that are none yet, and the terms that drive them.

    Their seconds are those of their calls over the paths that moved, with callees. Those that are suspects
    already are told with the path that moved: a profile knows the dearest one.
    """
    slower = [one for one in found if one.checked.slower]
    named = {(s.method, s.file) for s in known.suspects}
    moved = [one for one in slower if (one.assertion.method, one.assertion.file) not in named]
    paths = {(one.assertion.method, one.assertion.file): _path(one)[:-1] for one in slower}
    suspects = [
        s.model_copy(update={"callers": paths.get((s.method, s.file), s.callers)}) for s in known.suspects
    ]
    methods = [Method(one.assertion.method, one.assertion.file) for one in moved]
    terms = recall_terms(job.memory, job.subject, methods, job.rng)
    added = [
        _suspect(one, known).model_copy(update={"terms": terms.get(method, ())})
        for one, method in zip(moved, methods, strict=True)
    ]
    return [*suspects, *sorted(added, key=lambda s: -s.share_of_change)]


def _suspect(one: CheckedAssertion, known: Blamed) -> MethodSuspect:
    base, head = (_seconds(one, trials) for trials in (one.base, one.head))
    calls = [
        round(_mean(o.weight * sum(map(len, o.durations.values())) for o in t)) for t in (one.base, one.head)
    ]
    share = (head - base) / known.change if known.change is not None and known.change > 0 else 0.0
    return MethodSuspect(
        method=one.assertion.method,
        file=one.assertion.file,
        line=None,
        base_self_seconds=base,
        head_self_seconds=head,
        calls=(calls[0], calls[1]),
        share_of_change=share,
        callers=_path(one)[:-1],
        with_callees=True,
        options=known.options,
        assertion=one.assertion.id,
    )


def _seconds(one: CheckedAssertion, trials: Sequence[CallObservation]) -> float:
    """Of one trial's calls over the paths that moved."""
    return _mean(
        o.weight * sum(float(d.sum()) for path, d in o.durations.items() if _moved(one, path)) for o in trials
    )


def _moved(one: CheckedAssertion, path: NamedPath) -> bool:
    place = one.assertion.group_of(path)
    if place is None or place >= len(one.checked.groups):
        return False
    group = one.checked.groups[place]
    return group.outcome == "violated" and (not group.paths or path in group.paths)


def _path(one: CheckedAssertion) -> NamedPath:
    """The path that moved with most calls at head."""
    calls = Counter[NamedPath]()
    for observation in one.head:
        calls.update({path: len(d) for path, d in observation.durations.items() if _moved(one, path)})
    return max(calls, key=lambda path: (calls[path], path), default=(one.assertion.method,))


def _mean(values: Iterator[float]) -> float:
    every = list(values)
    return sum(every) / len(every) if every else 0.0
