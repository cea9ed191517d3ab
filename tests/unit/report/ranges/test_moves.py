"""Change points in words: names, who undid whom, and the command that shows one alone."""

import pytest

from bot.model.report import Acceptance, ChangePoint, Listed, RevisionRef
from bot.model.space import Value
from bot.report.media import markdown
from bot.report.ranges.headline import range_headline
from bot.report.ranges.moves import comparison, courses, holds, revision
from tests.unit.report.ranges.builders import bisection, move, series, sha


def fates(*found: ChangePoint, **fields: object) -> list[str]:
    return [markdown(c.fate) for c in courses(bisection(change_points=found, **fields))]


def test_a_step_that_a_later_one_of_its_term_takes_back_is_undone() -> None:
    assert fates(move(8, "a", ratio=1.3), move(16, "b", ratio=0.77), move(20, "a", ratio=0.77)) == [
        "undone at `v5.5`",
        "",
        "undoes `v5.2`",
    ]


def test_a_step_that_is_only_half_taken_back_is_partly_undone_and_still_the_news() -> None:
    half = (move(8, "a", ratio=1.39), move(20, "a", ratio=0.79))
    assert fates(*half) == ["partly undone at `v5.5`", "undoes a part of `v5.2`"]
    found = range_headline(bisection(verdict="mixed", change_points=half, series=(series(),)))
    assert found.tone == "bad" and "+39 % CPU time, partly undone" in markdown(found.title)


def test_a_step_of_which_little_is_taken_back_or_that_is_repeated_stays() -> None:
    assert fates(move(8, "a", ratio=1.3), move(20, "a", ratio=0.95)) == ["", ""]
    assert fates(move(8, "a", ratio=1.3), move(20, "a", ratio=1.3)) == ["", ""]


def test_a_later_step_that_is_larger_says_so() -> None:
    assert fates(move(8, "a", ratio=1.1), move(20, "a", ratio=0.7)) == [
        "undone at `v5.5`",
        "more than undoes `v5.2`",
    ]


def test_a_change_takes_back_the_latest_ones_first() -> None:
    found = (move(8, "a", ratio=1.319), move(12, "a", ratio=1.051), move(20, "a", ratio=0.804))
    assert fates(*found) == [
        "partly undone at `v5.5`",
        "undone at `v5.5`",
        "undoes `v5.3`, and a part of `v5.2`",
    ]


def test_what_is_left_ranks_the_changes_not_what_they_once_were() -> None:
    eased = (move(8, "a", ratio=1.5), move(12, "a", ratio=0.72))
    found = bisection(verdict="mixed", change_points=(*eased, move(20, "b", ratio=1.2)), series=(series(),))
    assert "worst: slower with `b` since" in markdown(range_headline(found).title)


def test_what_ends_an_episode_takes_back_what_some_of_whom_it_hits_got_in_it() -> None:
    began = (move(8, "a", ratio=1.1), move(8, "a", "b", ratio=1.47), move(10, "a", ratio=1.42))
    episode = (*began, move(12, "a", ratio=0.54))
    assert fates(*episode) == [
        *("undone at `v5.3`", "partly undone at `v5.3`", "undone at `v5.3`"),
        "undoes `v5.2`",
    ]
    assert fates(*began, move(12, "a", ratio=0.43))[1] == "undone at `v5.3`"
    before, *others = episode[1], episode[0], *episode[2:]
    earlier = fates(move(4, *before.term, ratio=before.ratio), *others)
    assert earlier[0] == "" and earlier[-1] == "more than undoes `v5.2`"
    found = bisection(
        verdict="mixed", change_points=(*episode, move(20, "b", ratio=1.35)), series=(series(),)
    )
    assert "worst: slower with `b` since" in markdown(range_headline(found).title)


def test_a_slow_down_that_takes_back_an_improvement_is_one() -> None:
    found = (move(8, "a", ratio=0.8), move(12, "a", ratio=1.25))
    assert fates(*found) == ["undone at `v5.3`", "undoes `v5.2`"]
    told = range_headline(bisection(verdict="mixed", change_points=found, series=(series(),)))
    assert told.tone == "bad" and "worst: slower with `a` since `v5.3`" in markdown(told.title)


def test_many_changes_of_one_term_are_sorted_out_quickly() -> None:
    many = tuple(move(p % 40, "a", ratio=1.1 if p % 3 else 0.8) for p in range(5000))
    assert len(fates(*many)) == 5000


def test_both_ends_of_an_episode_name_each_other_however_their_sizes_were_measured() -> None:
    ends = (move(8, ratio=1.3, shape="transient"), move(12, ratio=0.6, shape="transient"))
    assert fates(*ends) == ["transient: passed again at `v5.3`", "ends the episode since `v5.2`"]
    assert fates(ends[0]) == ["transient"]


def test_a_slow_down_that_was_undone_is_not_the_worst_and_not_red() -> None:
    undone = (move(8, "a", ratio=3.0), move(12, "a", ratio=1 / 3.0))
    found = bisection(verdict="mixed", change_points=(*undone, move(20, "b", ratio=1.05)), series=(series(),))
    assert "worst: slower with `b` since" in markdown(range_headline(found).title)
    alone = range_headline(bisection(verdict="mixed", change_points=undone, series=(series(),)))
    assert (alone.tone, alone.icon, alone.accept) == ("unclear", "🟡", None)


