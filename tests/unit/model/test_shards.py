"""Plans and their shards."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from bot.model.shards import Plan, Shard, planned
from tests.shards import shards


def test_a_plan_is_a_matrix_of_github_actions() -> None:
    plan = planned(3, head="h", budget=30.0, sample_seed=1, runners=("x64", "arm64"))
    content = json.loads(plan.model_dump_json(by_alias=True))
    assert list(content) == ["include"]
    assert [one["runs-on"] for one in content["include"]] == ["x64", "arm64", "x64"]
    assert Plan.model_validate_json(json.dumps(content)) == plan


def test_shards_share_all_but_their_number_seed_and_runner() -> None:
    found = shards(20)
    assert len({one.seed for one in found}) == 20
    assert {one.model_copy(update={"shard": 0, "seed": 0}) for one in found} == {
        found[0].model_copy(update={"seed": 0})
    }
    assert all(one.consistent for one in found)


@pytest.mark.parametrize(
    "change",
    [
        {"shard": 7},
        {"seed": 5},
        {"budget": 9.0},
        {"base": "x"},
        {"head": "x"},
        {"shards": 5},
        {"plan": "0" * 16},
    ],
)
def test_what_was_changed_in_a_shard_shows(change: dict[str, object]) -> None:
    assert not shards(4)[1].model_copy(update=change).consistent


@pytest.mark.parametrize("change", [{"budget": 0}, {"budget": float("inf")}, {"shards": 257}, {"more": 1}])
def test_what_no_plan_has_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Shard.model_validate({**shards(2)[0].model_dump(), **change})


def test_another_question_is_another_plan() -> None:
    plans = [shards(2), shards(3), shards(2, seed=2), shards(2, budget=3.0), shards(2, head="f" * 40)]
    assert len({one[0].plan for one in plans}) == len(plans)
