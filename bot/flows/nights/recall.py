"""What earlier nights' trials show already: steps that are proven, and steps to ask about tonight."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from bot.analysis.change_points.rivals import Rivals, rivals
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term
from bot.flows.change_points.inquiry import Inquiry

MOST_STEPS = 64
"""Steps looked for at most."""
REVISITS = 2
"""How often each step is named again once all are known: early names may have mixed two steps."""
CLOSE, LEAST_CLOSE = 0.04, 3.0
"""Only trials within this share of the window (and so many revisions) of a step name it: none of another."""
PROVEN, SURE, SURE_EXACTLY = 8.0, 0.9, 0.995
"""Log posterior odds of a step (besides the number of places) and probability of its term to be known:
without noise nothing but a missing trial makes it less."""
KEPT = 4.5
"""Standard errors that a step's size must have."""
REST = 0.02
"""A step that leaves so much of itself was named wrongly; less is what varies a little in every revision."""
CROWD = 4
"""Steps at one revision above which none of them is believed, where there is no noise: they are the parts of
something else, named so that all trials come out right."""
GROWTHS = 3
ODD_NIGHT = 5.0
"""Standard errors by which a configuration moved in a night that may be left out."""
MANIFOLD = 2
"""As many times the steps of seconds, and one more, are too many for shares: these explain away what a step
in seconds is off on another machine."""
PER_STEP = 12.0
"""What each step must explain more, in squared standard errors, when the unit of all is chosen."""


def recall(model: StepModel, inquiry: Inquiry, revisions: int) -> None:
    """Fills the model with the steps of its trials without asking for any.

    Steps that an earlier night named and confirmed are settled again, because trials on both of their sides
    are there; what stands out otherwise is in the model, too, but not settled: it is to be asked about.
    """
    swept: list[_Swept] = []
    for relative in (False, True):
        _measure_in(model, relative=relative)
        model.steps.clear()
        left = _sweep(model, inquiry, revisions)
        swept.append(_Swept(model.fit() + PER_STEP * len(model.steps), left, list(model.steps)))
    seconds, shares = swept
    relative = shares.fit < seconds.fit and len(shares.steps) <= MANIFOLD * (len(seconds.steps) + 1)
    if model.exact and (count := min(len(seconds.left), len(shares.left))):
        # In the wrong unit there is always one more step: as many of the right one explain more.
        relative = shares.left[count - 1] < seconds.left[count - 1]
    _measure_in(model, relative=relative)
    model.steps[:] = swept[relative].steps
    model.fit()


class _Swept(NamedTuple):
    """Steps in one unit, what they leave unexplained in all, and what was left after each was found."""

    fit: float
    left: list[float]
    steps: list[Step]


def _sweep(model: StepModel, inquiry: Inquiry, revisions: int) -> list[float]:
    """Looks for steps until none stands out, then names all of them again; what was left after each."""
    left = []
    for _ in range(MOST_STEPS):
        step = inquiry.leader()
        if step is None:
            break
        if odd_night_out(model, step):
            continue
        model.steps.append(step)
        _name(model, step, revisions)
        if withdrew_twin(model, step):
            break
        inquiry.tidy()
        left.append(model.fit())
    for _ in range(REVISITS):
        for known in list(model.steps):
            _name(model, known, revisions, widely=True)
        inquiry.tidy()
    drop_weak(model)
    doubt_crowds(model)
    return left


def odd_night_out(model: StepModel, step: Step) -> bool:
    """Leaves out what alone speaks for a step, against all others that hold its term; whether it did.

    That is a configuration in an earlier night, of which nothing can be measured again: one trial in a
    hundred that was disturbed would be explained by terms of many options.
    """
    if model.exact:
        return False
    moments, informations = model.beside(step, math.inf)
    held = np.flatnonzero(model.cover(step) & (informations[:, 0] > 0.0))
    if not len(held):
        return False
    moment, information = moments[held, 0], informations[held, 0]
    far = np.abs(moment) / np.sqrt(information)
    most = int(np.argmax(far))
    others = np.arange(len(held)) != most
    rest = model.gain(moment[others].sum(keepdims=True), information[others].sum(keepdims=True))
    row = int(held[most])
    if far[most] < ODD_NIGHT or rest[0] > 0.0 or row in model.log.place.values():
        return False
    model.log.left_out.add(row)
    model.log.forget()
    return True


