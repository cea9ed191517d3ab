"""Plays one simulated pull request through our estimator, as the flow would, and scores it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.decision.world import PAIR_SECONDS, PullRequest
from bot.analysis.diagnose import Judgement, PairedEstimator, Rule
from bot.analysis.experience import Experience
from bot.sampling.schedule import CONTROL_EVERY

RULES = (Rule("cpu", "lower", 0.01),)


def estimator_of(
    pull: PullRequest,
    rng: np.random.Generator,
    *,
    alarms: float = 0.01,
    experience: Experience | None = None,
) -> PairedEstimator:
    """What decides on a pull request, as in the flow."""
    return PairedEstimator(
        space=pull.world.space,
        configurations=pull.configurations,
        rules=RULES,
        false_alarms=alarms,
        equivalent=pull.world.equivalent,
        rng=rng,
        experience=experience,
    )


def measure(
    pull: PullRequest, seconds: float, rng: np.random.Generator, *, alarms: float = 0.01
) -> tuple[PairedEstimator, int]:
    """Shuffled rounds over the active configurations until the time is up or all is decided."""
    estimator = estimator_of(pull, rng, alarms=alarms)
    left = int(seconds / PAIR_SECONDS * (1 - 1 / CONTROL_EVERY))
    budget = left
    while left > 0 and not estimator.decided_:
        for c in rng.permutation(np.array(estimator.active_)):
            estimator.partial_fit(int(c), {"cpu": pull.pair(int(c))[1]})
            left -= 1
            if left == 0 or estimator.decided_:
                break
    return estimator, budget - left


def score(pull: PullRequest, judgement: Judgement, pairs: int) -> dict[str, Any]:
    """What a table needs of one pull request."""
    claims = []
    right = set()
    covered = []
    for effect in judgement.options:
        hit = next(
            (p for p in pull.planted if p == effect.term or pull.world.equivalent(p, effect.term)), None
        )
        claims.append((effect.probability, hit is not None))
        if hit is not None:
            right.add(hit)
            covered.append(effect.interval[0] <= 1 + pull.planted[hit] <= effect.interval[1])
    overall = next(e for e in judgement.effects if e.term == ()) if judgement.effects else None
    mean = math.exp(pull.truth.mean())
    within = [
        c.interval[0] <= math.exp(t) <= c.interval[1]
        for c, t in zip(judgement.configurations, pull.truth, strict=True)
        if c.interval is not None
    ]
    return {
        "verdict": judgement.verdict,
        "named": len(right) == len(pull.planted) and bool(pull.planted),
        "wrong": sum(not ok for _, ok in claims),
        "claims": claims,
        "covered": covered,
        "within": [sum(within), len(within)],
        "overall": bool(overall and overall.interval[0] <= mean <= overall.interval[1]),
        "pairs": pairs,
    }
