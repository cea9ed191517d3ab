"""Which configurations are profiled."""

from __future__ import annotations

from bot.flows.methods.choice import Flagged, choose
from bot.model.report import ConfigurationChange, Effect, State
from bot.model.space import Configuration, Term
from tests.unit.analysis.worlds import flags

SPACE = flags(3)
DEFAULT, NEAR, QUICK, OTHER = (
    (False, False, False),
    (True, False, False),
    (True, False, True),
    (False, True, False),
)
SECONDS: dict[Configuration, float] = {DEFAULT: 1.0, NEAR: 3.0, QUICK: 2.0, OTHER: 1.5}


def change(configuration: Configuration, state: State) -> ConfigurationChange:
    return ConfigurationChange(
        options=SPACE.as_dict(configuration),
        metric="cpu",
        ratio=1.0,
        interval=(1.0, 1.0),
        pairs=6,
        state=state,
    )


def effect(*term: str) -> Effect:
    return Effect(
        term=term,
        metric="cpu",
        ratio=1.2,
        interval=(1.1, 1.3),
        probability=0.99,
        significant=True,
        relevant=True,
    )


def flagged(*terms: Term) -> Flagged:
    changes = {c: change(c, "same" if c == DEFAULT else "slower") for c in SECONDS}
    return Flagged(changes, [effect(*term) for term in terms], SECONDS)


def test_each_suspect_has_the_flagged_configuration_nearest_to_the_default() -> None:
    assert choose(SPACE, flagged(("a",), ("b",))) == ([NEAR, OTHER], DEFAULT)


def test_where_little_time_is_left_the_quickest_one_of_the_first_suspect_is_chosen() -> None:
    assert choose(SPACE, flagged(("a",), ("b",)), short=True) == ([QUICK], DEFAULT)
