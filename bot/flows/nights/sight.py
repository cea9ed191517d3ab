"""What a night would have seen of each term, and how likely each is to have moved."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.noise import ODD
from bot.analysis.change_points.steps import Step, StepModel
from bot.flows.nights.window import Window
from bot.model.space import Level

COVERED = 0.9
"""Share of what may change, levels and pairs of levels by their prior, in which a night has to see enough."""
STANDS_OUT, POWER = 3.0, 0.84
"""Log posterior odds at which a step is asked about, and standard errors by which four in five stand out."""
HEED = 0.5
"""How much of what the trials say of a term counts for what is compared next: some is bad luck."""


def suspicion(model: StepModel, window: Window) -> NDArray[np.float64]:
    """How likely each term is to have moved between reference and tip, against the likeliest: (n_terms,)."""
    places, moment, information = model.contrasts(None, (window.reference + 1, window.tip))
    odds = model.terms.log_priors(())
    if len(places):
        odds = odds + HEED * (model.evidence(moment, information).max(axis=1) - odds)
    shares: NDArray[np.float64] = np.exp(odds - odds.max())
    return shares


def odd(model: StepModel, rows: Sequence[int]) -> list[int]:
    """Of some configurations, by number, those with a trial far from what the steps let expect."""
    c, _, _, sd = model.log.columns()
    far = np.unique(c[np.abs(model.residual()) > ODD / math.sqrt(2.0) * sd])
    return [row for row in rows if row in far]


def unsettled(model: StepModel) -> list[Step]:
    """Steps that are not settled, or took the place of others and were not confirmed, the clearest first."""
    found = (
        step
        for step in model.steps
        if not step.settled or not (model.exact or step.confirmed == (step.term, step.at))
    )
    return sorted(found, key=lambda step: -abs(step.size) / max(step.error, 1e-300))


def below(model: StepModel, step: Step, margin: float) -> bool:
    """Whether a step is smaller than a share: where noise is small, nearly every commit moves a little."""
    return abs(step.size) < margin * model.level


def smallest(model: StepModel, window: Window) -> NDArray[np.float64]:
    """The smallest slow-down since the newest earlier tip that stands out four times in five, (n_terms,).

    As a share, for `()` and each level and pair of levels that some but not all valid configurations hold;
    infinite where nothing would have been seen.
    """
    terms = model.terms
    first = min(window.previous, window.tip - 1) + 1
    information = model.information((first, window.tip))
    if not information.size:
        return np.full(len(terms), np.inf)
    have = (terms.covers(model.log.holds) @ information).min(axis=1)
    odds = STANDS_OUT + math.log(information.shape[1]) - terms.log_priors(())
    with np.errstate(divide="ignore"):
        least: NDArray[np.float64] = (np.sqrt(2.0 * odds) + POWER) / np.sqrt(have) / model.level
    return least


def seen_enough(
    model: StepModel, window: Window, aim: float, *, of_all: bool = True, broken: Collection[Level] = ()
) -> bool:
    """Whether a change of the aimed size after the previous tip would have stood out in most terms.

    of_all: also of those that no trial of both sides can show, but for those of options with broken levels.
    """
    terms, lost = model.terms, {level.option for level in broken}
    prior, least = np.exp(terms.log_priors(())), smallest(model, window)
    of = np.array([level.option in lost for level in terms.levels], dtype=bool)
    hidden = np.concatenate([[False], of, of[terms.pairs].any(axis=1)])
    asked = prior[np.isfinite(least) | (of_all & ~hidden)]
    return bool(prior[least <= aim].sum() >= COVERED * asked.sum())
