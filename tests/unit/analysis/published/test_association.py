from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.published.association import Association, associate

COMMIT = 70


def _world(affected: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.float64]:
    """Likelihoods of 200 commits: affected configurations peak at `COMMIT`, the others at 20, or nowhere."""
    likelihoods = np.zeros((len(affected), 200))
    width = rng.integers(1, 8, len(affected))
    for row, (hit, w) in enumerate(zip(affected, width, strict=True)):
        centre = COMMIT if hit else 20
        if hit or row % 2:
            likelihoods[row, centre - w // 2 : centre + w // 2 + 1] = 1
    total = likelihoods.sum(axis=1, keepdims=True)
    return likelihoods / np.where(total > 0, total, 1)


def _design(rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.integers(0, 2, (120, 8)).astype(np.float64)


def test_the_option_whose_configurations_peak_is_associated() -> None:
    rng = np.random.default_rng(1)
    design = _design(rng)
    found = associate(COMMIT, design, _world(design[:, 3] > 0, rng))
    assert found == Association(COMMIT, (3,), False)


def test_both_options_of_an_interaction_are_associated() -> None:
    rng = np.random.default_rng(2)
    design = _design(rng)
    found = associate(COMMIT, design, _world((design[:, 1] > 0) & (design[:, 6] > 0), rng))
    assert found == Association(COMMIT, (1, 6), False)


def test_when_every_configuration_peaks_it_is_the_intercept() -> None:
    rng = np.random.default_rng(3)
    design = _design(rng)
    found = associate(COMMIT, design, _world(np.ones(120, dtype=bool), rng))
    assert found == Association(COMMIT, (), True)


def test_a_few_scattered_peaks_are_associated_with_nothing() -> None:
    rng = np.random.default_rng(4)
    design = _design(rng)
    affected = np.zeros(120, dtype=bool)
    affected[[3, 57]] = True
    assert associate(COMMIT, design, _world(affected, rng)) == Association(COMMIT, (), False)


def test_an_option_that_is_always_selected_is_no_obstacle() -> None:
    rng = np.random.default_rng(5)
    design = np.ones((120, 1))
    found = associate(COMMIT, design, _world(np.ones(120, dtype=bool), rng))
    assert found.everything


def test_small_spaces_have_associations_too() -> None:
    rng = np.random.default_rng(7)
    design = rng.integers(0, 2, (60, 2)).astype(np.float64)
    assert associate(COMMIT, design, _world(design[:, 1] > 0, rng)) == Association(COMMIT, (1,), False)
    assert associate(COMMIT, design, _world(design.min(axis=1) > 0, rng)) == Association(
        COMMIT, (0, 1), False
    )


def test_two_configurations_are_too_few() -> None:
    rng = np.random.default_rng(6)
    found = associate(COMMIT, np.eye(2), _world(np.ones(2, dtype=bool), rng))
    assert found == Association(COMMIT, (), False)
