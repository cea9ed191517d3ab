"""Several machines' shards as one report: what counts, once, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.flows.pull_request import pull_request
from bot.flows.shards.choice import LeftShard, choose
from bot.flows.shards.merging import merge
from bot.model.report import BuildFailure, Report
from tests.fakes import FakeBench, FakeWorkshop, job_of
from tests.shards import extreme, fleet, left, measured, merging_job, shards, subject


def merged(found: Sequence[LeftShard]) -> Report:
    return merge(merging_job(), choose(found))


def told(report: Report) -> str:
    return "\n".join(report.notes)


@pytest.fixture(scope="module")
def slower() -> Sequence[LeftShard]:
    return fleet(4, truth=extreme(1.06))


def test_four_machines_name_the_guilty_option_once(slower: Sequence[LeftShard]) -> None:
    report = merged(slower)
    assert report.verdict == "regression"
    assert [e.term for e in report.suspects.options] == [("extreme",)]
    assert report.suspects.options[0].ratio == pytest.approx(1.06, abs=0.01)
    assert report.spent.pairs == sum(one.report.spent.pairs for one in slower)
    assert report.spent.trials == sum(one.report.spent.trials for one in slower)
    assert report.spent.budget_seconds == 40.0
    assert report.configurations[0].default


def test_no_machine_alone_measures_what_all_of_them_do(slower: Sequence[LeftShard]) -> None:
    sampled = [{tuple(c.options.values()) for c in one.report.configurations} for one in slower]
    united = {tuple(c.options.values()) for c in merged(slower).configurations}
    assert united == set.union(*sampled)
    assert all(len(own) < len(united) for own in sampled)
    default = tuple(subject().space.default)
    assert set.intersection(*sampled) >= {default}


def test_one_shard_is_what_one_machine_says() -> None:
    (shard,) = shards(1, budget=40.0)
    alone = measured(shard, truth=extreme(1.06))
    united = merged([left(shard, alone)])
    assert united.verdict == alone.report.verdict
    assert united.spent.pairs == alone.report.spent.pairs
    (own,), (other,) = alone.report.suspects.options, united.suspects.options
    assert own.term == other.term
    assert other.ratio == pytest.approx(own.ratio, rel=1e-3)


def test_an_unchanged_program_is_not_blamed_by_many() -> None:
    report = merged(fleet(4))
    assert report.verdict == "none"
    assert not report.suspects.options


def test_what_is_missing_is_said_and_the_rest_counts(slower: Sequence[LeftShard]) -> None:
    report = merged([slower[0], slower[3]])
    assert "2 of 4 shards left nothing (1, 2)" in told(report)
    assert report.spent.pairs == sum(slower[k].report.spent.pairs for k in (0, 3))


def test_a_duplicate_counts_once(slower: Sequence[LeftShard]) -> None:
    report = merged([*slower, slower[2]])
    assert report.spent.pairs == merged(slower).spent.pairs
    assert "Shard 2 lay there 2 times and counts once." in told(report)


def test_a_rerun_takes_the_place_of_what_it_repeats(slower: Sequence[LeftShard]) -> None:
    again = left(slower[2].shard, truth=extreme(1.06), seed=77)
    older, newer = (
        replace(one, manifest=one.manifest.model_copy(update={"files": files}))
        for one, files in ((slower[2], ()), (again, _files("2024")))
    )
    both = merged([slower[0], older, newer])
    assert both.spent.pairs == slower[0].report.spent.pairs + again.report.spent.pairs
    assert "Shard 2 was measured 2 times: the newest result counts." in told(both)


def _files(date: str) -> tuple[object, ...]:
    from bot.model.shards import Stored

    return (Stored(name=f"{date}0101T000000Z-trials-{'0' * 32}.parquet", bytes=1, sha256="0" * 64),)


def test_other_plans_and_other_revisions_are_left_out(slower: Sequence[LeftShard]) -> None:
    other = left(shards(4, seed=9)[1], truth=extreme(1.5))
    foreign = left(shards(4, head="f" * 40)[3], truth=extreme(1.5))
    chosen = choose(
        [other, foreign, *slower[:3]],
        lambda shard: "" if shard.head == "h" * 40 else f"of other revisions ({shard.head[:12]})",
    )
    report = merge(merging_job(), chosen)
    assert report.spent.pairs == sum(one.report.spent.pairs for one in slower[:3])
    assert "1 shard was left out: of other revisions (ffffffffffff)." in told(report)
    assert "1 shard was left out: of another plan than most." in told(report)


def test_a_shard_that_lies_about_its_revision_is_left_out(slower: Sequence[LeftShard]) -> None:
    head = shards(4, head="f" * 40)[3]
    foreign = replace(left(head), manifest=slower[3].manifest)
    trials = list(foreign.trials())
    relabelled = [
        replace(one, revisions=tuple(r.model_copy(update={"revision": "f" * 40}) for r in one.revisions))
        for one in trials
    ]
    lying = replace(foreign, trials=lambda: iter(relabelled))
    report = merged([*slower[:3], lying])
    assert "Shard 3 was left out: a pair is of other revisions" in told(report)
    assert report.spent.pairs == sum(one.report.spent.pairs for one in slower[:3])


def test_a_shard_of_another_program_or_other_options_is_left_out(slower: Sequence[LeftShard]) -> None:
    for changed, why in (
        (subject(program={"run": "./other {options}"}), "not one run of this program"),
        (subject(options={"extreme": {"flag": "-e"}}), "measured with other options"),
    ):
        odd = left(shards(4)[3], truth=lambda _c: 1.5, wanted=changed)
        report = merged([*slower[:3], odd])
        assert why in told(report)
        assert report.spent.pairs == sum(one.report.spent.pairs for one in slower[:3])


def test_pairs_that_no_run_leaves_are_refused(slower: Sequence[LeftShard]) -> None:
    (good,) = slower[3].trials()
    spoilt = [
        replace(good, pair=np.zeros_like(good.pair)),
        replace(good, second=np.ones_like(good.second)),
        replace(good, pair=np.full_like(good.pair, -1)),
        good.where(np.arange(len(good)) != 0),
    ]
    for one in spoilt:
        bad = replace(slower[3], trials=lambda one=one: iter([one]))  # type: ignore[misc]
        report = merged([slower[0], bad])
        assert "Shard 3 was left out" in told(report)
        assert report.spent.pairs == slower[0].report.spent.pairs


def test_a_machine_whose_base_differs_from_itself_is_refused(slower: Sequence[LeftShard]) -> None:
    wild = left(shards(4)[3], noise=0.5)
    report = merged([*slower[:3], wild])
    assert "Shard 3 was left out: base differs from itself by" in told(report)
    assert report.spent.pairs == sum(one.report.spent.pairs for one in slower[:3])
    assert report.verdict == "regression"


def test_the_noise_of_each_machine_is_told(slower: Sequence[LeftShard]) -> None:
    own = [one.report.environment.noise[0].sd_percent for one in slower]
    shown = ", ".join(f"{k}: {noise:.2g} %" for k, noise in enumerate(own))
    assert f"4 shards count. Noise of cpu, base against base, by shard: {shown}." in told(merged(slower))


def test_a_change_on_one_kind_of_machine_only_is_said_so() -> None:
    plan = shards(4, budget=20.0)
    found = [
        left(shard, truth=extreme(1.08 if k < 2 else 1.0), kind="old" if k < 2 else "new")
        for k, shard in enumerate(plan)
    ]
    report = merged(found)
    assert report.verdict == "regression"
    (effect,) = report.suspects.options
    assert effect.term == ("extreme",)
    assert effect.ratio == pytest.approx(1.08, abs=0.015)
    assert "cpu of extreme changed on old only" in told(report)
    assert report.environment.cpu == "2 x new, 2 x old"
    assert not any("machine" in level for e in report.effects for level in e.term)
    assert {o.option for o in report.visible.options} == set(subject().space.names)


def test_unlike_machines_that_agree_are_one_answer() -> None:
    plan = shards(4, budget=20.0)
    found = [left(s, truth=extreme(1.05), kind=f"kind {k % 2}") for k, s in enumerate(plan)]
    report = merged(found)
    assert [e.term for e in report.suspects.options] == [("extreme",)]
    assert " only" not in told(report)
    options = [tuple(c.options.items()) for c in report.configurations]
    assert len(options) == len(set(options))
    assert report.configurations[0].default


def test_nothing_measured_is_never_green() -> None:
    failing = [left(shard, fails=lambda _c: "exit") for shard in shards(2)]
    report = merged(failing)
    assert report.verdict == "inconclusive" and not report.measured
    assert not merge(merging_job(), choose([])).measured


def test_builds_that_failed_everywhere_are_told_once() -> None:
    plan = shards(2)
    bench = FakeBench(rng=np.random.default_rng(0), budget=1.0, truth={})
    unbuilt = pull_request(job_of(subject(), bench, workshop=FakeWorkshop(failing={"head": "no compiler"})))
    found = [replace(left(s), report=unbuilt, trials=lambda: iter(())) for s in plan]
    report = merged(found)
    assert [(f.side, f.reason) for f in report.build_failures] == [("head", "no compiler")]
    assert isinstance(report.build_failures[0], BuildFailure)
    assert "Shard 1 measured nothing: head could not be built there." in told(report)


def test_equal_trees_need_no_shard() -> None:
    job = merging_job()
    same = replace(job.comparison, head=replace(job.comparison.head, tree="t1"))
    report = merge(replace(job, comparison=same), choose([]))
    assert report.verdict == "none"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_neither_order_nor_copies_change_the_report(slower: Sequence[LeftShard], data: st.DataObject) -> None:
    present = data.draw(st.lists(st.sampled_from(range(4)), min_size=1, max_size=4, unique=True))
    shuffled = data.draw(
        st.permutations([*present, *data.draw(st.lists(st.sampled_from(present), max_size=3))])
    )
    reference = merged([slower[k] for k in sorted(present)])
    report = merged([slower[k] for k in shuffled])
    ours = [note for note in report.notes if "counts once" not in note]
    assert report.model_copy(update={"notes": tuple(ours)}) == reference
