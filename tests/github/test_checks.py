"""One check run for each head and run, with annotations, whatever happens between us and GitHub."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.adapters.github.checks import GithubChecks
from bot.model.errors import ForgeError, ForgeRefusedError
from bot.model.forge import Annotation, Check, Stamp
from tests.github.fake import FakeGithub, Token
from tests.github.serving import Kind

HEAD = "a" * 40
FIRST, AGAIN, SECOND = Stamp(100, 1, HEAD), Stamp(100, 2, HEAD), Stamp(200, 1, HEAD)
RUNS, ANNOTATIONS = "/check-runs$", "/annotations$"
AFTER: list[Kind] = ["502 after", "drop after"]
KINDS: list[Kind] = ["500", "502", "drop", "403 secondary", "429", *AFTER]


def check(count: int = 0, *, title: str = "CPU time up", **more: str) -> Check:
    lines = tuple(
        Annotation(f"src/{n % 7}.py", n + 1, "warning", "f is slower", f"{n} ms") for n in range(count)
    )
    return Check("Suspects", "failure", title, "Slower.", lines)


def places(github: FakeGithub) -> list[list[str]]:
    return [lines for _, _, _, lines in github.checks.told()]


@pytest.fixture
def speaking(forge: Callable[..., GithubChecks]) -> GithubChecks:
    return forge()


def test_a_check_run_stands_beside_the_head(github: FakeGithub, speaking: GithubChecks) -> None:
    placed = speaking.check(check(2), FIRST)
    (run,) = github.checks.runs.values()
    assert (placed.placing, placed.url) == ("created", run["html_url"])
    assert (run["head_sha"], run["status"], run["external_id"]) == (
        HEAD,
        "completed",
        "suspects run=100 attempt=1",
    )
    assert github.checks.told() == [("Suspects", "failure", "CPU time up", ["src/0.py:1", "src/1.py:2"])]


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (50, 1), (51, 2), (170, 4)])
def test_annotations_are_sent_fifty_at_a_time(
    github: FakeGithub, speaking: GithubChecks, count: int, requests: int
) -> None:
    speaking.check(check(count), FIRST)
    assert [len(lines) for lines in places(github)] == [count]
    assert github.api.count("POST", RUNS) + github.api.count("PATCH", "check-runs") == requests


def test_the_same_again_changes_nothing(github: FakeGithub, speaking: GithubChecks) -> None:
    speaking.check(check(120), FIRST)
    writes = github.api.count("PATCH", "check-runs")
    assert speaking.check(check(120), FIRST).placing == "unchanged"
    assert github.api.count("PATCH", "check-runs") == writes
    assert [len(lines) for lines in places(github)] == [120]


def test_a_rerun_brings_the_same_check_run_up_to_date(github: FakeGithub, speaking: GithubChecks) -> None:
    speaking.check(check(1), FIRST)
    assert speaking.check(check(3, title="Fixed"), AGAIN).placing == "edited"
    assert github.checks.told() == [
        ("Suspects", "failure", "Fixed", ["src/0.py:1", "src/1.py:2", "src/2.py:3"])
    ]


def test_another_run_of_the_head_has_its_own_check_run(github: FakeGithub, speaking: GithubChecks) -> None:
    speaking.check(check(), FIRST)
    assert speaking.check(check(title="Now"), SECOND).placing == "created"
    assert [title for _, _, title, _ in github.checks.told()] == ["CPU time up", "Now"]


@pytest.mark.parametrize("late", [FIRST, AGAIN])
def test_a_run_that_ends_late_says_nothing_over_a_newer_one(
    github: FakeGithub, speaking: GithubChecks, late: Stamp
) -> None:
    speaking.check(check(title="New"), SECOND)
    assert speaking.check(check(title="Old"), late).placing == "outdated"
    assert [title for _, _, title, _ in github.checks.told()] == ["New"]


def test_an_older_attempt_leaves_the_newer_ones_words(github: FakeGithub, speaking: GithubChecks) -> None:
    speaking.check(check(title="New"), AGAIN)
    assert speaking.check(check(title="Old"), FIRST).placing == "outdated"
    assert [title for _, _, title, _ in github.checks.told()] == ["New"]


@pytest.mark.parametrize("other", ["", "lint", "suspects run=9999999 attempt=1, or so"])
def test_check_runs_of_others_are_left_alone(github: FakeGithub, speaking: GithubChecks, other: str) -> None:
    speaking.check(check(), FIRST)
    github.checks.runs[next(iter(github.checks.runs))]["external_id"] = other
    assert speaking.check(check(title="Ours"), FIRST).placing == "created"
    assert [title for _, _, title, _ in github.checks.told()] == ["CPU time up", "Ours"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "path"), [("POST", RUNS), ("PATCH", "check-runs")])
def test_a_lost_answer_leaves_one_check_run_with_each_annotation_once(
    github: FakeGithub, speaking: GithubChecks, kind: Kind, method: str, path: str
) -> None:
    github.fault(kind, method, path)
    assert speaking.check(check(120), FIRST).placing == "created"
    (lines,) = places(github)
    assert len(lines) == len(set(lines)) == 120


@pytest.mark.parametrize("path", [RUNS, ANNOTATIONS])
@pytest.mark.parametrize("kind", ["502", "drop", "429"])
def test_reading_survives_passing_faults(
    github: FakeGithub, speaking: GithubChecks, kind: Kind, path: str
) -> None:
    speaking.check(check(60), FIRST)
    github.fault(kind, "GET", path, times=3)
    assert speaking.check(check(60), FIRST).placing == "unchanged"


def test_github_down_for_good_is_one_line(
    github: FakeGithub, speaking: GithubChecks, waited: list[float]
) -> None:
    github.fault("502", "POST", RUNS, times=99)
    with pytest.raises(ForgeError, match="checking aaaaaaaaaaaa: GitHub answered 502") as caught:
        speaking.check(check(), FIRST)
    assert "\n" not in str(caught.value)
    assert (github.api.count("POST", RUNS), len(waited)) == (6, 5)


def test_a_token_that_may_not_check_is_told_the_permission(
    github: FakeGithub, forge: Callable[..., GithubChecks]
) -> None:
    github.tokens["weak"] = Token(permissions={"pull-requests": "write"})
    with pytest.raises(ForgeRefusedError, match="`checks: write`"):
        forge("weak").check(check(), FIRST)
    github.private = True  # then even looking is refused
    with pytest.raises(ForgeRefusedError, match="`checks: write`"):
        forge("weak").check(check(), FIRST)


def test_a_place_without_check_runs_is_a_refusal(github: FakeGithub, speaking: GithubChecks) -> None:
    speaking.check(check(), FIRST)
    (run,) = github.checks.runs.values()
    run["url"] += "0"  # the run is gone when it is edited
    with pytest.raises(ForgeRefusedError, match="`checks: write`"):
        speaking.check(check(title="New"), FIRST)
