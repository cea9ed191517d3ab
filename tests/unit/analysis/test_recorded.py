"""Of a table with noisy values each counts once: unchanged, nobody is alarmed, and changes are found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from bot.analysis.diagnose import Judgement, PairedEstimator
from bot.analysis.recorded import Recorded, recorded
from bot.analysis.recorded_moves import scattered
from bot.model.space import Configuration, Space, Term
from tests.unit.analysis.worlds import CPU, flags, never, planted, sample

MARGIN = math.log1p(0.01)
SPACE = flags(5)
Cells = dict[tuple[int, Configuration], Sequence[float]]


def table(
    effects: Mapping[Term, float],
    *,
    noise: float,
    seed: int,
    size: int = 32,
    revisions: int = 2,
    values: int = 1,
    space: Space = SPACE,
) -> Cells:
    """Cells of configurations of unlike costs; the last revision has the effects."""
    rng = np.random.default_rng(seed)
    configurations = sample(space, size, rng)
    costs = rng.normal(0.0, 0.3, len(configurations))
    truth = planted(space, effects, configurations)
    return {
        (revision, one): np.exp(
            costs[i] + truth[i] * (revision == revisions - 1) + noise * rng.normal(size=values)
        ).tolist()
        for revision in range(revisions)
        for i, one in enumerate(configurations)
    }


def judged(cells: Cells, known: Recorded | None, *, rounds: int = 1, space: Space = SPACE) -> Judgement:
    """What a pull request of the last revision against the one before says after rounds over all cells."""
    head = max(r for r, _ in cells)
    configurations = [c for r, c in cells if r == head]
    found = PairedEstimator(
        space=space,
        configurations=configurations,
        rules=CPU,
        false_alarms=0.01,
        equivalent=never,
        rng=np.random.default_rng(0),
        recorded=known,
    )
    for turn in range(rounds):
        for i, one in enumerate(configurations):
            base, new = cells[head - 1, one], cells[head, one]
            found.partial_fit(i, {"cpu": math.log(new[turn % len(new)] / base[turn % len(base)])})
    return found.judge()


def known_of(cells: Cells, *, counted: bool = False) -> Recorded | None:
    head = max(r for r, _ in cells)
    return recorded(cells, head - 1, head, margin=MARGIN, counted=counted)


@pytest.mark.parametrize("revisions", [2, 6])
@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_a_noisy_table_without_a_change_alarms_nobody_however_often_its_values_are_asked(
    revisions: int, noise: float
) -> None:
    for seed in range(30):
        cells = table({}, noise=noise, seed=seed, revisions=revisions)
        told = judged(cells, known_of(cells), rounds=10)
        assert told.verdict in ("none", "inconclusive")
        assert not told.options


@pytest.mark.parametrize("revisions", [2, 6])
@pytest.mark.parametrize("term", [("a",), ("a", "b"), ()])
def test_four_times_the_noise_is_found_in_an_option_a_pair_and_everything(term: Term, revisions: int) -> None:
    named = 0
    for seed in range(10):
        cells = table({term: 0.05}, noise=0.0125, seed=seed, revisions=revisions)
        told = judged(cells, known_of(cells), rounds=3)
        named += [e.term for e in told.options] == [term]
        assert all(e.term == term for e in told.options)
    assert named >= 7


def test_two_options_are_not_told_as_everything_where_only_the_comparison_shows_the_noise() -> None:
    for seed in range(10):
        cells = table({("a",): 0.05, ("b",): 0.05}, noise=0.01, seed=seed)
        assert () not in [e.term for e in judged(cells, known_of(cells)).options]


def test_one_wild_value_of_a_noisy_table_alarms_nobody() -> None:
    for seed in range(10):
        cells = table({}, noise=0.01, seed=seed, revisions=6, size=8, space=flags(3))
        wild = next(key for key in cells if key[0] == 5)
        cells[wild] = [cells[wild][0] * 1.3]
        told = judged(cells, known_of(cells), space=flags(3))
        assert told.verdict in ("none", "inconclusive")


@pytest.mark.parametrize("effects", [{}, {("a",): 0.03}, {("a", "b"): 0.03}, {(): 0.03}])
@pytest.mark.parametrize("revisions", [2, 6])
def test_an_exact_table_is_no_noisy_one(effects: Mapping[Term, float], revisions: int) -> None:
    assert known_of(table(effects, noise=0.0, seed=1, revisions=revisions)) is None


def test_values_that_hardly_differ_are_as_good_as_exact() -> None:
    assert known_of(table({("a",): 0.03}, noise=3e-4, seed=1)) is None


def test_an_exact_table_in_which_everything_takes_an_amount_longer_is_no_noisy_one() -> None:
    cells = table({}, noise=0.0, seed=1, revisions=4)
    cells |= {key: [cells[key][0] + 0.1] for key in cells if key[0] == 3}
    assert known_of(cells) is None


def test_the_noise_is_that_of_other_revisions_whatever_changed_in_some_of_them() -> None:
    cells = table({("a",): 0.2}, noise=0.02, seed=1, revisions=8)
    cells |= {key: [1.3 * cells[key][0]] for key in cells if key[0] >= 3}
    known = known_of(cells)
    assert known is not None
    assert known.freedom > 30
    assert known.noise == pytest.approx(0.02 * math.sqrt(2.0), rel=0.25)


def test_repeated_values_tell_the_noise_and_each_counts_once() -> None:
    cells = table({}, noise=0.02, seed=1, values=4)
    known = known_of(cells)
    assert known is not None
    assert set(known.most.values()) == {4}
    assert known.noise == pytest.approx(0.02 * math.sqrt(2.0), rel=0.3)
    assert {c.pairs for c in judged(cells, known, rounds=9).configurations} == {4}


def test_rounded_values_are_noise_although_many_move_alike() -> None:
    cells: Cells = {key: [round(v[0], 2)] for key, v in table({}, noise=0.01, seed=1).items()}
    assert known_of(cells) is not None


def test_counts_are_exact_until_their_repetitions_differ() -> None:
    assert known_of(table({}, noise=0.02, seed=1), counted=True) is None
    assert known_of(table({}, noise=0.02, seed=1, values=3), counted=True) is not None


def test_what_would_settle_a_noisy_table_is_more_values_and_no_more_time() -> None:
    cells = table({}, noise=0.03, seed=2, size=8, space=flags(3))
    told = judged(cells, known_of(cells), space=flags(3))
    assert told.verdict == "inconclusive"
    (note,) = [note for note in told.notes if "would settle it" in note]
    assert "values of each configuration and revision in the table (repeated rows) would settle it" in note
    assert "pairs" not in note


def test_the_note_says_how_noisy_and_from_where() -> None:
    alone = known_of(table({}, noise=0.02, seed=1))
    beside = known_of(table({}, noise=0.02, seed=1, revisions=6))
    assert alone is not None and beside is not None
    assert "nothing but this comparison shows how noisy perf is" in alone.note("perf")
    assert "other neighbouring revisions differ by" in beside.note("perf")
    assert "one value of each configuration and revision" in beside.note("perf")


def carried_on(cells: Cells, share: float, seed: int) -> Cells:
    """The same table where most values of each revision are those of the revision before."""
    rng = np.random.default_rng(seed)
    for revision, one in sorted(cells):
        if revision and rng.random() < share:
            cells[revision, one] = cells[revision - 1, one]
    return cells


@pytest.mark.parametrize("revisions", [2, 6])
@pytest.mark.parametrize("share", [0.6, 0.85])
def test_a_table_that_carries_most_noisy_values_on_alarms_nobody(revisions: int, share: float) -> None:
    for seed in range(12):
        cells = carried_on(table({}, noise=0.03, seed=seed, revisions=revisions), share, seed)
        told = judged(cells, known_of(cells))
        assert told.verdict in ("none", "inconclusive") and not told.options


@pytest.mark.parametrize(
    "effects",
    [
        {("a", "b"): 0.03, ("c", "d"): -0.05},
        {("a",): 0.03, ("b", "c"): -0.02},
        {("a", "b", "c"): 0.05},
    ],
)
def test_few_values_that_moved_are_a_change_where_they_are_those_of_one_or_two_terms(
    effects: Mapping[Term, float],
) -> None:
    configurations = sample(SPACE, 32, np.random.default_rng(2))
    moves = planted(SPACE, effects, configurations)
    moves *= np.random.default_rng(1).uniform(0.5, 1.5, 32)  # as amounts are: another share in each
    assert not scattered(configurations, moves, 0.002)
    anywhere = np.random.default_rng(3).permutation(moves)
    assert scattered(configurations, anywhere, 0.002)


def test_what_moved_everywhere_or_everywhere_but_in_the_default_is_no_noise() -> None:
    configurations = sample(SPACE, 32, np.random.default_rng(2))
    moves = np.random.default_rng(1).uniform(0.02, 0.05, 32)
    assert not scattered(configurations, moves, 0.002)
    moves[configurations.index((False,) * 5)] = 0.0
    assert not scattered(configurations, moves, 0.002)


def test_two_values_of_a_small_table_that_moved_opposite_ways_are_noise() -> None:
    configurations = sample(flags(3), 8, np.random.default_rng(2))
    moves = np.zeros(8)
    apart = [configurations.index(one) for one in ((True, False, False), (False, True, True))]
    moves[apart] = 0.03, -0.05
    assert scattered(configurations, moves, 0.002)
    assert not scattered(configurations, np.abs(moves), 0.002)


def test_a_value_that_was_measured_again_where_all_others_are_carried_on_alarms_nobody() -> None:
    cells = carried_on(table({}, noise=0.0, seed=1, size=8, space=flags(3)), 1.0, 1)
    alone = (1, (True, False, False))
    cells[alone] = [cells[alone][0] * 1.053]
    told = judged(cells, known_of(cells), rounds=60, space=flags(3))
    assert told.verdict in ("none", "inconclusive") and not told.options


def test_one_value_that_moved_is_a_change_where_it_alone_holds_a_pair_of_levels() -> None:
    configurations = [(False, False, False), (True, False, False), (False, True, False), (True, True, False)]
    moves = np.array([0.0, 0.0, 0.0, 0.05])
    assert not scattered(configurations, moves, 0.002)


def test_one_value_that_moved_is_a_change_where_other_revisions_are_exact() -> None:
    cells = table({("a", "b", "c"): 0.05}, noise=0.0, seed=1, size=8, space=flags(3), revisions=4)
    assert known_of(cells) is None
