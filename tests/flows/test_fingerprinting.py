"""A machine is stressed once a week, and otherwise checked in seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.flows.machines.fingerprinting import CANARY, known_or_taken
from bot.model.machines import REPRESENTATIVES, Stressed
from tests.flows.fleets import STRESSORS, TOOL, Fleet


class FakeStresser:
    """Gives a machine's rates, so much faster."""

    tool = TOOL

    def __init__(self, fleet: Fleet, *, faster: float = 1.0, missing: Sequence[str] = ()) -> None:
        self.rates = dict(zip(STRESSORS, fleet.rates[0] * faster, strict=True))
        self.lacking, self.asked = missing, list[tuple[tuple[str, ...], int, float]]()

    def missing(self) -> Sequence[str]:
        return self.lacking

    def stress(
        self,
        stressors: Sequence[str] = REPRESENTATIVES,
        *,
        repetitions: int = 3,
        seconds: int = 2,
        most: float = math.inf,
    ) -> Stressed:
        self.asked.append((tuple(stressors), repetitions, most))
        rates = {name: [self.rates.get(name, float("nan"))] * repetitions for name in stressors}
        return Stressed(self.tool, rates)


def test_a_machine_without_a_fingerprint_gets_one() -> None:
    fleet, run = Fleet(), Fleet().record(0)
    stresser = FakeStresser(fleet)
    assert list(known_or_taken(fleet.store, stresser, run)) == []
    ((machine, record, rates),) = next(fleet.store.fingerprints()).machines()
    assert (machine.cpu, machine.tool, record) == ("processor 0", TOOL, run)
    assert len(rates["cpu"]) == 3 and stresser.asked == [(REPRESENTATIVES, 3, 85.0)]


def test_a_valid_fingerprint_is_only_checked() -> None:
    fleet = Fleet()
    fleet.fingerprint([0])
    stresser = FakeStresser(fleet)
    assert list(known_or_taken(fleet.store, stresser, fleet.record(0, days=6.9))) == []
    assert stresser.asked == [(CANARY, 1, math.inf)] and len(fleet.store.fingerprinted) == 1


def test_a_fingerprint_that_is_a_week_old_is_taken_again() -> None:
    fleet = Fleet()
    fleet.fingerprint([0])
    known_or_taken(fleet.store, FakeStresser(fleet), fleet.record(0, days=7.1))
    assert len(fleet.store.fingerprinted) == 2


def test_the_fingerprint_of_another_machine_or_version_does_not_count() -> None:
    fleet = Fleet()
    fleet.fingerprint([1])
    fleet.fingerprint([0], tool="stress-ng 0.17.00")
    known_or_taken(fleet.store, FakeStresser(fleet), fleet.record(0))
    assert len(fleet.store.fingerprinted) == 3


def test_a_runner_that_is_slower_than_its_fingerprint_is_told() -> None:
    fleet = Fleet()
    fleet.fingerprint([0])
    (note,) = known_or_taken(fleet.store, FakeStresser(fleet, faster=0.7), fleet.record(0, days=1))
    assert "30 % slower" in note and "2026-01-05" in note


def test_one_canary_that_met_a_neighbour_is_no_news() -> None:
    fleet = Fleet()
    fleet.fingerprint([0])
    stresser = FakeStresser(fleet)
    stresser.rates["cache"] *= 0.5
    assert list(known_or_taken(fleet.store, stresser, fleet.record(0, days=1))) == []


def test_no_stress_ng_is_a_note_and_no_time_is_none() -> None:
    fleet = Fleet()
    missing = FakeStresser(fleet, missing=("`stress-ng` is not installed.",))
    assert list(known_or_taken(fleet.store, missing, fleet.record(0))) == ["`stress-ng` is not installed."]
    assert list(known_or_taken(fleet.store, FakeStresser(fleet), fleet.record(0), taking=False)) == []
    assert fleet.store.fingerprinted == []


def test_a_machine_where_everything_is_refused_has_no_fingerprint() -> None:
    fleet = Fleet()
    stresser = FakeStresser(fleet)
    stresser.rates.clear()
    assert "has no fingerprint" in known_or_taken(fleet.store, stresser, fleet.record(0))[-1]
    assert fleet.store.fingerprinted == []


def test_a_history_that_cannot_be_written_is_told() -> None:
    fleet = Fleet()
    fleet.store.full = True
    (note,) = known_or_taken(fleet.store, FakeStresser(fleet), fleet.record(0))
    assert "not remembered: the disk is full" in note
