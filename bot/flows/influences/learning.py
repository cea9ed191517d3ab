"""What history lets learn of options: their influence on the program, and on each profiled method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bot.analysis.influences.costs import CostTable
from bot.analysis.influences.explaining import TermInfluence, explain
from bot.analysis.influences.fitting import Left, unlimited
from bot.analysis.influences.hard import hard_methods
from bot.analysis.influences.learning import InfluenceModels
from bot.analysis.influences.models import KINDS
from bot.analysis.influences.remembered import REST, Past, remembered
from bot.analysis.influences.screening import FULL
from bot.analysis.influences.telling import entries, notes
from bot.analysis.influences.trial_costs import trial_costs
from bot.analysis.published.influences.coarse import hard_methods as published_hard_methods
from bot.analysis.published.influences.pipeline import PublishedInfluences
from bot.flows.influences.call_context import profiler_overheads, refine, relearnt, varied
from bot.flows.influences.known_costs import Known
from bot.flows.influences.profiles import FEWEST
from bot.model.duration_history import DurationTable
from bot.model.errors import NothingMeasuredError, UsageError
from bot.model.overhead import ProfilerOverhead
from bot.model.report import Influence
from bot.model.subject import Subject, TableProgram
from bot.model.variation import Variation
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import random_uniform

ALIKE = 3
"""Methods that are named where none ends as asked."""
POPULATION = 300
"""Random configurations in which terms are switched."""
MOST = 60
"""Methods whose influences a night tells: the costliest of those that vary."""
QUICK = ("constant", "few terms", "few factors", "small tree")
"""Kinds of models that are learnt in a tenth of a second."""
EXPLAINING = 0.35
"""Of the time for learning, kept for what the models say: measured, it takes a quarter to a third of both."""
NO_TIME = (
    "No time was left to learn influences: the history has what was measured; the next nights, and"
    " `suspects influences`, learn from it."
)
NOTHING = (
    "Influences are not known yet: history has neither profiles nor trials of enough configurations of this"
    f" program ({FEWEST} are needed); `suspects nightly` measures them."
)


@dataclass(frozen=True)
class Effort:
    """How much is tried: kinds of models, methods that get all of them, or the published algorithm."""

    kinds: Sequence[str] = tuple(KINDS)
    most: int = FULL
    published: bool = False


@dataclass(frozen=True)
class Influences:
    """The report's entries (the program's first, then methods by cost), and what must be known of them.

    hard: names of methods that matter and were not learnt well, or would not be by the published pipeline.
    missing: those that matter, and of whose time nothing could be learnt. variations: of methods whose single
    calls were watched, or that were asked for. profilers: what they cost.
    """

    entries: tuple[Influence, ...] = ()
    notes: tuple[str, ...] = ()
    hard: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    variations: tuple[Variation, ...] = ()
    profilers: tuple[ProfilerOverhead, ...] = ()


def learnt(
    known: Known,
    subject: Subject,
    *,
    rng: np.random.Generator,
    effort: Effort,
    method: str | None = None,
    left: Left = unlimited,
) -> Influences:
    """Influences on the program and its methods; without profiles, on the program by its trials.

    method: only methods whose name ends so are learnt, which is quick. left: seconds for it; what they are
    too few for is left out, with a note, and the published pipeline is begun or not. Learning runs in the
    workers of the surrounding `joblib.parallel_config`.

    Raises:
        NothingMeasuredError: too few configurations were measured.
        UsageError: no profiled method's name ends so.
    """
    only = None if method is None else _ending(method, [m.name for m in known.profiles.methods])
    past = remembered(subject.space, known.profiles, only=only)
    if past is not None and len(past.drawn) >= FEWEST:
        if left() <= 0.0:
            return Influences(notes=(NO_TIME,))
        found = _of_methods(past, known.durations, subject, rng=rng, effort=effort, left=left)
        found = found if effort.published else _with_calls(found, known, subject, rng, left)
        if past.shortened:
            most = len(past.costs.methods) - 1
            cut = f"Only the {most:,} costliest methods are learnt; the others count as one."
            found = replace(found, notes=(*found.notes, cut))
        if left() <= 0.0:
            return found
        told = varied(past.costs, known.durations, method)
        costly = profiler_overheads(subject.space, known.profiles, known.durations)
        return replace(found, variations=told, profilers=costly)
    costs = trial_costs(subject.space, known.trials, known.metric)
    said = [f"Configurations that were profiled: {len(past.drawn)}; {FEWEST} are needed."] if past else []
    if costs is None or len(costs.configurations) < FEWEST:
        raise NothingMeasuredError(" ".join([*said, NOTHING]))
    found = _of_program(costs, subject, rng, effort, left) if left() > 0.0 else Influences(notes=(NO_TIME,))
    return replace(found, notes=(*said, *found.notes))


def _ending(method: str, names: Sequence[str]) -> set[str]:
    """The methods whose name ends so."""
    found = {name for name in names if name.endswith(method)}
    if found or not names:
        return found
    within = sorted({name for name in names if method.lower() in name.lower()})[:ALIKE]
    alike = f" It is within {', '.join(within)}." if within else ""
    raise UsageError(f"--method {method}: no profiled method's name ends so.{alike}")


def _of_methods(
    past: Past,
    durations: DurationTable,
    subject: Subject,
    *,
    rng: np.random.Generator,
    effort: Effort,
    left: Left,
) -> Influences:
    """From profiles; the program is the sum of its methods."""
    plural = "" if len(past.revisions) == 1 else "s"
    where = f"{len(past.drawn)} profiled configurations at {len(past.revisions)} revision{plural}"
    if effort.published:
        if "seconds" not in past.costs.quantities:
            raise NothingMeasuredError("The published pipeline learns seconds; the profiles have none.")
        sample, probe = past.split(rng)
        whole = int(np.isfinite(sample.means("seconds")).all(axis=1).sum())
        if whole < FEWEST:
            raise NothingMeasuredError(
                f"The published pipeline needs {FEWEST} configurations in which no method has changed since "
                f"they were profiled; there are {whole}. `--estimator ours` learns methods that have not."
            )
        where += f", the program from {whole} in which no method has changed since"
        published = PublishedInfluences(rng=rng).fit(sample, probe)
        again = refine(published, probe, subject.space, durations)
        told = (f"Learnt by the published pipeline from {where}.", *again)
        return Influences(published.entries(), told, published.hard_methods_)
    few = len(past.costs.methods) <= effort.most  # each was asked for, however little it costs
    models = InfluenceModels(
        rng=rng, most=effort.most, kinds=effort.kinds, others=few, left=_but(EXPLAINING, left)
    ).fit(*past.exact().split(rng))
    said = [f"Learnt from {where}, the newest `{past.revisions[0][:12]}`.", *notes(models)]
    said += [_unlearnt(len(models.skipped_))] if models.skipped_ else []
    influences = entries(explained(models, subject, rng, left), models.quantity_)
    hard = hard_methods(models)
    if "seconds" in past.costs.quantities and left() > 0.0:
        hard = (*hard, *published_hard_methods(*past.split(rng), rng=rng))
    hard = tuple(name for name in dict.fromkeys(hard) if name != REST)
    if models.quantity_ == "seconds" and left() > 0.0:
        errors = {m.method: m.error for m in models.models_["seconds"] if m.method in hard}
        fine = InfluenceModels(rng=rng, most=len(errors), kinds=QUICK, left=_but(EXPLAINING, left))
        tell = partial(explained, subject=subject, rng=rng, left=left)
        said += relearnt(errors, subject.space, durations, models=fine, explained=tell)
    missing = [
        m
        for m in models.models_[models.quantity_]
        if (m.effort == "full" and m.state != "learnt") or (m.effort == "cheap" and few)
    ]
    return Influences(
        influences,
        tuple(said),
        hard,
        tuple(m.method for m in missing if m.method and m.method != REST),
    )


def _but(share: float, left: Left) -> Left:
    """The time that is left but for a share of what is left now."""
    if math.isinf(now := left()):
        return left
    return lambda: left() - share * now


def _unlearnt(methods: int) -> str:
    return (
        f"Time was left for no more methods: {methods} that cost something and vary were not learnt."
        " `suspects influences` learns them from the history."
    )


def _with_calls(
    found: Influences, known: Known, subject: Subject, rng: np.random.Generator, left: Left
) -> Influences:
    """With what drives the calls of methods whose time is too noisy: calls are exact."""
    wanted = found.missing if left() > 0.0 else ()
    past = remembered(subject.space, known.profiles, only=wanted) if wanted else None
    if past is None or "calls" not in past.costs.quantities:
        return found
    models = InfluenceModels(rng=rng, most=len(found.missing), kinds=QUICK, left=_but(EXPLAINING, left)).fit(
        *past.of("calls").split(rng)
    )
    counted = [i for i in explained(models, subject, rng, left) if i.method is not None]
    driven = {i.method for i in counted if i.term and i.sure}
    said = f"Of {len(driven)} methods whose time was not learnt it is told what drives their calls."
    more = entries([i for i in counted if i.method in driven], "calls")
    return replace(found, entries=(*found.entries, *more), notes=(*found.notes, *([said] if driven else [])))


def _of_program(
    costs: CostTable, subject: Subject, rng: np.random.Generator, effort: Effort, left: Left
) -> Influences:
    """From trials, which know the program only."""
    where = f"trials of {len(costs.configurations)} configurations, which say nothing of methods"
    if effort.published:
        published = [i for i in PublishedInfluences(rng=rng).fit(costs).entries() if i.method is None]
        said = f"Learnt by the published pipeline from {where}."
        return Influences(_in_unit(published, subject, costs), (said,))
    models = InfluenceModels(rng=rng, most=1, kinds=effort.kinds).fit(costs)
    whole = tuple(i for i in explained(models, subject, rng, left) if i.method is None)
    judged = f"error {100 * models.system_.error:.1f} % on {len(models.probe_.configurations)} held out"
    said = f"Influences on the program were learnt from {where} ({judged})."
    if models.system_.state != "learnt":
        said += " That is not enough, so nothing is said of any option."
    return Influences(_in_unit(entries(whole, models.quantity_), subject, costs), (said,))


def _in_unit(found: Sequence[Influence], subject: Subject, costs: CostTable) -> tuple[Influence, ...]:
    """What trials call seconds, told as what a table's values are."""
    if not isinstance(subject.program, TableProgram):
        return tuple(found)
    unit = subject.program.unit(float(np.nanmedian(costs.means("seconds"))))
    return tuple(i.model_copy(update={"quantity": unit}) for i in found)


def explained(
    models: InfluenceModels, subject: Subject, rng: np.random.Generator, left: Left = unlimited
) -> tuple[TermInfluence, ...]:
    """The influences of all learnt methods, without the one that stands for the rest."""
    solver = ConstraintSolver(subject.space)
    population = random_uniform(subject.space, solver, POPULATION, rng=rng)
    found = explain(models, population, valid=solver.valid, rng=rng, left=left)
    return tuple(i for i in found if i.method != REST)
