from dataclasses import replace

import numpy as np

from bot.analysis.influences.explaining import TermInfluence
from bot.analysis.influences.learning import InfluenceModels
from bot.analysis.influences.telling import entries, notes
from tests.unit.analysis.influences.programs import Program, drawn, measured

FOUND = TermInfluence("m", ("a",), 1.0, (0.6, 1.4), 0.4, 0.05, float("nan"))


def test_only_influences_that_are_surely_there_are_told() -> None:
    unsure = replace(FOUND, term=("b",), interval=(-0.5, 2.5))
    perhaps = replace(FOUND, term=("c",), interval=(0.4, 1.6))
    mean = replace(FOUND, term=(), interval=(-0.1, 2.0))
    told = entries([mean, FOUND, unsure, perhaps], "instructions")
    assert [i.term for i in told] == [(), ("a",)]
    assert told[0].noise_floor is None
    assert told[0].quantity == "instructions"


def of_two(other: str) -> tuple[str, ...]:
    """Notes on a method that is easy to learn and on one of this name that is none."""
    rng = np.random.default_rng(1)
    program: Program = {
        "easy": {"seconds": lambda c: 2.0 if c["compress"] else 1.0},
        other: {"seconds": lambda _: float(np.exp(rng.normal(0, 1.5)))},
    }
    sample = measured(drawn(60, rng), program, noise=0.01, rng=rng)
    probe = measured(drawn(30, rng), program, noise=0.01, rng=rng)
    return notes(InfluenceModels(rng=rng).fit(sample, probe))


def test_what_stands_for_the_rest_is_no_method_that_could_be_learnt() -> None:
    told = of_two("")
    assert told[0].startswith("Influence models: 1 of 1 methods")
    assert "``" not in told[1]


def test_notes_name_what_was_not_learnt_and_how_far_off_it_is() -> None:
    told = of_two("erratic")
    assert told[0].startswith("Influence models: 1 of 2 methods")
    assert "60 configurations; errors are those on 30 held-out random ones" in told[0]
    assert "the whole program (error" in told[1]
    assert "`erratic` (error" in told[1]
    assert "easy" not in told[1]
