"""What is in an explanation by chance is left out of it, one step after the other."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.pruning import pruned
from bot.model.space import Level
from tests.unit.analysis.explanations.test_evidence import TERMS, evidence, measured

TABLE = evidence(measured(moved=0.8, repeats=3))
STEP = TABLE.candidate(1 + TERMS.levels.index(Level("o0", "on")), 5)


def by_scores(found: Evidence, chosen: list[int]) -> list[int]:
    """The same, by the score of each explanation with one step less."""
    while chosen:
        best = max(([k for k in chosen if k != step] for step in chosen), key=found.score)
        if found.score(best) < found.score(chosen):
            break
        chosen = best
    return chosen


def test_steps_are_left_out_as_the_scores_of_explanations_without_them_say() -> None:
    rng = np.random.default_rng(2)
    for size in (1, 3, 9, 20):
        chosen = [STEP, *(j for j in rng.choice(len(TABLE), size, replace=False).tolist() if j != STEP)]
        kept = pruned(TABLE, chosen)
        assert kept == by_scores(TABLE, chosen) and len(kept) < len(chosen)


@pytest.mark.parametrize("seed", range(3))
def test_steps_that_an_explanation_holds_by_chance_are_pruned_and_the_others_stay(seed: int) -> None:
    found = evidence(measured(moved=0.5))
    best = int(np.argmax(found.odds([])))
    early = [k for k in range(len(found)) if found.stretch(k)[1] < 4]
    chance = np.random.default_rng(seed).choice(early, 4, replace=False).tolist()
    assert found.score([best]) > 0.0 > found.score(chance)
    assert pruned(found, [*chance[:2], best, *chance[2:]]) == [best]
    assert pruned(evidence(measured()), chance) == [] == pruned(found, [])
