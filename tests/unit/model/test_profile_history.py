"""Profiles in columns: what is kept of each, and what a table over several runs points at."""

from __future__ import annotations

import numpy as np
import pytest

from bot.model.history import OUTCOMES
from bot.model.profile_history import MOST_METHODS, NO_COUNT, NO_METHOD, ProfileRecorder, ProfileTable
from bot.model.profiles import Method, MethodCost, Profile, Tool
from bot.model.report import RevisionRef
from tests.adapters.stores.samples import profile_meaning, profiles, record

TOOL = Tool("t", "1", "coarse", frozenset())
HEAD = RevisionRef(revision="1", label="one")


def recorded(*found: Profile) -> ProfileTable:
    recorder = ProfileRecorder()
    for profile in found:
        recorder.add(profile, HEAD, {"fast": True})
    return recorder.table(record())


def test_what_a_tool_cannot_tell_is_not_zero() -> None:
    table = recorded(Profile(TOOL, "ok", 1.0, {Method("m"): MethodCost(1.0)}))
    assert table.calls[0] == table.instructions[0] == NO_COUNT
    assert np.isnan(table.self_seconds[0]) and np.isnan(table.unprofiled[0])


def test_a_profile_without_methods_is_one_row_and_a_cut_one_none() -> None:
    table = recorded(Profile(TOOL, "signal", 0.1), Profile(TOOL, "cut", 0.1))
    assert table.method.tolist() == [NO_METHOD]
    assert OUTCOMES[table.outcome[0]] == "signal"


def test_the_same_method_on_another_line_keeps_its_line() -> None:
    old, new = (Profile(TOOL, "ok", 1.0, {Method("m", "f", line): MethodCost(1.0)}) for line in (3, 9))
    assert [m.line for m in recorded(old, new, old).methods] == [3, 9]


def test_of_too_many_methods_the_costliest_are_kept() -> None:
    costs = {Method(f"m{i}"): MethodCost(float(i)) for i in range(MOST_METHODS + 5)}
    table = recorded(Profile(TOOL, "ok", 1.0, costs))
    assert len(table) == MOST_METHODS and table.self_share.min() == 5.0


def test_shares_and_seconds_are_kept_to_a_millionth_of_the_whole() -> None:
    costs = {
        Method(f"m{i}"): MethodCost(share, 40 * share) for i, share in enumerate((0.7, 0.3 - 1e-9, 1e-9))
    }
    table = recorded(Profile(TOOL, "ok", 1.0, costs))
    assert table.self_share == pytest.approx([0.7, 0.3, 0.0], abs=1e-6)
    assert table.self_seconds == pytest.approx([28.0, 12.0, 0.0], abs=4e-5)


def test_methods_come_in_the_same_order_in_every_profile() -> None:
    one, two = Method("one"), Method("two")
    profiles = [
        Profile(TOOL, "ok", 1.0, {one: MethodCost(share), two: MethodCost(1 - share)}) for share in (0.9, 0.1)
    ]
    assert recorded(*profiles).method.tolist() == [0, 1, 0, 1]


def test_a_count_that_no_column_can_hold_is_bounded() -> None:
    table = recorded(Profile(TOOL, "ok", 1.0, {Method("m"): MethodCost(1.0, calls=10**30)}))
    assert table.calls[0] > 10**18


def test_joined_tables_mean_what_their_parts_meant() -> None:
    parts = [profiles(0), profiles(1), profiles(0, program="other")]
    joined = ProfileTable.concatenated(parts)
    assert profile_meaning(joined) == [row for part in parts for row in profile_meaning(part)]
    assert len(joined.methods) == 2 and len(joined.runs) == 3
    assert len(ProfileTable.empty()) == 0
