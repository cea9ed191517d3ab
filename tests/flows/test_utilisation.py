"""From a history of unlike machines to a profile, and what is said when history has too little."""

from __future__ import annotations

import numpy as np
import pytest

from bot.flows.machines.utilisation import utilisation
from bot.model.errors import UsageError
from bot.model.utilisation import Utilisation
from tests.flows.fleets import BASE, HEAD, PROGRAM, Fleet

NEEDS = {"cache": 0.7, "sock": 0.3}


def told(
    fleet: Fleet, revisions: tuple[str, str] | None = None, *, published: bool = False, program: str = PROGRAM
) -> Utilisation:
    return utilisation(
        fleet.store,
        program,
        "cpu",
        rng=np.random.default_rng(0),
        revisions=revisions,
        published=published,
    )


def test_a_fleets_trials_and_fingerprints_give_the_shares() -> None:
    fleet = Fleet()
    fleet.fingerprint()
    fleet.measure(NEEDS)
    found = told(fleet)
    assert (len(found.machines), found.types, found.profile.refusal) == (12, 12, "")
    shares = {s.stressor: s.share for s in found.profile.shares}
    assert shares["cache"] == pytest.approx(0.7, abs=0.05) and shares["sock"] == pytest.approx(0.3, abs=0.05)
    assert found.profile.classes["cache"] == shares["cache"]
    assert list(found.notes) == []


def test_machines_that_ran_other_configurations_are_joined_by_what_they_share() -> None:
    fleet = Fleet()
    fleet.fingerprint()
    for machine in range(12):
        chosen = ((False, False), (True, False)) if machine % 2 else ((True, False), (False, True))
        fleet.store.append(fleet.run(machine, NEEDS, configurations=chosen))
    shares = {s.stressor: s.share for s in told(fleet).profile.shares}
    assert shares["cache"] == pytest.approx(0.7, abs=0.05) and shares["sock"] == pytest.approx(0.3, abs=0.05)


def test_the_profile_is_that_of_the_newest_revision_on_enough_machines_or_of_all() -> None:
    fleet = Fleet()
    fleet.fingerprint()
    fleet.measure(NEEDS, BASE)
    for machine in range(4):
        fleet.store.append(fleet.run(machine, {"msync": 1.0}, HEAD, days=2))
    assert told(fleet).revision == "v1" and told(fleet).profile.shares[0].stressor == "cache"
    few = Fleet(10)
    few.fingerprint()
    for machine in range(10):
        few.store.append(few.run(machine, NEEDS, BASE if machine < 6 else HEAD))
    for machine in (5, 6):
        few.store.append(few.run(machine, NEEDS, HEAD if machine < 6 else BASE))
    found = told(few)
    assert found.revision is None and len(found.machines) == 10 and not found.profile.refusal


def test_machines_that_share_no_work_with_the_others_are_left_out() -> None:
    fleet = Fleet()
    fleet.fingerprint()
    for machine in range(12):
        chosen = [(False, True)] if machine in (3, 4) else [(False, False), (True, False)]
        fleet.store.append(fleet.run(machine, NEEDS, configurations=chosen))
    found = told(fleet)
    assert len(found.machines) == 10 and not found.profile.refusal


def test_eight_types_are_refused_and_the_reader_learns_what_works_instead() -> None:
    fleet = Fleet(8)
    fleet.fingerprint()
    fleet.measure(NEEDS)
    found = told(fleet)
    assert "8 types of hardware are known, 9 are needed" in found.profile.refusal
    assert found.profile.shares == () and "`suspects pr` counts" in found.notes[-1]


def test_a_history_without_anything_is_refused_in_the_same_words() -> None:
    found = told(Fleet())
    assert (found.machines, found.types) == ((), 0) and "0 types of hardware" in found.profile.refusal


def test_trials_of_another_program_are_not_used() -> None:
    fleet = Fleet()
    fleet.fingerprint()
    fleet.measure(NEEDS)
    assert told(fleet, program="another").machines == ()


def test_a_fingerprint_that_is_older_than_a_week_is_not_used() -> None:
    fleet = Fleet()
    fleet.fingerprint(range(11))
    fleet.fingerprint([11], days=-7)
    fleet.measure(NEEDS)
    found = told(fleet)
    assert len(found.machines) == 11
    assert any("1 kinds of machines have no fingerprint" in note for note in found.notes)


def test_versions_of_stress_ng_are_never_mixed() -> None:
    fleet = Fleet()
    fleet.fingerprint(range(10))
    fleet.fingerprint([10, 11], tool="stress-ng 0.17.00", faster=3.0)
    fleet.measure(NEEDS)
    found = told(fleet)
    assert len(found.machines) == 10 and found.tool == "stress-ng 0.15.06"
    assert any("10 of stress-ng 0.15.06, 2 of stress-ng 0.17.00" in note for note in found.notes)


def test_what_a_revision_added_is_named() -> None:
    fleet = Fleet(14)
    fleet.fingerprint()
    fleet.measure(NEEDS, BASE)
    fleet.measure({**NEEDS, "msync": 0.4}, HEAD)
    change = told(fleet, ("v1", "bbbb"), published=True).change
    assert change is not None and change.stressor is not None
    assert (change.base, change.head, change.stressor.stressor) == ("v1", "v2", "msync")
    # On the middling machine 0.4; the mean over machines is larger, for some are very slow at it.
    assert change.interval[0] < change.stressor.share < change.interval[1]
    assert 0.3 < change.stressor.share < 0.8 and change.types == 14


def test_an_equal_revision_moved_nothing() -> None:
    fleet = Fleet(14)
    fleet.fingerprint()
    fleet.measure(NEEDS, BASE)
    fleet.measure(NEEDS, HEAD)
    change = told(fleet, ("v1", "v2")).change
    assert change is not None and change.stressor is None and change.ratio == pytest.approx(1.0, abs=0.02)


def test_a_revision_that_nobody_measured_is_refused_in_one_line() -> None:
    fleet = Fleet()
    fleet.fingerprint()
    fleet.measure(NEEDS)
    for wanted in ("v9", ""):
        with pytest.raises(UsageError, match="0 revisions") if wanted else pytest.raises(UsageError):
            told(fleet, ("v1" if wanted else "v9", wanted))


def test_the_published_form_is_told_beside_ours_even_where_ours_refuses() -> None:
    fleet = Fleet(6)
    fleet.fingerprint()
    fleet.measure(NEEDS)
    found = told(fleet, published=True)
    assert found.profile.refusal and found.published is not None
    assert max(found.published.importances.values()) == 100 and found.published.seeds == 20


def test_a_noisy_rate_is_left_out_and_told() -> None:
    fleet = Fleet()
    fleet.fingerprint(range(1, 12))
    table = fleet.store.fingerprinted[0]
    fleet.fingerprint([0])
    noisy = fleet.store.fingerprinted[-1]
    noisy.rate[noisy.stressor == 0] *= [1.0, 1.5, 2.0]
    fleet.measure(NEEDS)
    found = told(fleet)
    assert any("processor 0" in note and "more than 10 %: cpu" in note for note in found.notes)
    assert len(found.machines) == 12 and table is not noisy
