"""What a history's nights know of a line, as a pull request tells it of its base."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.diagnose import Rule
from bot.analysis.past_changes import NamedChanges, PastChange
from bot.compose.named_changes import named_by_nights
from bot.flows.history.base_state import BaseState
from bot.flows.history.experience import expected
from bot.flows.night import night
from bot.flows.nights.known_changes import known_changes
from bot.flows.nights.past import nights
from bot.flows.nights.search import NightSearch
from bot.flows.nights.window import Window
from bot.model.history import Measurements
from bot.model.revisions import Revision
from bot.sampling.constraints import ConstraintSolver
from tests.flows.nights import SUBJECT, MemoryStore, Moving, job

LINE = [f"id{place}" for place in range(64)]
RULE = Rule("cpu", "lower", 0.01)


def history(program: Moving) -> tuple[MemoryStore, list[tuple[tuple[str, ...], float]]]:
    """Three nights, and what the last one told."""
    store = MemoryStore()
    for number, tip in enumerate((40, 52, 63)):
        report = night(job(program, store, tip, number=number, duets=True))
    return store, [(point.term, point.ratio) for point in report.change_points]


def told(past: Measurements) -> tuple[BaseState, BaseState]:
    """The state of base by its trials alone, and as nights name it."""
    places, solver = {revision: i for i, revision in enumerate(LINE)}, ConstraintSolver(SUBJECT.space)
    changes = expected(past, "cpu", SUBJECT.space, places=places, solver=solver).changes
    named = named_by_nights(SUBJECT, past, "cpu", LINE)
    return BaseState.of(changes, RULE, LINE), BaseState.of(changes, RULE, LINE, named=named)


def test_what_made_base_worse_has_the_names_and_sizes_that_the_last_night_told() -> None:
    program = Moving([(47, ("alpha",), 0.3), (47, ("beta", "gamma"), 0.2)])
    store, last = history(program)
    poorer, state = told(store.read())
    assert {term for term, _ in last} == {("alpha",), ("beta", "gamma")}
    assert {harm.raised.place for harm in poorer.harms} != {47}  # else this shows nothing
    harms = {harm.term: harm for harm in state.harms}
    for term, ratio in last:
        assert np.exp(harms[term].size) == pytest.approx(ratio, rel=0.005)
        assert harms[term].raised.place == 47


def test_without_a_night_on_the_line_the_trials_alone_tell_it() -> None:
    store, _ = history(Moving([(47, ("alpha",), 0.3)]))
    past = store.read()
    assert named_by_nights(SUBJECT, past, "cpu", ["elsewhere"]) is None
    assert named_by_nights(SUBJECT, past, "wall", LINE) is None
    others = replace(past, runs=tuple(run.model_copy(update={"mode": "bisect"}) for run in past.runs))
    assert named_by_nights(SUBJECT, others, "cpu", LINE) is None


def test_what_nights_left_unclear_or_never_looked_at_other_changes_tell() -> None:
    def change(place: int, before: int) -> PastChange:
        return PastChange(place, before, 0.1, {("a",): 1.0})

    named = NamedChanges((change(12, 11),))
    old, near, further, new = change(5, 4), change(13, 12), change(17, 16), change(25, 22)
    assert named.among([old, near, further, new]) == (old, named.changes[0], further, new)


@pytest.mark.parametrize(("trials", "told"), [(10**6, 1), (1, 0)])
def test_of_nights_of_many_trials_the_newest_are_read(trials: int, told: int) -> None:
    store, _ = history(Moving([(47, ("alpha",), 0.3)]))
    solver, rng = ConstraintSolver(SUBJECT.space), np.random.default_rng(0)
    found = known_changes(
        nights(store.read(), SUBJECT.space, [Revision(i, i) for i in LINE], "cpu"),
        SUBJECT.space,
        lambda count: NightSearch(SUBJECT.space, Window(count), solver, rng=rng),
        trials=trials,
    )
    assert found is not None and len(found.changes) == told
