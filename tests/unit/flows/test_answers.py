from __future__ import annotations

import math

from bot.flows.answers import unanswered
from bot.model.change_points import Observation, Probe

A, B, C = (True, False), (False, True), (True, True)


def _seen(*probes: Probe) -> list[Observation]:
    return [Observation(probe, 1.0) for probe in probes]


def test_a_wish_is_answered_by_its_own_trial_even_a_failed_one() -> None:
    pending = [Probe(A, 1), Probe(B, 1), Probe(A, 2)]
    assert unanswered(pending, [Observation(Probe(B, 1), math.nan)]) == [Probe(A, 1), Probe(A, 2)]


def test_each_repetition_needs_an_answer_of_its_own() -> None:
    assert unanswered([Probe(A, 1)] * 3, _seen(Probe(A, 1))) == [Probe(A, 1)] * 2


def test_another_configuration_at_the_wished_revision_is_an_answer_after_the_exact_ones() -> None:
    assert unanswered([Probe(A, 1), Probe(B, 1)], _seen(Probe(C, 1), Probe(B, 1))) == []
    assert unanswered([Probe(A, 1), Probe(B, 1)], _seen(Probe(B, 1))) == [Probe(A, 1)]


def test_a_trial_at_another_revision_answers_nothing() -> None:
    assert unanswered([Probe(A, 1)], _seen(Probe(A, 2), Probe(C, 3))) == [Probe(A, 1)]
