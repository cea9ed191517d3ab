"""Where a budget was too small because of a few configurations, a reader is told which."""

from __future__ import annotations

from itertools import product

from bot.flows.pull_requests.costly import costly
from bot.model.space import Configuration

NAMES = ("output", "input", "clean")
SPACE: list[Configuration] = list(product(("html", "xml"), ("book", "word"), (False, True)))


def costs(quick: float, slow: float) -> dict[Configuration, float]:
    """Seconds of a trial; XML of the book is slow."""
    more = [("xml", "book", "a"), ("xml", "book", "b"), ("html", "word", "c"), ("html", "book", "d")]
    more += [("xml", "word", letter) for letter in "efgh"]
    return {c: slow if c[:2] == ("xml", "book") else quick for c in (*SPACE, *more)}


def test_the_levels_that_the_costly_ones_share_are_named_with_what_they_cost() -> None:
    (note,) = costly(costs(0.04, 6.0), NAMES)
    assert note == (
        "A few configurations take most of the time: a trial takes 6.0 s with `output=xml` and `input=book`, "
        "and 40 ms in the median of the others. A smaller input for these, or a constraint that leaves them "
        "out, makes room for the rest."
    )


def test_too_few_to_name_levels_are_counted() -> None:
    few = {c: cost for c, cost in costs(0.04, 6.0).items() if c[2] in (False, "c", "d")}
    (note,) = costly(few, NAMES)
    assert "a trial takes 6.0 s in 1 of 6 configurations, and 40 ms" in note


def test_nothing_is_said_where_no_configuration_stands_out() -> None:
    assert costly({}, NAMES) == ()
    assert costly(costs(0.04, 0.1), NAMES) == ()
    rare = dict.fromkeys(SPACE, 0.04) | {("xml", "book", str(n)): 0.04 for n in range(50)}
    assert costly(rare | {SPACE[0]: 0.4}, NAMES) == ()
