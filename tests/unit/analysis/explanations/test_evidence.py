"""Odds, scores, sizes and surprise against the same by multivariate normal densities."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bot.analysis.change_points.terms import Terms
from bot.analysis.explanations.afresh import worth
from bot.analysis.explanations.cells import Cells, Floats, Table, robust_deviation
from bot.analysis.explanations.evidence import COARSE, Evidence, Kinds
from bot.analysis.explanations.findings import Look
from bot.analysis.explanations.learning import learn
from bot.analysis.explanations.scales import Scales
from bot.model.space import Option, Space

SPACE = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(3)))
TERMS = Terms(SPACE, possible=lambda _: True, equivalent=lambda a, b: a == b)
ON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=np.float64)
HOLDS = np.array([[SPACE.holds(x, tuple(map(bool, row))) for x in TERMS.levels] for row in ON])
SCALES = Scales(noise=0.02, lively=1.0, unit=2.0)


def measured(revisions: int = 8, *, moved: float = 0.0, noise: float = 0.02, repeats: int = 1) -> Table:
    """All configurations at all revisions; `o0` moves at the fifth."""
    rng, cells = np.random.default_rng(3), Cells()
    for c, row in enumerate(ON):
        for r in range(revisions):
            for _ in range(repeats):
                seconds = 2.0 + row.sum() + moved * row[0] * (r >= 5)
                cells.add((c, r), seconds * (1.0 + noise * float(rng.standard_normal())))
    return cells.table()


def evidence(table: Table, scales: Scales = SCALES) -> Evidence:
    kinds = Kinds.of(TERMS)
    levels = np.array([table.levels()[c] for c in range(len(ON))]) / scales.unit
    design = kinds.design(TERMS.covers(HOLDS), levels)
    return Evidence(table, kinds, scales, on=ON, design=design, expected=2.0, revisions=8)


def look_at(found: Evidence) -> Look:
    """Nothing is believed yet."""
    usable = np.ones((len(ON), found.revisions), dtype=bool)
    return Look([], np.zeros(len(found)), [], found, TERMS, HOLDS, usable, 0.0)


def density(found: Evidence, chosen: list[int]) -> float:
    """Log posterior of an explanation by the density of the trials, but for a constant."""
    y = (found.table.value - found.table.value.mean()) / found.scales.unit
    x = found.columns(np.array(chosen, dtype=np.intp)).astype(np.float64)
    covariance = found.scales.covariance(found.table, ON) / COARSE + found.scales.slab**2 * x @ x.T
    return float(multivariate_normal.logpdf(y, np.zeros(len(y)), covariance)) + float(
        found.log_prior[chosen].sum()
    )


@pytest.mark.parametrize("chosen", [[], [20], [20, 75], [3, 20, 90]])
def test_odds_and_scores_are_ratios_of_marginal_likelihoods(chosen: list[int]) -> None:
    found = evidence(measured(moved=0.5))
    nothing = density(found, [])
    assert found.score(chosen) == pytest.approx(density(found, chosen) - nothing, abs=0.02)
    odds = found.odds(chosen)
    for candidate in (0, 8, 41, 110):
        more = density(found, [*chosen, candidate]) - density(found, chosen)
        assert odds[candidate] == pytest.approx(more, abs=0.02)
    assert all(odds[j] == -np.inf for j in chosen)


@pytest.mark.parametrize("others", [[], [21], [3, 90]])
def test_a_step_of_the_least_size_has_the_odds_that_were_asked_for(others: list[int]) -> None:
    table = measured(noise=0.0)
    found = evidence(table)
    for candidate in (20, 41, 110):
        size = found.least(others, 3.0)[candidate]
        moved = found.columns(np.array([candidate]))[:, 0] * size * found.scales.unit
        there = evidence(replace(table, value=table.value + moved))
        assert there.odds(others)[candidate] == pytest.approx(3.0, abs=0.1)


def test_steps_of_one_revision_move_as_if_they_went_in_different_directions() -> None:
    found = evidence(measured())
    whole, option = found.candidate(0, 5), found.candidate(1 + TERMS.levels.index(SPACE.level_of["o0"]), 5)
    moved = found.moved([whole, option], np.array([0.3, -0.4]))
    assert moved.shape == (len(ON), 8) and not np.delete(moved, 5, axis=1).any()
    assert moved[:, 5] == pytest.approx([0.3, 0.5, 0.3, 0.5])


def test_the_size_of_a_step_is_what_was_added_in_units() -> None:
    table = measured(moved=0.5, noise=0.001)
    found = evidence(table, Scales(noise=0.001, lively=0.1, unit=2.0))
    candidate = found.candidate(1 + TERMS.levels.index(SPACE.level_of["o0"]), 5)
    assert int(np.argmax(found.odds([]))) == candidate and found.stretch(candidate) == (5, 5)
    mean, covariance = found.sizes([candidate])
    assert mean[0] == pytest.approx(0.25, abs=4.0 * covariance[0, 0] ** 0.5)


def test_surprise_is_the_distance_from_what_all_other_cells_let_expect() -> None:
    found = evidence(measured(moved=0.5))
    chosen = [found.candidate(1, 5)]
    x = found.columns(np.array(chosen)).astype(np.float64)
    covariance = found.scales.covariance(found.table, ON) / COARSE + found.scales.slab**2 * x @ x.T
    y = (found.table.value - found.table.value.mean()) / found.scales.unit
    for i in (0, 13, 31):
        rest = np.delete(np.arange(len(y)), i)
        weights = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
        variance = covariance[i, i] - weights @ covariance[rest, i]
        expected = (y[i] - weights @ y[rest]) / np.sqrt(variance)
        assert found.surprise(chosen)[i] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("noise", [0.001, 0.01, 0.04])
def test_the_noise_of_a_trial_is_learned(noise: float) -> None:
    table = measured(noise=noise, repeats=2)
    none: Floats = np.zeros((len(table.value), 0))
    learned = learn(Scales(unit=2.0), table, ON, steps=none, sizes=np.zeros(0))
    assert noise / 2.5 <= learned.noise <= noise * 2.5


@pytest.mark.parametrize("factor", [1.0, 6.0])
def test_an_option_that_makes_trials_noisier_is_learned(factor: float) -> None:
    on = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 1]], dtype=np.float64)
    rng, cells = np.random.default_rng(5), Cells()
    for (c, row), r, _ in product(enumerate(on), range(12), range(2)):
        cells.add((c, r), (2.0 + row.sum()) * (1.0 + 0.01 * factor ** row[1] * float(rng.standard_normal())))
    scales = Scales(unit=2.0)
    for _ in range(2):  # one scale after the other: what one took for its own is given back at the next look
        scales = learn(scales, cells.table(), on, steps=np.zeros((72, 0)), sizes=np.zeros(0))
    _, one, other, _, noisy, _ = scales.noises(on)
    assert one == other == scales.noise <= 0.02
    assert noisy == pytest.approx(0.01 * factor, rel=0.5)


@pytest.mark.parametrize(("back", "noisy"), [(False, False), (True, True)])
def test_where_values_repeat_an_option_whose_configurations_moved_once_and_stayed_is_not_noisy(
    back: bool, noisy: bool
) -> None:
    on = np.array([[0, 0], [1, 0], [1, 0], [1, 0], [0, 1], [1, 1]], dtype=np.float64)
    rng, cells = np.random.default_rng(5), Cells(repeats=False)
    for c, row in enumerate(on):
        for r in range(4) if row[1] else range(12):
            moved = 0.6 * row[1] * (r % 2 if back else r >= 2)
            cells.add((c, r), 2.0 * (1.0 - moved) * (1.0 + 0.03 * float(rng.standard_normal())))
    table = cells.table()
    none: Floats = np.zeros((len(table.value), 0))
    noises = learn(Scales(unit=2.0), table, on, steps=none, sizes=np.zeros(0)).noises(on)
    assert bool(noises[4] > noises[0]) is noisy


@pytest.mark.parametrize(("scatter", "noisy"), [(None, False), (0.01, False), (0.3, True)])
def test_an_option_is_noisy_when_second_trials_of_its_cells_scatter(
    scatter: float | None, noisy: bool
) -> None:
    on = np.array([[0, 0], [1, 0], [1, 0], [1, 0], [0, 1], [1, 1]], dtype=np.float64)
    rng, cells = np.random.default_rng(5), Cells()
    for (c, row), r in product(enumerate(on), range(8)):
        value = 2.0 * (1.0 - 0.5 * row[1] * (r % 2)) * (1.0 + 0.01 * float(rng.standard_normal()))
        cells.add((c, r), value)
        if row[1] and scatter and r < 3:
            cells.add((c, r), value * (1.0 + scatter * float(rng.standard_normal())))
    table = cells.table()
    none: Floats = np.zeros((len(table.value), 0))
    learned = learn(Scales(unit=2.0), table, on, steps=none, sizes=np.zeros(0))
    assert bool(learned.noises(on)[4] > learned.noises(on)[0]) is noisy
    assert 1 in learned.suspected


def test_noise_is_not_taken_for_changes_below_the_threshold() -> None:
    table = measured(noise=0.0005)
    none: Floats = np.zeros((len(table.value), 0))
    learned = learn(Scales.for_changes(0.05), table, ON, steps=none, sizes=np.zeros(0))
    assert learned.lively == 1.5


def test_how_uneven_steps_are_is_learned() -> None:
    moves, after = np.array([0.0, 0.6, 0.0, 0.3]), (np.arange(8) >= 5).astype(np.float64)
    cells = Cells()
    for c, row in enumerate(ON):
        for r in range(8):
            cells.add((c, r), 2.0 + row.sum() + moves[c] * after[r] + 0.001 * ((c + 3 * r) % 4))
    for table, uneven in ((cells.table(), 0.4), (measured(moved=0.4), 0.0)):
        steps = (ON[:, 0][table.configuration] * after[table.revision])[:, None]
        known = 0.225 * ON[:, :1] * (np.arange(8) == 5)
        learned = learn(SCALES, table, ON, steps=steps, sizes=np.array([0.225]), moved=known)
        assert learned.uneven == uneven


def test_a_large_step_widens_what_is_expected_of_sizes() -> None:
    table = measured(moved=4.0)
    found = evidence(table)
    steps = found.columns(np.array([found.candidate(1, 5)])).astype(np.float64)
    learned = learn(SCALES, table, ON, steps=steps, sizes=np.array([2.0]))
    assert learned.slab == pytest.approx(0.8)


def test_a_cell_that_gives_the_same_figure_again_needs_no_repetition() -> None:
    cells = Cells()
    cells.add((0, 1), 2.0)
    before = cells.repeats
    cells.add((0, 1), 2.0)
    assert (before, cells.repeats, cells.count((0, 1))) == (True, False, 1)


def test_an_odd_cell_is_doubted_until_its_median_can_be_trusted() -> None:
    cells = Cells(anchor=2)
    cells.add((0, 1), 2.0)
    cells.odd = {(0, 1)}
    assert cells.table().doubt.tolist() == [100.0, 1.0] and cells.table().count.tolist() == [1, 0]
    cells.add((0, 1), 5.0)
    cells.add((0, 1), 2.2)
    assert cells.table().doubt.tolist() == [1.0, 1.0] and cells.table().value.tolist() == [2.2, 1.0]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 8, 12])
def test_the_deviation_of_few_trials_is_unbiased_and_one_spoilt_trial_does_not_matter(n: int) -> None:
    drawn = np.random.default_rng(n).standard_normal((4000, n))
    assert np.mean([robust_deviation(row) for row in drawn]) == pytest.approx(1.0, abs=0.04)
    if n >= 5:
        drawn[:, 0] = 1000.0
        assert np.mean([robust_deviation(row) for row in drawn]) < 2.0


def test_a_cell_whose_trials_disagree_counts_less_than_the_others() -> None:
    cells = Cells()
    for r, values in enumerate([(1.0, 1.01, 0.99), (1.0, 1.4, 3.0)]):
        for value in values:
            cells.add((0, r), value)
    table = cells.table()
    steady, shaken = np.diag(SCALES.covariance(table, ON)) - SCALES.covariance(table, ON)[0, 0]
    assert steady == 0.0 and shaken > 0.01


@pytest.mark.parametrize("relative", [False, True])
def test_a_density_of_seconds_is_the_same_in_whatever_unit_they_are_told(relative: bool) -> None:
    def worth_of(factor: float) -> float:
        cells = Cells(relative=relative)
        for c, row in enumerate(ON):
            for r in range(8):
                cells.add((c, r), factor * (2.0 + row.sum() + 0.5 * row[0] * (r >= 5) + 0.02 * (c * r % 3)))
        table = cells.table()
        scales = replace(SCALES, unit=1.0 if relative else 2.0 * factor)
        found = evidence(table, scales)
        density = worth(found, [20], ON, scales=scales, moved=None, in_seconds=True)
        return density + len(table.value) * math.log(factor)

    assert worth_of(1.0) == pytest.approx(worth_of(50.0), abs=1e-3)


def test_in_a_relative_table_all_levels_are_one_and_a_move_is_a_logarithm() -> None:
    cells = Cells(relative=True)
    for c, r, seconds in ((0, 0, 2.0), (0, 1, 4.0), (1, 0, 300.0)):
        cells.add((c, r), seconds)
    table = cells.table()
    assert table.levels() == {0: 1.0, 1: 1.0} and table.level().tolist() == [1.0] * 3
    assert table.ratio(float(table.value[1] - table.value[0])) == pytest.approx(2.0)
    cells.add((1, 1), 0.0)
    assert cells.table().value.tolist() == [2.0, 4.0, 300.0, 0.0]
