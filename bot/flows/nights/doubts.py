"""Which terms may carry what a night saw move and could not settle."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analysis.change_points.rivals import rivals
from bot.analysis.change_points.steps import Step, StepModel
from bot.flows.nights.recall import CLOSE, LEAST_CLOSE
from bot.model.space import Term

LIKELY = 0.9
"""Probability that the terms which are told hold the right one, as far as the model knows them."""
MOST = 2
"""Terms that are told; where more are likely, only the step's own one is. Arbitrary."""


def carriers(model: StepModel, step: Step, revisions: int) -> tuple[Sequence[Term], bool]:
    """The likely terms, the step's own one first, and whether others are likely, too.

    Terms that hold in the same valid configurations count as one.
    """
    found = rivals(model, step, max(revisions * CLOSE, LEAST_CLOSE), ())
    told = [model.terms.named(step.term)]
    held = 0.0
    for term, share in zip(found.terms, found.shares, strict=True):
        if held >= LIKELY:
            break
        held += share
        name = model.terms.named(term)
        if not any(model.terms.equivalent(name, other) for other in told):
            told.append(name)
    return (told, False) if len(told) <= MOST else (told[:1], True)
