"""What stands behind a change, put together from several machines' reports."""

from __future__ import annotations

from typing import Any

from bot.flows.shards.choice import LeftShard
from bot.flows.shards.explanations import explained
from bot.model.report import ConfigurationChange, Environment, Report, Suspects, Verdict
from bot.model.report_assertions import AssertionOutcome
from bot.model.report_methods import ComparedProfile, MethodSuspect
from bot.model.report_resources import CountedResources, ResourceCount, ResourceSuspect
from bot.model.shards import Manifest
from tests.shards import shards

PLAN = shards(5)


def left(number: int, *, architecture: str = "x86_64", **found: Any) -> LeftShard:
    given = {"mode": "pull_request", "verdict": "regression", "base": None, "head": None, **found}
    manifest = Manifest(shard=PLAN[number], architecture=architecture)
    return LeftShard(manifest, Report(**given), lambda: iter(()))


def merged(verdict: Verdict = "regression") -> Report:
    return Report(mode="pull_request", verdict=verdict, base=None, head=None)


def blamed(name: str, share: float) -> MethodSuspect:
    return MethodSuspect(
        method=name,
        file="a.py",
        line=1,
        base_self_seconds=1.0,
        head_self_seconds=2.0,
        calls=(1, 1),
        share_of_change=share,
    )


def looked(*methods: MethodSuspect) -> dict[str, Any]:
    return {
        "suspects": Suspects(methods=methods),
        "profiles": (ComparedProfile(options={}, change_seconds=1.0),),
    }


def counted(faults: float, base: float = 100.0, *, moved: bool = True) -> dict[str, Any]:
    count = ResourceCount(
        count="page_faults", feature="vm", base=base, head=faults, estimated_seconds=0.1, moved=moved
    )
    one = CountedResources(options={"a": True}, change_seconds=1.0, features=("vm",), counts=(count,))
    suspect = ResourceSuspect(
        feature="vm", base=base, head=faults, unit="page faults", estimated_seconds=0.1, score=0.5
    )
    return {"resources": (one,), "suspects": Suspects(resources=(suspect,))}


def test_methods_are_those_that_most_machines_blame() -> None:
    found = explained(
        merged(),
        [
            left(0, **looked(blamed("f", 0.9), blamed("g", 0.1))),
            left(1, **looked(blamed("f", 0.7))),
            left(2, **looked(blamed("f", 0.8), blamed("h", 0.4))),
            left(3),  # was not sure enough to look
        ],
    )
    assert [(m.method, m.share_of_change) for m in found.suspects.methods] == [("f", 0.8)]
    assert len(found.profiles) == 1


def test_what_one_machine_alone_believed_is_not_told() -> None:
    found = explained(merged("none"), [left(0, **looked(blamed("f", 0.9))), left(1, verdict="none")])
    assert not found.suspects.methods and not found.profiles
    assert "A shard alone saw a change that all shards together do not bear out." in found.notes


def test_a_change_that_only_all_together_see_has_no_methods_and_says_why() -> None:
    found = explained(merged(), [left(0, verdict="none"), left(1, verdict="inconclusive")])
    assert "No shard alone was sure enough to look for methods; all together are." in found.notes


def test_counts_are_kept_apart_by_architecture() -> None:
    found = explained(
        merged(),
        [left(0, **counted(200)), left(1, **counted(200.2)), left(2, architecture="aarch64", **counted(900))],
    )
    (one,) = found.resources
    assert one.counts[0].head == 200
    assert [s.feature for s in found.suspects.resources] == ["vm"]
    assert "Counts on aarch64: page_faults 100 -> 900." in found.notes


def test_a_count_on_which_machines_disagree_is_left_out_and_told() -> None:
    found = explained(merged(), [left(0, **counted(200)), left(1, **counted(300))])
    assert not found.resources[0].counts
    assert "Machines disagree on page_faults at head (200 to 300): it is not told." in found.notes


def test_images_are_places_of_their_own() -> None:
    other = {**counted(300), "environment": Environment(image="other")}
    found = explained(merged(), [left(0, **counted(200)), left(1, **counted(200)), left(2, **other)])
    assert found.resources[0].counts[0].head == 200
    assert not any("disagree" in note for note in found.notes)


def test_exact_counts_are_told_once_for_a_configuration() -> None:
    def exact(ratio: float, state: str) -> dict[str, Any]:
        change = ConfigurationChange(
            options={"a": True}, metric="instructions", ratio=ratio, interval=None, pairs=1, state=state
        )
        return {"configurations": (change,)}

    found = explained(
        merged(),
        [
            left(0, **exact(1.1, "slower")),
            left(1, **exact(1.1, "slower")),
            left(2, architecture="aarch64", **exact(1.0, "same")),
        ],
    )
    assert [c.state for c in found.configurations] == ["slower"]
    assert "Instructions on aarch64: same (x 1.0000)." in found.notes


def test_assertions_are_decided_where_all_agree_that_decided() -> None:
    def said(**outcomes: str) -> dict[str, Any]:
        return {
            "assertions": tuple(
                AssertionOutcome.model_validate(
                    {"id": name, "method": "f", "groups": (), "borders_seconds": (), "outcome": outcome}
                )
                for name, outcome in outcomes.items()
            )
        }

    found = explained(
        merged("none"),
        [
            left(0, verdict="none", **said(a="held", b="violated", c="undecided")),
            left(1, verdict="none", **said(a="undecided", b="held", c="undecided")),
        ],
    )
    assert {one.id: one.outcome for one in found.assertions} == {
        "a": "held",
        "b": "undecided",
        "c": "undecided",
    }
    assert "Machines disagree on the assertion b: it stays undecided." in found.notes
