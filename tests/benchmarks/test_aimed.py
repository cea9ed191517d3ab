"""The benchmark of diff-aware samples: what a model is said to tell is right, partly right or wrong."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.decision.aimed import ARMS, CASES, RARE, TERMS, guilty, pull_request, told
from benchmarks.decision.world import World, holds, world
from benchmarks.decision.worth import Case
from bot.model.space import Term


@pytest.fixture(scope="module")
def w() -> World:
    return world(3)


def options(w: World, *terms: Term) -> set[str]:
    return {w.space.level_of[text].option for term in terms for text in term}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_terms_told_share_what_their_arm_says_with_the_culprit(w: World, case: Case) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        term = guilty(case, w, rng)
        of = {arm: told(arm, w, term, np.random.default_rng(seed)) for arm in ARMS}
        assert of["none"] == ()
        assert term == of["right"][0] and term not in of["partly right"]
        assert options(w, *of["partly right"][:1]) & options(w, term)
        assert not options(w, *of["misleading"], *of["right"][1:]) & options(w, term)
        assert all(len(of[arm]) == TERMS for arm in ARMS[1:])
        assert all(w.solver.possible(t) for terms in of.values() for t in terms)


def test_culprits_are_what_the_case_says(w: World) -> None:
    for case in CASES:
        term = guilty(case, w, np.random.default_rng(1))
        kinds = {w.space.options[w.space.index[o]].kind for o in options(w, term)}
        assert len(term) == (2 if "pair" in case.name else 1)
        assert case.what != "value" or "flag" not in kinds
        share = min(holds(w.space, term, s[: case.configurations]).mean() for s in w.samples)
        assert case.what != "rare" or share <= RARE


def test_arms_differ_in_their_samples_and_the_change_stays() -> None:
    case, w = CASES[3], world(3)  # its own: what a solver was asked before decides what it draws
    term = guilty(case, w, np.random.default_rng(1))

    def shown(arm: str, seed: int) -> float:
        rngs = np.random.default_rng([2, seed]), np.random.default_rng([3, seed])
        terms = told(arm, w, term, np.random.default_rng([4, seed]))
        pull = pull_request(case, w, term, told=terms, kind="recorded", rngs=rngs)
        cover = holds(w.space, term, pull.configurations)
        assert len(pull.configurations) == case.configurations and pull.planted == {term: case.size}
        assert cover.all() or pull.truth[~cover].max() < 0.02
        return float(cover.mean())

    right, none, misleading = (
        np.mean([shown(arm, seed) for seed in range(4)]) for arm in ("right", "none", "misleading")
    )
    assert right > 0.25 > 0.2 > max(none, misleading)
