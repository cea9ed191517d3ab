"""What is learnt of options from a history: true influences, few words where little is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import joblib
import numpy as np
import pytest

from bot.analysis.influences import remembered
from bot.flows.history.experience import Memory
from bot.flows.history.memory import recall_terms
from bot.flows.influences.known_costs import Known, known
from bot.flows.influences.learning import QUICK, Effort, Influences, learnt
from bot.model.errors import HistoryError, NothingMeasuredError, UsageError
from bot.model.history import EVERYTHING, Selection
from bot.model.profile_history import ProfileTable
from bot.model.profiles import Method
from bot.model.recording import Recorder
from bot.model.report import Influence, RevisionRef
from bot.model.subject import Subject, TableProgram
from bot.model.trials import Trial
from tests.flows.nights import MemoryStore
from tests.profiled import DRAW, MAIN, PRICE, SPACE, SUBJECT, drawn, night, record, shop

FEW = Effort(kinds=QUICK)


class Broken(MemoryStore):
    def profiles(self, wanted: Selection = EVERYTHING) -> Iterator[ProfileTable]:
        raise HistoryError("the disk is on fire")


def store(*nights: ProfileTable) -> MemoryStore:
    found = MemoryStore()
    for table in nights:
        found.append_profiles(table)
    return found


def memory(found: MemoryStore) -> Memory:
    return Memory(found, list, datetime(2026, 2, 1, tzinfo=UTC))


def told(found: Known, effort: Effort = FEW, subject: Subject = SUBJECT) -> Influences:
    with joblib.parallel_config(backend="sequential"):
        return learnt(found, subject, rng=np.random.default_rng(3), effort=effort)


def of(found: Influences, method: Method | None, *term: str) -> Influence:
    name = method and method.name
    (entry,) = [i for i in found.entries if i.method == name and i.term == term]
    return entry


def dearer(options: Mapping[str, Any]) -> dict[Method, float]:
    found = shop(options)
    return found | {PRICE: 3 * found[PRICE]}


def trials(count: int, metric: str = "cpu") -> MemoryStore:
    recorder = Recorder()
    for configuration in drawn(count):
        options = SPACE.as_dict(configuration)
        trial = Trial("ok", {metric: sum(shop(options).values())})
        recorder.trial(trial, RevisionRef(revision="1", label="one"), options)
    found = MemoryStore()
    found.append(recorder.measurements(record(0)))
    return found


@pytest.mark.parametrize("most", [2, 4])
def test_methods_beyond_the_most_that_are_learnt_are_said(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(remembered, "MOST_METHODS", most)
    found = told(known(store(night(0, drawn(30), noise=0.02)), SUBJECT))
    cut = "Only the 2 costliest methods are learnt; the others count as one."
    assert (cut in found.notes) == (most == 2)
    assert any(i.method for i in found.entries)


def test_options_are_told_of_the_methods_that_they_drive_and_of_no_other() -> None:
    found = told(known(store(night(0, drawn(60), noise=0.02)), SUBJECT))
    assert of(found, DRAW, "fancy").influence == pytest.approx(0.1, rel=0.1)
    assert of(found, None, "fancy").influence == pytest.approx(0.1, rel=0.3)
    terms = {i.term for i in found.entries if i.method == PRICE.name and len(i.term) == 1}
    assert ("tax",) in terms and ("fancy",) not in terms and ("quiet",) not in terms
    assert not any(i.term for i in found.entries if i.method == MAIN.name)
    assert "60 profiled configurations at 1 revision" in found.notes[0]


def test_calls_are_told_where_time_is_too_noisy() -> None:
    found = told(known(store(night(0, drawn(60), noise=2.0)), SUBJECT))
    entry = of(found, PRICE, "tax")
    assert entry.quantity == "calls" and entry.influence == pytest.approx(40 * 15 / 4, rel=0.1)
    assert any("what drives their calls" in note for note in found.notes)


def test_nights_add_up() -> None:
    sample = drawn(60)
    parts = store(night(0, sample[:35], noise=0.02), night(1, sample[30:], noise=0.02))
    assert "60 profiled configurations at 2 revisions" in told(known(parts, SUBJECT)).notes[0]


def test_one_method_is_learnt_alone_with_the_same_shares() -> None:
    past = known(store(night(0, drawn(60), noise=0.02)), SUBJECT)
    rng = np.random.default_rng(3)
    with joblib.parallel_config(backend="sequential"):
        found = learnt(past, SUBJECT, rng=rng, effort=FEW, method="ui:draw")
    assert {i.method for i in found.entries} == {None, DRAW.name}
    assert of(found, DRAW, "fancy").share == pytest.approx(1.0, abs=0.25)


def test_without_profiles_the_program_is_learnt_from_trials() -> None:
    found = told(known(trials(60), SUBJECT))
    assert of(found, None, "fancy").influence == pytest.approx(0.1, rel=0.1)
    assert {i.method for i in found.entries} == {None}
    assert "trials of 60 configurations, which say nothing of methods" in found.notes[0]


def test_what_a_table_holds_is_told_in_its_own_unit() -> None:
    program = TableProgram(table="t.csv", revision="r", metric="instructions")
    counted = SUBJECT.model_copy(update={"program": program})
    for effort in (FEW, Effort(published=True)):
        found = told(known(trials(60, "instructions"), counted), effort, counted)
        assert {i.quantity for i in found.entries} == {"instructions"}


def test_the_published_pipeline_names_the_same_methods() -> None:
    past = known(store(night(0, drawn(80))), SUBJECT)
    found = told(past, Effort(published=True))
    assert of(found, DRAW, "fancy").share > 0.8
    alone = told(known(trials(60), SUBJECT), Effort(published=True))
    assert {i.method for i in alone.entries} == {None} and alone.entries


def test_the_published_pipeline_learns_a_method_where_it_is_known_and_the_program_where_all_are() -> None:
    sample = drawn(60)

    def past(again: int) -> Known:
        return known(
            store(night(0, sample, noise=0.02), night(1, sample[:again], dearer, noise=0.02)), SUBJECT
        )

    found = told(past(30), Effort(published=True))
    assert "in which no method has changed since" in found.notes[0]
    assert of(found, DRAW, "fancy").share > 0.5
    with pytest.raises(NothingMeasuredError, match="12 configurations in which no method has changed"):
        told(past(1), Effort(published=True))


def test_an_empty_history_says_what_to_run() -> None:
    with pytest.raises(NothingMeasuredError, match="`suspects nightly` measures them"):
        told(Known())
    past = store(night(0, drawn(5)))
    with pytest.raises(NothingMeasuredError, match="Configurations that were profiled: 5; 12 are needed"):
        told(known(past, SUBJECT))


def test_too_few_profiles_are_told_and_trials_used() -> None:
    both = trials(40)
    both.append_profiles(night(0, drawn(5)))
    found = told(known(both, SUBJECT))
    assert found.notes[0] == "Configurations that were profiled: 5; 12 are needed." and found.entries


def test_the_terms_that_drive_a_method_are_recalled() -> None:
    past = memory(store(night(0, drawn(60), noise=0.02)))
    elsewhere = Method("shop.new:thing")
    found = recall_terms(past, SUBJECT, [PRICE, DRAW, MAIN, elsewhere], np.random.default_rng(0))
    assert set(found) == {PRICE, DRAW}
    assert found[DRAW] == (("fancy",),)
    assert ("tax",) in found[PRICE] and any(term[0].startswith("items") for term in found[PRICE])


def test_calls_tell_what_noisy_seconds_cannot() -> None:
    past = memory(store(night(0, drawn(60), noise=2.0)))
    found = recall_terms(past, SUBJECT, [PRICE, DRAW, MAIN], np.random.default_rng(0))
    assert found[DRAW] == (("fancy",),) and ("tax",) in found[PRICE] and MAIN not in found


def test_counted_instructions_recall_the_same_terms() -> None:
    past = memory(store(night(0, drawn(60), exact=True)))
    assert recall_terms(past, SUBJECT, [DRAW], np.random.default_rng(0)) == {DRAW: (("fancy",),)}


@pytest.mark.parametrize("past", [None, memory(store()), memory(Broken()), memory(store(night(0, drawn(5))))])
def test_without_enough_history_no_term_is_recalled(past: Memory | None) -> None:
    assert recall_terms(past, SUBJECT, [PRICE], np.random.default_rng(0)) == {}


def test_the_published_pipeline_judges_the_program_on_its_sample_when_no_probe_knows_it_whole() -> None:
    sample = drawn(60)
    past = known(
        store(
            night(0, sample[:40], noise=0.02),
            night(1, [*sample[40:], *sample[:3]], dearer, noise=0.02, random=False),
        ),
        SUBJECT,
    )
    for seed in range(20):
        found = learnt(past, SUBJECT, rng=np.random.default_rng(seed), effort=Effort(published=True))
        assert any(i.method is None and i.error < 1.0 for i in found.entries)


def test_a_method_that_no_profile_has_is_told_with_the_names_that_hold_it() -> None:
    found = known(store(night(0, drawn(30), noise=0.02)), SUBJECT)
    with pytest.raises(UsageError, match=r"no profiled method's name ends so\. It is within .*price"):
        learnt(found, SUBJECT, rng=np.random.default_rng(3), effort=FEW, method="pric")
