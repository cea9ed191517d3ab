"""Entries that still describe their methods stay as they are, to the letter."""

from __future__ import annotations

import numpy as np

from bot.analysis.assertions.modelling import model
from bot.flows.assertions.asserting import describes, proposal
from bot.flows.assertions.mining_state import Mined
from bot.model.assertions import CallObservation, NamedPath
from bot.model.profiles import Method

READ = Method("read", "a.c")
LOAD: NamedPath = ("main", "load", "read")
SAVE: NamedPath = ("main", "save", "read")


def seen(
    fast: float = 1e-3, slow: float = 1e-2, *, seed: int = 1, more: NamedPath = LOAD
) -> list[CallObservation]:
    rng = np.random.default_rng(seed)
    return [
        CallObservation(
            n,
            n + 1,
            {
                LOAD: fast * rng.lognormal(0, 0.1, 200),
                SAVE: slow * rng.lognormal(0, 0.1, 100),
                more: fast * rng.lognormal(0, 0.1, 200),
            },
        )
        for n in range(4)
    ]  # fmt: skip


def mined(observations: list[CallObservation]) -> Mined:
    return Mined(models=[model("read", "a.c", observations)], observations={READ: observations})


def test_mining_the_same_again_changes_nothing_not_even_what_was_counted() -> None:
    first = proposal((), mined(seen()), revision="one")
    again = proposal(first.assertions, mined(seen(seed=2)), revision="two")
    assert len(first.new) == 1 and not again.differs and again.assertions == first.assertions


def test_a_machine_that_is_twice_as_slow_changes_nothing() -> None:
    first = proposal((), mined(seen()), revision="one")
    assert not proposal(first.assertions, mined(seen(2e-3, 2e-2)), revision="two").differs


def test_an_entry_whose_groups_behave_otherwise_is_changed() -> None:
    first = proposal((), mined(seen()), revision="one")
    other = proposal(first.assertions, mined(seen(1e-2, 1e-3)), revision="two")
    (entry,) = other.changed
    assert other.differs and entry.mined == "two" and entry.id == first.assertions[0].id


def test_an_entry_with_nothing_left_to_assert_is_gone() -> None:
    first = proposal((), mined(seen()), revision="one")
    alike = proposal(first.assertions, mined(seen(1e-3, 1e-3)), revision="two")
    assert alike.gone == first.assertions and alike.assertions == ()


def test_an_entry_of_a_method_that_was_not_mined_stays() -> None:
    first = proposal((), mined(seen()), revision="one")
    assert proposal(first.assertions, Mined(), revision="two").assertions == first.assertions


def test_calls_over_a_new_path_that_behave_otherwise_are_not_described() -> None:
    (entry,) = proposal((), mined(seen()), revision="one").assertions
    other = CallObservation(0, 1, {("main", "other", "read"): np.full(500, 1e-3)})
    assert describes(entry, seen()) and not describes(entry, [*seen(), other])