def doubt_crowds(model: StepModel) -> None:
    """Opens all steps of a revision that has too many, where there is no noise."""
    together = Counter(step.at for step in model.steps)
    for step in model.steps:
        if model.exact and together[step.at] > CROWD:
            step.settled, step.confirmed = False, None


def withdrew_twin(model: StepModel, step: Step) -> bool:
    """Whether a step is one that is there already, for the part that this leaves: then its name is wrong.

    The new one is taken out, and what both were named for is open again. More of them would explain the
    trials in the end, and say nothing true.
    """
    twins = [
        s
        for s in model.steps
        if s is not step and (s.term, s.at) == (step.term, step.at) and abs(step.size) > REST * abs(s.size)
    ]
    if twins and step in model.steps:
        model.steps.remove(step)
        for twin in twins:
            twin.settled, twin.confirmed = False, None
    return bool(twins)


def _measure_in(model: StepModel, *, relative: bool) -> None:
    model.log.relative = relative
    model.log.forget()


def choose_unit(model: StepModel) -> None:
    """Seconds, or shares of a configuration's level: whichever explains the trials better by these steps."""
    if not model.steps:
        return
    settled = [step for step in model.steps if step.settled]
    before, sizes = model.log.relative, [(step.size, step.error) for step in settled]
    for step in settled:
        step.settled = False  # without noise a settled one would keep its size, whatever the unit
    left: dict[bool, float] = {}
    for relative in (before, not before):
        _measure_in(model, relative=relative)
        left[relative] = model.fit()
    if left[before] <= left[not before]:
        _measure_in(model, relative=before)
        for step, (size, error) in zip(settled, sizes, strict=True):
            step.size, step.error = size, error
    for step in settled:
        step.settled = True
    model.fit()


def _name(model: StepModel, step: Step, revisions: int, *, widely: bool = False) -> None:
    """Places a step, and names and settles it when the trials right beside it prove its term.

    widely: all trials before and after it may speak, too, because all other steps are known.
    """
    model.fit()
    place(model, step)
    close = max(revisions * CLOSE, LEAST_CLOSE)
    found = _rivals(model, step, close)
    sure = SURE_EXACTLY if model.exact else SURE
    proven = found.evidence > PROVEN + math.log(revisions) and found.sure > sure
    step.settled = proven and _was_placed(model, step, close)
    if step.settled and widely:
        of_all = _rivals(model, step, float(revisions))
        found = of_all if of_all.evidence > found.evidence and of_all.sure > sure else found
    if step.settled:
        step.term, step.size, step.probability = found.terms[0], found.size, found.sure
    step.confirmed = (step.term, step.at) if step.settled else None


def _was_placed(model: StepModel, step: Step, close: float) -> bool:
    """Whether a night looked where a step is: one that ended before has trials at both ends of its window."""
    built = set(range(step.low, step.high)) - model.log.unbuilt
    return (model.log.frozen and not model.log.walk) or len(built) <= close


def _rivals(model: StepModel, step: Step, reach: float) -> Rivals:
    """The terms that may carry a step, and larger ones around the likeliest."""
    grown: list[Term] = []
    found = rivals(model, step, reach, grown)
    for _ in range(GROWTHS):
        grown = model.terms.grow(found.terms[0], grown)
        found = rivals(model, step, reach, grown)
    return found


def place(model: StepModel, step: Step) -> None:
    """Narrows a step's interval to 90 % of its posterior."""
    places, moment, information = model.contrasts(step, (step.low, step.high))
    if not len(places):
        return
    cover = model.cover(step).astype(np.float64)
    measured = np.unique(model.log.columns()[1])
    previous = measured[np.searchsorted(measured, places) - 1]
    log = model.gain(cover @ moment, cover @ information) + np.log(places - previous)
    mass = np.exp(log - log.max())
    cumulative = mass.cumsum() / mass.sum()
    first, last = (min(int(np.searchsorted(cumulative, q)), len(places) - 1) for q in (0.05, 0.95))
    step.at = int(places[int(np.argmax(mass))])
    step.low, step.high = int(previous[first]) + 1, int(places[last])


def drop_weak(model: StepModel) -> None:
    """Takes out, the weakest first, what the other steps explain as well."""
    while True:
        model.fit()
        weakest = min(model.steps, key=lambda s: abs(s.size) / max(s.error, 1e-300), default=None)
        if weakest is None or abs(weakest.size) > KEPT * weakest.error:
            return
        model.steps.remove(weakest)