def test_the_end_of_an_episode_that_was_faster_is_no_slow_down() -> None:
    ends = (move(8, ratio=0.5, shape="transient"), move(12, ratio=2.0, shape="transient"))
    found = range_headline(bisection(verdict="mixed", change_points=ends, series=(series(),)))
    assert found.tone == "good"


def test_a_metric_that_is_better_when_higher_turns_the_words() -> None:
    point = move(8, "a", ratio=0.8, metric="throughput")
    found = bisection(verdict="improvement", higher_is_better=("throughput",), change_points=(point,))
    assert markdown(range_headline(found).title) == "Worse with `a` since `v5.2`: -20 % `throughput`"


def test_a_revision_has_its_label_its_short_id_and_its_subject() -> None:
    assert markdown(revision(move(12, ratio=1.1, subject="Fix #12"))) == (
        f"`v5.3` `{sha(12)[:10]}` “Fix #&#8203;12”"
    )
    assert markdown(revision(move(13, ratio=1.1))) == f"`{sha(13)[:10]}`"
    bare = ChangePoint(revision="7", interval=("7", "7"), term=(), metric="cpu", ratio=1.1, probability=0.9)
    assert markdown(revision(bare)) == "revision `7`"


def test_the_comparison_spans_the_whole_interval() -> None:
    point = move(12, ratio=1.1, first=10, last=14)
    assert told(point) == f"suspects pr --base {sha(9)} --head {sha(14)} --exact-base"
    assert told(move(0, ratio=1.1)) == ""


def test_the_comparison_reads_the_configuration_that_was_given() -> None:
    point = move(12, ratio=1.1, first=10, last=14)
    assert told(point, config="bench/my file.yml").endswith(" --exact-base --config 'bench/my file.yml'")
    assert told(point, config="a\nb") == ""
    found = range_headline(bisection(verdict="regression", change_points=(point,), config="x.yml"))
    assert "--exact-base --config x.yml" in str(found)


def test_the_comparison_takes_its_inputs_from_where_the_range_took_them() -> None:
    point = move(12, ratio=1.1, first=10, last=14)
    assert told(point, overlay_from=sha(39)).endswith(f" --exact-base --overlay-from {sha(39)}")


@pytest.mark.parametrize("name", ["--config=x", "a\nb", "\u202ex", "n" * 1000])
def test_a_comparison_that_cannot_be_pasted_is_left_out(name: str) -> None:
    point = move(12, ratio=1.1, before=RevisionRef(revision=name, label="v1"))
    assert told(point) == ""


def test_a_revision_with_a_space_is_quoted() -> None:
    point = move(12, ratio=1.1, before=RevisionRef(revision="v 1; rm x", label="v1"))
    assert "--base 'v 1; rm x' --head" in told(point)


def told(point: ChangePoint, **fields: object) -> str:
    return comparison(point, bisection(**fields))


@pytest.mark.parametrize(
    ("level", "held"),
    [("a", True), ("!a", False), ("b", False), ("!b", True), ("level=6", True), ("level>=6", True),
     ("level<6", False), ("mode=fast", True), ("mode=slow", False), ("mode>=3", False), ("other", False)],
)  # fmt: skip
def test_a_configuration_holds_its_levels(level: str, held: bool) -> None:
    options: dict[str, Value] = {"a": True, "b": False, "level": 6, "mode": "fast"}
    assert holds((level,), options) is held
    assert holds((), options)


@pytest.mark.parametrize("unclear", [(), ("`threads` may be slower since v5.6 to v5.9.",)])
def test_an_old_improvement_makes_no_night_green_that_is_not_clear(unclear: tuple[str, ...]) -> None:
    lists = (Listed(kind="unclear", items=unclear),)
    faster = move(12, "a", ratio=0.8)
    night = bisection(mode="nightly", verdict="inconclusive", change_points=(faster,), lists=lists)
    found = range_headline(night)
    assert found.icon == "🟡" and found.action is not None
    assert ("asks again" in markdown(found.action)) is bool(unclear)
    accepted = Acceptance(source="file", until="2026-12-31", reason="worth it")
    slower = move(12, "a", ratio=1.2).model_copy(update={"accepted": accepted})
    agreed = range_headline(night.model_copy(update={"change_points": (slower,)}))
    assert agreed.icon == "🟡" and agreed.action == found.action
    assert markdown(agreed.title) == "Nothing slower but what was accepted, so far"


def test_a_night_that_is_not_remembered_says_so_first_and_promises_no_next_night() -> None:
    lists = (Listed(kind="unclear", items=("`threads` may be slower since v5.6.",)),)
    lost = "This night is not remembered: history in h cannot be written: No space left on device."
    night = bisection(mode="nightly", verdict="inconclusive", change_points=(), lists=lists, notes=(lost,))
    found = range_headline(night)
    assert [markdown(caveat) for caveat in found.caveats] == [lost]
    assert found.action is not None and "mend the place of the history first" in markdown(found.action)
