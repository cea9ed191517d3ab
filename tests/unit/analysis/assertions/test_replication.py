"""A model that half of the trials would not have found is none."""

from __future__ import annotations

from dataclasses import replace

from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.replication import replicated
from bot.model.assertions import CallObservation
from tests.unit.analysis.assertions.models import observations

LASTING = {"m>a>f": (400, 0.1), "m>b>f": (400, 0.9)}
OTHERWISE = {"m>a>f": (400, 0.9), "m>b>f": (400, 0.9)}


def turns(*seen: list[CallObservation]) -> list[CallObservation]:
    """One trial of each in turn, in the order of time."""
    return [
        replace(trial, start=float(i), end=i + 0.5)
        for i, trial in enumerate(trial for together in zip(*seen, strict=True) for trial in together)
    ]


def test_groups_that_every_half_of_the_trials_shows_are_a_model() -> None:
    seen = observations(LASTING)
    found = replicated("f", "f.c", seen)
    assert found == model("f", "f.c", seen)
    assert found is not None
    assert len(found.groups) == 2


def test_groups_of_which_half_of_the_trials_knows_nothing_are_none() -> None:
    mixed = turns(observations(LASTING, trials=5), observations(OTHERWISE, trials=5, seed=2))
    assert replicated("f", "f.c", mixed) is None


def test_the_order_in_which_trials_are_given_is_no_matter() -> None:
    mixed = turns(observations(LASTING, trials=5), observations(OTHERWISE, trials=5, seed=2))
    assert replicated("f", "f.c", mixed[::2] + mixed[1::2]) is None


def test_a_method_that_behaves_alike_over_all_paths_is_a_model_of_one_group() -> None:
    found = replicated("f", "f.c", observations({"m>a>f": (400, 0.4), "m>b>f": (400, 0.4)}))
    assert found is not None
    assert len(found.groups) == 1


def test_the_published_way_asks_for_no_second_look() -> None:
    mixed = turns(observations(LASTING, trials=5), observations(OTHERWISE, trials=5, seed=2))
    assert replicated("f", "f.c", mixed, estimator="published") is not None


def test_one_trial_cannot_be_halved_and_is_taken_as_it_is() -> None:
    assert replicated("f", "f.c", observations(LASTING, trials=1)) is not None
    assert replicated("f", "f.c", []) is not None
