"""What a night could not settle is told with all that may carry it."""

from __future__ import annotations

import numpy as np

from bot.flows.nights.doubts import carriers
from bot.flows.nights.search import NightSearch
from bot.flows.nights.telling import Telling
from bot.flows.nights.window import Window
from bot.flows.ranges.telling import spoken
from bot.model.change_points import Observation, Probe
from bot.model.revisions import Revision
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(n, "flag", (False, True), False) for n in "abcdef"))
LINE = [Revision(f"{i:040x}", f"v{i}") for i in range(31)]


def night_of(trials: int, *, slow: str) -> NightSearch:
    """A night of so many trials at most; from v15 on, what has all of these options takes 20 % longer."""
    night = NightSearch(SPACE, Window(31), ConstraintSolver(SPACE), rng=np.random.default_rng(1))
    rng, places = np.random.default_rng(2), ["abcdef".index(name) for name in slow]
    while trials > 0 and (wishes := night.wishes()):
        asked: list[Probe] = list(wishes)[:trials]
        trials -= len(asked)
        moved = [p.revision >= 15 and all(p.configuration[n] for n in places) for p in asked]
        night.partial_fit(
            [
                Observation(p, float(rng.lognormal(0.0, 0.01)) * (1.2 if m else 1.0))
                for p, m in zip(asked, moved, strict=True)
            ]
        )
    return night


def test_after_a_few_trials_a_change_may_be_anybodys() -> None:
    night = night_of(22, slow="ab")
    (step,) = night.unclear_
    assert carriers(night.model_, step, 31)[1]
    lists = {one.kind: one.items for one in Telling(night, LINE, "cpu").lists({})}
    assert " or something else may be slower since " in lists["unclear"][0]
    assert lists["tomorrow"][0].startswith("Ask again whether ")
    assert " or something else moved at " in lists["tomorrow"][0]


def test_where_a_change_began_is_one_of_several_revisions_until_it_is_known() -> None:
    night = night_of(22, slow="ab")
    (step,) = night.unclear_
    assert step.low < step.high
    (said,) = next(one.items for one in Telling(night, LINE, "cpu").lists({}) if one.kind == "unclear")
    assert said.endswith(f" since one of `v{step.low}` to `v{step.high}`.")


def test_a_long_term_is_one_that_a_person_can_read() -> None:
    levels = ("a", "!b", "c", "d")
    assert [spoken(levels[:n]) for n in (0, 1, 2, 4)] == [
        "everything",
        "`a`",
        "`a` with `b` off",
        "`a` with `b` off, `c` and `d`",
    ]


def test_a_term_that_merely_lists_whom_the_night_measured_is_not_named() -> None:
    night = night_of(40, slow="abcdef")
    (step,) = night.unclear_
    terms, more = carriers(night.model_, step, 31)
    assert len(terms[0]) > 3 and more
    lists = {one.kind: one.items for one in Telling(night, LINE, "cpu").lists({})}
    where = f"one of `v{step.low}` to `v{step.high}`."
    assert lists["unclear"][0] == f"some configurations may be slower since {where}"
    assert lists["tomorrow"][0] == f"Ask again whether some configurations moved at {where}"


def test_once_a_term_is_known_nobody_else_is_suspected() -> None:
    night = night_of(1000, slow="ab")
    (step,) = night.model_.steps
    terms, more = carriers(night.model_, step, 31)
    assert [{str(level) for level in term} for term in terms] == [{"a", "b"}] and not more
