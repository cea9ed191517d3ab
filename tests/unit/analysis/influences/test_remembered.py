"""What profiles of several nights say of methods as they are now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from bot.analysis.influences.remembered import REPETITIONS, REST, Past, remembered
from bot.model.profile_history import ProfileRecorder, ProfileTable
from bot.model.profiles import Method, Profile
from bot.model.report import RevisionRef
from tests.profiled import DRAW, MAIN, PRICE, SPACE, TOOL, drawn, night, record, shop

EXACT = 1e-4
"""Seconds are stored to a millionth of a profile's."""


def past(*nights: ProfileTable, only: set[str] | None = None) -> Past:
    found = remembered(SPACE, ProfileTable.concatenated(nights), only=only)
    assert found is not None
    return found


def seconds(found: Past, method: Method) -> list[float]:
    """Mean seconds in each configuration; NaN: not known."""
    place = found.costs.methods.index(method.name)
    return list(map(float, found.costs.means("seconds")[:, place]))


def truth(found: Past, method: Method) -> list[float]:
    return [shop(SPACE.as_dict(c)).get(method, 0.0) for c in found.costs.configurations]


def test_costs_are_those_of_each_configuration_and_an_uncalled_method_cost_nothing() -> None:
    found = past(night(0, drawn(20)))
    for method in (PRICE, DRAW, MAIN):
        assert seconds(found, method) == pytest.approx(truth(found, method), rel=EXACT)
    assert 0.0 in seconds(found, DRAW)
    assert found.costs.quantities["calls"].shape == (20, 3, 2)


def test_all_other_methods_are_one_where_only_some_are_asked_for() -> None:
    found = past(night(0, drawn(20)), only={PRICE.name})
    assert found.costs.methods == (PRICE.name, REST)
    rest = np.array(truth(found, DRAW)) + np.array(truth(found, MAIN))
    assert found.costs.means("seconds")[:, 1] == pytest.approx(rest, rel=EXACT)


def test_seconds_are_those_without_a_profiler_where_they_are_known() -> None:
    found = past(night(0, drawn(5), calibrated=lambda options: sum(shop(options).values()) / 4))
    assert seconds(found, PRICE) == pytest.approx([t / 4 for t in truth(found, PRICE)], rel=EXACT)


def test_what_a_profiler_adds_is_taken_off_as_it_grows_with_the_calls() -> None:
    def slowed(options: Mapping[str, Any]) -> dict[Method, float]:
        found = shop(options)
        total = sum(found.values())
        return {method: cost * total for method, cost in found.items()}  # the whole: its square

    found = past(night(0, drawn(20), slowed, calibrated=lambda options: sum(shop(options).values())))
    assert seconds(found, PRICE) == pytest.approx(truth(found, PRICE), rel=EXACT)


def test_older_nights_add_their_configurations() -> None:
    sample = drawn(20)
    found = past(night(0, sample[:15]), night(1, sample[10:]))
    assert len(found.costs.configurations) == 20
    assert found.revisions == (f"{1:040x}", f"{0:040x}")
    assert seconds(found, PRICE) == pytest.approx(truth(found, PRICE), rel=EXACT)


def test_an_older_night_of_a_slower_machine_counts_in_todays_seconds() -> None:
    sample = drawn(20)
    found = past(night(0, sample[:15], machine=2.0), night(1, sample[10:]))
    assert seconds(found, PRICE) == pytest.approx(truth(found, PRICE), rel=EXACT)


def test_what_a_method_cost_before_it_changed_is_not_known_and_the_others_are() -> None:
    def before(options: Mapping[str, Any]) -> dict[Method, float]:
        return {**shop(options), MAIN: 0.2}

    sample = drawn(20)
    found = past(night(0, sample[:15], before), night(1, sample[10:]))
    old = [c not in sample[10:] for c in found.costs.configurations]
    assert np.isnan(seconds(found, MAIN)).tolist() == old
    assert np.isfinite(seconds(found, DRAW)).all()
    assert np.isnan(found.costs.runs("calls", found.costs.methods.index(MAIN.name))).any()


def test_noise_is_not_taken_for_a_change() -> None:
    sample = drawn(20)
    found = past(night(0, sample[:15], noise=0.5), night(1, sample[10:], noise=0.5))
    assert np.isfinite(seconds(found, PRICE)).all() and np.isfinite(seconds(found, MAIN)).all()


def test_an_older_night_that_shares_no_configuration_with_the_newest_is_left_out() -> None:
    sample = drawn(20)
    found = past(night(0, sample[:10]), night(1, sample[10:]))
    assert set(found.costs.configurations) == set(sample[10:])
    assert len(found.revisions) == 1


def test_a_configuration_has_its_newest_profiles_of_one_revision() -> None:
    sample = drawn(3)
    found = past(night(0, sample, repetitions=2), night(1, sample, repetitions=9))
    assert found.costs.quantities["seconds"].shape == (3, 3, REPETITIONS)


def test_exact_counts_take_the_place_of_sampled_seconds() -> None:
    found = past(night(0, drawn(9), exact=True))
    assert set(found.exact().costs.quantities) == {"calls", "instructions"}
    assert set(past(night(0, drawn(9))).exact().costs.quantities) == {"calls", "seconds"}


def test_a_failed_profile_says_nothing_of_costs() -> None:
    recorder = ProfileRecorder()
    revision = RevisionRef(revision="1", label="one")
    recorder.add(Profile(TOOL, "timeout", 1.0), revision, SPACE.as_dict(SPACE.default), drawn=True)
    assert remembered(SPACE, recorder.table(record(0))) is None
    assert remembered(SPACE, ProfileTable.empty()) is None


def test_configurations_with_a_value_that_is_gone_are_left_out() -> None:
    table = night(0, drawn(4))
    gone = {**table.configurations[0], "items": 16}
    changed = ProfileTable(**{**vars(table), "configurations": (gone, *table.configurations[1:])})
    assert len(past(changed).costs.configurations) == 3


def test_the_probe_is_drawn_anew_from_what_was_drawn_at_random() -> None:
    sample = drawn(40)
    found = past(night(0, sample[:20], random=False), night(0, sample[20:]))
    probes = []
    for seed in (1, 2):
        rest, probe = found.split(np.random.default_rng(seed))
        assert probe is not None and len(probe.configurations) == 12
        assert set(probe.configurations) <= set(sample[20:])
        assert not set(probe.configurations) & set(rest.configurations)
        probes.append(probe.configurations)
    assert probes[0] != probes[1]


def test_too_few_random_configurations_make_no_probe() -> None:
    found = past(night(0, drawn(20), random=False))
    sample, probe = found.split(np.random.default_rng(0))
    assert probe is None and len(sample.configurations) == 20
