"""The comment of a range: what it says in each state, and what it never says."""

import re

import pytest

from bot.model.noise import Noise
from bot.model.report import Environment
from bot.report import render
from bot.report.render import comment, page, summary
from tests.unit.report.ranges import builders
from tests.unit.report.ranges.builders import bisection, move, series, states
from tests.unit.report.test_comment import GITHUB, NAMES, OURS
from tests.unit.report.test_page import Elements

GREEN = ("bisect_nothing", "bisect_faster", "nightly_nothing")


@pytest.mark.parametrize("state", sorted(states()))
def test_nothing_of_a_range_speaks_of_pull_requests(state: str) -> None:
    text = comment(states()[state])
    assert not re.search(r"pull request|\d pairs?\b|[Bb]ase and head|smallest slow-down.*not known", text)


@pytest.mark.parametrize("state", sorted(states()))
def test_a_range_is_green_only_when_it_was_searched_to_its_end(state: str) -> None:
    assert comment(states()[state]).startswith("### 🟢") is (state in GREEN)


def test_an_alias_that_only_adds_what_a_term_implies_is_left_out() -> None:
    slow = move(12, "json", ratio=1.2, aliases=(("json", "run"), ("text",)))
    text = comment(bisection(verdict="regression", change_points=(slow,)))
    assert "cannot be told apart from `text` on)" in text
    assert "`json` and `run`" not in text


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_labels_and_subjects_stay_names(name: str) -> None:
    for text in (
        comment(builders.hostile(name)),
        summary(builders.hostile(name)).replace("## Suspects\n\n", ""),
    ):
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x09\x0b-\x1f\x7f]", text)
        tokens = GITHUB.parse(text)
        assert sum(t.type == "heading_open" for t in tokens) == 1
        assert not any(t.type in ("blockquote_open", "ordered_list_open", "hr", "code_block") for t in tokens)
        for token in tokens:
            if token.type == "html_block":
                assert OURS.sub("", token.content).strip() == ""
            shown, depth = "", 0
            for child in token.children or []:
                assert child.type not in ("link_open", "image", "em_open", "s_open"), child
                if child.type == "html_inline":
                    assert OURS.fullmatch(child.content), child
                    depth += 0 if "code" not in child.content else -1 if "/" in child.content else 1
                shown += child.content if child.type == "text" and not depth else ""
            assert not re.search(r"@\w|#\d|(?i:gh-)\d|https?://|www\.", shown)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_labels_become_no_elements_of_the_page(name: str) -> None:
    harmless = {tag for tag, _ in Elements(page(builders.hostile("x"))).found}
    for tag, attributes in Elements(page(builders.hostile(name))).found:
        assert tag in harmless and tag not in ("script", "img", "iframe", "object")
        assert not any(key.startswith("on") for key in attributes)


@pytest.mark.parametrize("state", [state for state in sorted(states()) if state.startswith("nightly")])
def test_a_night_is_told_to_raise_nothing_that_the_command_does_not_have(state: str) -> None:
    assert "--trials" not in comment(states()[state])


def test_two_thousand_change_points_fit_a_comment_and_are_counted() -> None:
    many = tuple(move(p % 40, f"option{p}", ratio=1.1 + p / 1000) for p in range(2000))
    text = comment(
        bisection(verdict="regression", change_points=many, series=tuple(series() for _ in range(8)))
    )
    assert len(text) <= render.COMMENT_CHARACTERS
    assert "2,000 change points; the worst: slower with `option1999`" in text
    assert "and 1,980 more change points, in the report" in text


def test_revisions_beyond_all_that_were_tried_are_dots_and_the_text_says_so() -> None:
    whole = series()
    late = whole.model_copy(update={"points": whole.points[3:]})
    said = "and · one of which nothing is known"
    assert said in comment(bisection(series=(whole, late)))
    assert said not in comment(bisection(series=(whole,)))


def test_what_several_changes_of_the_default_come_to_is_told_as_a_whole() -> None:
    first, second = move(12, ratio=1.2), move(24, "!extreme", ratio=1.1)
    found = bisection(verdict="regression", change_points=(first, second), series=(series(first, second),))
    said = "From `v5.0` to `42be108b85` as a whole, the default configuration: **+32 %** CPU time."
    assert said in comment(found)
    assert "as a whole" not in comment(
        found.model_copy(update={"change_points": (first,), "series": (series(first),)})
    )
    noisy = Environment(noise=(Noise(metric="cpu", pairs=20, sd_percent=5.0, bias_percent=None),))
    assert "as a whole" not in comment(found.model_copy(update={"environment": noisy}))


def test_what_the_default_moved_beside_the_only_change_of_it_is_told_with_the_whole() -> None:
    told, crept = move(12, ratio=1.2), move(24, ratio=1.1)
    found = bisection(verdict="regression", change_points=(told,), series=(series(told, crept),))
    assert "as a whole, the default configuration: **+32 %**" in comment(found)


@pytest.mark.parametrize("known", [True, False])
def test_a_night_tells_how_far_the_default_moved_since_the_old_end_of_its_range(known: bool) -> None:
    told, crept = move(12, ratio=1.2), move(24, ratio=1.1)
    points = (told,) if known else ()
    night = bisection(mode="nightly", change_points=points, series=(series(told, crept),))
    assert "as a whole, the default configuration: **+32 %** CPU time." in comment(night)
    once = series(told, crept)
    first = once.points[0].model_copy(update={"trials": 1})
    once = once.model_copy(update={"points": (first, *once.points[1:])})
    assert "as a whole" not in comment(night.model_copy(update={"series": (once,)}))


def test_an_episode_that_is_over_is_no_reason_to_stop_where_the_search_was_cut_short() -> None:
    episode = states()["bisect_episode"]
    assert "**What to do:** nothing, unless it can come back" in comment(episode)
    cut = episode.model_copy(update={"interrupted": "budget"})
    assert (
        "**What to do:** it is no longer there; to be sure that nothing became slower, give it more"
        in comment(cut)
    )
