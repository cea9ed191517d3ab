"""Changes that a history shows, from pairs and from trials alone."""

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.candidates import candidates
from bot.analysis.hindsight import condensed
from bot.analysis.past_changes import PastChange, past_changes
from bot.model.history import Measurements
from bot.model.space import Space
from tests.unit.analysis.pasts import nights, places
from tests.unit.analysis.worlds import flags, never, sample

SPACE = flags(6)
CHANGES = {3: (("a",), 0.06), 5: (("a",), -0.06), 8: (("b", "c"), 0.1), 10: ((), 0.04)}


def found(past: Measurements, space: Space = SPACE, count: int = 13) -> list[PastChange]:
    compared = condensed(past, "cpu", space, places(count))
    return list(past_changes(compared, candidates(space, compared.configurations, never)))


@pytest.mark.parametrize("duets", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_every_planted_change_is_found_with_its_term_place_and_size(duets: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    past = nights(SPACE, sample(SPACE, 32, rng), CHANGES, count=12, rng=rng, duets=duets)
    changes = found(past)
    assert [(c.place, c.term) for c in changes] == [(at, term) for at, (term, _) in CHANGES.items()]
    assert [c.size for c in changes] == pytest.approx([size for _, size in CHANGES.values()], abs=0.015)
    assert all(c.before == c.place - 1 for c in changes)
    assert all(sum(c.shares.values()) == pytest.approx(1.0, abs=0.1) for c in changes)


@pytest.mark.parametrize("duets", [True, False])
def test_a_program_that_never_changed_has_no_past_change(duets: bool) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        assert not found(
            nights(SPACE, sample(SPACE, 32, rng), {}, count=12, rng=rng, noise=0.03, duets=duets)
        )


def test_a_machine_that_gets_slower_every_night_is_no_change() -> None:
    rng = np.random.default_rng(1)
    past = nights(SPACE, sample(SPACE, 32, rng), {}, count=12, rng=rng, duets=False, drift=0.1)
    assert not found(past)


def test_revisions_that_are_not_on_the_line_say_nothing_of_changes() -> None:
    rng = np.random.default_rng(1)
    past = nights(SPACE, sample(SPACE, 32, rng), CHANGES, count=12, rng=rng)
    assert [c.place for c in found(past, count=6)] == [3, 5]
    assert not len(condensed(past, "cpu", SPACE, {"elsewhere": 0}))


def test_a_change_that_two_look_alikes_explain_is_shared_by_both() -> None:
    rng = np.random.default_rng(1)
    configurations = [c for c in sample(SPACE, 64, rng) if c[0] == c[1]]  # a and b always go together
    change = found(nights(SPACE, configurations, {3: (("a",), 0.06)}, count=5, rng=rng))[0]
    assert change.shares["a",] == pytest.approx(change.shares["b",])
    assert change.shares["a",] < 0.5


def test_a_history_without_measurements_has_no_past_change() -> None:
    assert not past_changes(
        condensed(Measurements.empty(), "cpu", SPACE, {}), candidates(SPACE, [(False,) * 6], never)
    )


@pytest.mark.parametrize("seed", range(2, 8))
def test_two_changes_of_one_revision_are_told_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    past = nights(SPACE, sample(SPACE, 32, rng), {3: (("a",), 0.08)}, count=3, rng=rng)
    after = np.array([r.revision == "r3" for r in past.revisions])[past.revision]
    held = np.array([bool(c["b"]) for c in past.configurations])[past.configuration]
    slower = replace(past, value=past.value * np.where(after & held, 1.05, 1.0))
    assert sorted((c.place, c.term) for c in found(slower)) == [(3, ("a",)), (3, ("b",))]


@pytest.mark.parametrize("duets", [True, False])
def test_trials_that_were_never_repeated_are_not_taken_for_exact(duets: bool) -> None:
    rng = np.random.default_rng(4)
    past = nights(SPACE, sample(SPACE, 32, rng), {}, count=20, rng=rng, noise=0.03, duets=duets, repeats=1)
    assert not found(past, count=21)


@pytest.mark.parametrize("seed", range(3))
def test_changes_in_most_of_the_differences_do_not_pass_for_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = (0.2, 0.15, 0.2, 0.15, 0.2, 0.05)
    changes = {at: ((name,), size) for at, (name, size) in enumerate(zip("abcdef", sizes, strict=True), 1)}
    past = nights(
        SPACE, sample(SPACE, 12, rng), changes, count=6, rng=rng, noise=0.005, duets=False, repeats=1
    )
    told = [(c.place, c.term) for c in found(past, count=7)]
    assert told[:5] == [(at, changes[at][0]) for at in range(1, 6)]


def test_a_change_too_small_to_be_proven_by_itself_is_found_where_its_term_changed_often() -> None:
    space, small = flags(12), ("b", "c")

    def known(often: tuple[str, ...], seed: int) -> bool:
        rng = np.random.default_rng(seed)
        changes = {2 * i + 1: (often, 0.1 * (-1) ** i) for i in range(8)} | {18: (small, 0.052)}
        past = nights(space, sample(space, 32, rng), changes, count=20, rng=rng, noise=0.02)
        return any((c.place, c.term) == (18, small) for c in found(past, space, count=21))

    assert [sum(known(often, seed) for seed in range(6)) for often in (small, ("a", "d"))] == [5, 3]


def test_what_a_change_does_to_each_configuration_besides_is_seldom_told_as_further_changes() -> None:
    space = flags(12)
    alone = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        changes = {3: ((), 0.25)}
        past = nights(space, sample(space, 24, rng), changes, count=5, rng=rng, noise=0.002, uneven=0.3)
        alone += [(c.place, c.term) for c in found(past, space)] == [(3, ())]
    assert alone >= 9


def test_no_term_has_two_steps_at_one_place() -> None:
    space, rng = flags(12), np.random.default_rng(10)
    past = nights(space, sample(space, 24, rng), {3: ((), 0.25)}, count=5, rng=rng, noise=0.002, uneven=0.3)
    told = [(c.place, c.term) for c in found(past, space)]
    assert len(told) == len(set(told))
