"""Explanations that are drawn, what they make worth measuring, and what is told of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from bot.analysis.explanations.cells import Cells, Floats
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.findings import Found, Look, steps_of
from bot.analysis.explanations.telling import told
from bot.analysis.explanations.wordings import agreement, kinship
from bot.analysis.explanations.worth import Contrasts, most_telling
from bot.model.space import Level
from tests.unit.analysis.explanations.test_evidence import HOLDS, ON, TERMS, evidence, look_at, measured

OPTION = Level("o0", "on")
ABSENT = Level("o0", "off", False)
USABLE = np.ones((len(HOLDS), 8), dtype=bool)


class Fixed(Ensemble):
    """One explanation, of which all are sure."""

    def __init__(self, table: Evidence, best: list[int]) -> None:
        self.best_ = best
        self.mass_ = np.zeros(len(table))
        self.mass_[best] = 1.0
        self._visited, self._rng = [tuple(best)], np.random.default_rng(0)


def test_the_step_that_was_put_in_is_in_most_explanations_and_told() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    ensemble = Ensemble(np.random.default_rng(1))
    for _ in range(3):
        ensemble.look(table)
    steps = steps_of(Look.of(ensemble, table, TERMS, holds=HOLDS, usable=USABLE))
    (point,) = told(steps, look_at(table), 8)
    assert (point.revision, point.term, point.interval) == (5, ("o0",), (5, 5))
    low, high = point.ratio_interval
    assert low < 1.0 + 0.8 / 4.0 < high and point.probability > 0.9 and point.shape == "step"


def test_where_nothing_moved_nothing_is_told() -> None:
    table = evidence(measured(repeats=3))
    ensemble = Ensemble(np.random.default_rng(1))
    for _ in range(3):
        ensemble.look(table)
    steps = steps_of(Look.of(ensemble, table, TERMS, holds=HOLDS, usable=USABLE))
    assert not told(steps, look_at(table), 8)


def test_the_same_seed_draws_the_same_explanations() -> None:
    table = evidence(measured(moved=0.3))
    one, other = Ensemble(np.random.default_rng(5)), Ensemble(np.random.default_rng(5))
    one.look(table)
    other.look(table)
    assert one.best_ == other.best_ and one.draws(table, 9) == other.draws(table, 9)


def test_an_absent_option_is_told_as_the_option_where_everything_moves_too() -> None:
    table = evidence(measured(moved=0.8, repeats=3))

    best = [table.candidate(0, 5), table.candidate(1 + TERMS.levels.index(ABSENT), 5)]
    whole, option = steps_of(Look.of(Fixed(table, best), table, TERMS, holds=HOLDS, usable=USABLE))
    assert (whole.term, option.term) == ((), (OPTION,))
    before, _ = table.sizes(best)
    assert whole.size == pytest.approx(before.sum()) and option.size == pytest.approx(-before[1])


def test_two_names_of_one_step_are_clear_together_where_no_trial_tells_one_from_the_other() -> None:
    cells = Cells()
    usable = USABLE.copy()
    usable[ON[:, 0] > 0, 4:] = False  # from there on the option fails: its absence is all that works
    for c, r in np.argwhere(usable):
        cells.add((int(c), int(r)), 2.0 + float(ON[c].sum()) + 0.8 * (r >= 5))
    table = evidence(cells.table())
    best = [table.candidate(0, 5), table.candidate(1 + TERMS.levels.index(ABSENT), 5)]
    steps = steps_of(Look.of(Fixed(table, best), table, TERMS, holds=HOLDS, usable=usable))
    assert [(step.term, step.clear) for step in steps] == [((), True)] * 2


def table_of(moved: Callable[[bool, int], float]) -> Evidence:
    """What holds and does not hold `o0` takes so much longer at each revision."""
    cells, rng = Cells(), np.random.default_rng(4)
    for c, row in enumerate(ON):
        for r in range(8):
            seconds = 2.0 + row.sum() + moved(bool(row[0]), r)
            cells.add((c, r), seconds * (1.0 + 0.02 * float(rng.standard_normal())))
    return evidence(cells.table())


def test_the_end_of_a_slow_stretch_agrees_with_other_words_for_it_not_with_the_beginning() -> None:
    table = table_of(lambda on, r: 0.8 * (on and 3 <= r < 5))
    option, absent = (1 + TERMS.levels.index(level) for level in (OPTION, ABSENT))
    best = [table.candidate(option, 3), table.candidate(0, 5), table.candidate(absent, 5)]
    other = [table.candidate(option, 3), table.candidate(option, 5)]
    assert agreement(best, [other], table, usable=USABLE, least=0.02).tolist() == [1.0, 1.0, 1.0]


def test_explanations_agree_where_they_move_the_same_in_whatever_terms() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    option, absent, other = (
        table.candidate(1 + TERMS.levels.index(level), 5) for level in (OPTION, ABSENT, Level("o1", "on"))
    )
    reworded, everything = [table.candidate(0, 5), absent], [table.candidate(0, 5)]
    shares = agreement([option], [reworded, [other], everything, []], table, usable=USABLE, least=0.02)
    assert shares.tolist() == [0.25]
    assert agreement([option], [[option]], table, usable=~USABLE, least=0.02).tolist() == [0.0]


def test_kin_are_steps_of_the_same_options_or_of_more_next_to_a_step_in_its_direction() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    pair = TERMS.number((OPTION, Level("o1", "on")))
    assert pair is not None
    option = table.candidate(1 + TERMS.levels.index(OPTION), 5)
    other = table.candidate(1 + TERMS.levels.index(Level("o1", "on")), 5)
    more, away = table.candidate(pair, 5), table.candidate(pair, 1)
    assert table.sizes([more])[0][0] > 0.0
    assert kinship([option], [[more], [other], [away], []], table).tolist() == [0.25]
    assert kinship([more], [[option], [more]], table).tolist() == [0.5]


@pytest.mark.parametrize(
    ("probability", "kin", "named"), [(0.7, 0.96, True), (0.7, 0.9, False), (0.4, 1.0, False)]
)
def test_a_name_that_is_at_worst_too_short_is_told_with_its_own_probability(
    probability: float, kin: float, named: bool
) -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    step = Found(
        (OPTION,), False, at=5, low=5, high=5, size=0.8, clarity=50.0, probability=probability, kinship=kin
    )
    points = told([step], look_at(table), 8)
    assert [p.probability for p in points] == [probability] * named and not step.sure


def test_the_most_telling_contrasts_are_those_of_exact_gaussian_conditioning() -> None:
    rng = np.random.default_rng(2)
    expected = rng.standard_normal((400, 3, 5)).astype(np.float32)
    expected[:, 1] = expected[:, 0] + 0.1 * expected[:, 1]  # two that say nearly the same
    rows = [(c, 0, r) for c in range(3) for r in range(1, 5)]
    c, before, after = (np.array(column, dtype=np.intp) for column in zip(*rows, strict=True))
    blur = np.full(len(rows), 0.5)
    asked = np.array([[False], [True]]).repeat(len(rows), axis=1)
    offered = Contrasts(c, np.stack([before, after]), asked, blur)
    differ = (expected[:, c, after] - expected[:, c, before]).astype(np.float64)
    covariance = np.cov(differ.T, bias=True)
    for number, worth in most_telling(expected, offered, 5):
        information = 0.5 * np.log1p(np.diag(covariance) / blur)
        assert number == int(np.argmax(information)) and worth == pytest.approx(information.max(), rel=1e-3)
        column = covariance[:, number]
        covariance = covariance - np.outer(column, column) / (column[number] + blur[number])


@pytest.mark.parametrize(
    ("sizes", "shapes"),
    [
        ({3: 0.2, 4: -0.2}, ["transient", "transient"]),
        ({2: 0.2, 3: 0.2, 4: -0.2}, ["step", "transient", "transient"]),
        ({3: 0.2, 4: -0.2, 5: -0.2}, ["transient", "transient", "step"]),
        ({2: 0.6, 3: 0.2, 4: -0.6}, ["transient", "step", "transient"]),
    ],
)
def test_a_step_that_another_undoes_soon_is_transient_and_each_undoes_only_one(
    sizes: dict[int, float], shapes: list[str]
) -> None:
    table = evidence(measured(repeats=3))
    steps = [
        Found(
            (OPTION,),
            share=False,
            at=at,
            low=at,
            high=at,
            size=size,
            clarity=abs(size) / 0.001,
            probability=1.0,
        )
        for at, size in sizes.items()
    ]
    assert [point.shape for point in told(steps, look_at(table), 8)] == shapes


def test_seconds_and_a_share_of_the_level_at_once_are_told_as_one_change() -> None:
    table = evidence(measured(repeats=3))
    steps = [
        Found((OPTION,), share=share, at=5, low=5, high=5, size=0.1, clarity=50.0, probability=1.0)
        for share in (False, True)
    ]
    (point,) = told(steps, look_at(table), 8)
    alone = [told([step], look_at(table), 8)[0].ratio for step in steps]
    assert point.ratio > 1.1 and min(alone) < point.ratio
    low, high = point.ratio_interval
    assert low < point.ratio < high


def test_an_option_that_moves_alone_is_told_alone_in_whatever_kinds_its_absence_was_found() -> None:
    level = TERMS.levels.index(ABSENT)
    table = evidence(measured(moved=0.8, repeats=3))

    best = [table.candidate(0, 5), table.candidate(len(TERMS) + 1 + level, 5)]
    steps = steps_of(Look.of(Fixed(table, best), table, TERMS, holds=HOLDS, usable=USABLE))
    assert [(p.term, p.ratio > 1.1) for p in told(steps, look_at(table), 8)] == [(("o0",), True)]


def test_a_change_is_clear_where_only_its_seconds_and_its_share_cannot_be_told_apart() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    kind = 1 + TERMS.levels.index(OPTION)
    best = [table.candidate(kind, 5), table.candidate(len(TERMS) + kind, 5)]
    sizes, covariance = table.sizes(best)
    assert (np.abs(sizes) < 4.0 * np.sqrt(np.diag(covariance))).any()
    steps = steps_of(Look.of(Fixed(table, best), table, TERMS, holds=HOLDS, usable=USABLE))
    assert all(step.clear for step in steps)
    (point,) = told(steps, look_at(table), 8)
    low, high = point.ratio_interval
    assert low < 1.0 + 0.8 / 4.0 < high


class Rounded(Evidence):
    """Evidence whose rounding leaves the covariance of sizes without a root."""

    def __init__(self, exact: Evidence) -> None:
        self.__dict__ |= vars(exact)

    def sizes(self, chosen: Sequence[int]) -> tuple[Floats, Floats]:
        mean, covariance = super().sizes(chosen)
        return mean, covariance - (np.linalg.eigvalsh(covariance)[0] + 1e-12) * np.eye(len(mean))


def test_sizes_are_drawn_where_rounding_leaves_no_root() -> None:
    table = Rounded(evidence(measured(moved=0.8, repeats=3)))
    step = table.candidate(1 + TERMS.levels.index(OPTION), 5)
    for drawn in Fixed(table, [step]).draws(table, 20):
        assert drawn and all(np.isfinite(size) for _, size in drawn)
