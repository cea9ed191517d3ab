"""Which terms may carry one step, with their probabilities, from the trials near it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.change_points.findings import opposite_of
from bot.analysis.change_points.noise import Floats
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term

MOST = 60
LEAST = 1e-6
"""Terms less likely than this share of the leading one are no rivals."""

CHANCE = 4.0
"""Standard deviations of a chi-square that are put down to chance."""


@dataclass(frozen=True)
class Rivals:
    """Terms, most probable first, and their shares; those equal in all that may have a value count as one.

    sure: share of the first and its equals. size: of the step in the first; as it was, where trials on both
    sides of it speak for none. evidence: its log posterior odds.
    """

    terms: tuple[Term, ...]
    shares: tuple[float, ...]
    sure: float
    size: float
    evidence: float


def rivals(model: StepModel, step: Step, reach: float, grown: Sequence[Term]) -> Rivals:
    """Terms by the contrasts within `reach` revisions of a step, prior included."""
    moment, information = model.beside(step, reach)
    whole_moment, whole_information = model.sums(moment, information, grown)
    score = model.posterior(whole_moment, whole_information, grown)[:, 0]
    best = model.terms.term(int(np.argmax(score)), grown)
    spread = 1.0 if model.exact else _spread(model, moment[:, 0], information[:, 0], best)
    if spread > 1.0:
        moment, information = moment / spread, information / spread
        score = model.posterior(whole_moment / spread, whole_information / spread, grown)[:, 0]
    likely = np.sort(np.argpartition(-score, min(MOST, len(score) - 1))[:MOST])
    order = likely[np.argsort(-score[likely], kind="stable")]
    shares = np.exp(score[order] - score[order[0]])
    order, shares = order[shares > LEAST], shares[shares > LEAST]
    shares = shares / shares.sum()
    terms = [model.terms.term(int(k), grown) for k in order]
    lead = model.terms.cover(terms[0], model.log.holds)
    sure, there = float(shares[0]), _with_a_value(model, step)
    names, seen = (*model.terms.named(terms[0]), *there), (information[:, 0] > 0.0) | (not there)
    for term, share in zip(terms[1:], shares[1:], strict=True):
        same = (model.terms.cover(term, model.log.holds) == lead)[seen].all()
        if same and model.terms.equivalent(names, (*model.terms.named(term), *there)):
            sure += float(share)
    whole, evidence = float(information[lead].sum()), float(score[order[0]])
    size = float(moment[lead].sum()) / whole if whole > 0 and evidence > 0 else step.size
    return Rivals(tuple(terms), tuple(float(s) for s in shares), sure, size, evidence)


def _with_a_value(model: StepModel, step: Step) -> tuple[str, ...]:
    """Levels that all configurations hold which may have a value on both sides of a step.

    Others are lost on one of them: mostly options that are younger.
    """
    lost = {*model.log.lost(step.low - 1), *model.log.lost(step.high)}
    left = (opposite_of(level, model.terms.levels) for level in lost)
    return tuple(sorted(str(level) for level in left if level is not None))


def _spread(model: StepModel, moment: Floats, information: Floats, best: Term) -> float:
    """How many times wider than their noise configurations scatter about the best term's step, at least 1.

    Another step nearby that is not known yet disturbs all contrasts; without this a term of many levels
    would be found that explains it away (the dispersion of a quasi-likelihood, McCullagh and Nelder, 9.2).
    """
    cover = model.terms.cover(best, model.log.holds)
    size = moment[cover].sum() / max(float(information[cover].sum()), 1e-300)
    seen = information > 0
    moved = moment[seen] / information[seen] - size * cover[seen]
    free = max(int(seen.sum()) - 1, 1)
    usual = free + CHANCE * math.sqrt(2.0 * free)
    return max(1.0, float((information[seen] * moved**2).sum()) / usual)
