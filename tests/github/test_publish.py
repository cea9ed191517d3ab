"""The trusted second stage, end to end: the right pull request, and none of a fork's words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.adapters.documents.subject_file import read_subject
from bot.adapters.github.artifacts import GithubArtifacts
from bot.adapters.github.checks import GithubChecks
from bot.flows.publish import Outcome, Trusted, noteworthy, publish
from bot.flows.publishing.disarm import FORK_NOTES, disarm
from bot.model.errors import ArtifactError, ForgeRefusedError
from bot.model.forge import WorkflowRun
from bot.model.report import RevisionRef, Spent
from bot.model.report_methods import CodePlace
from bot.report.render import comment
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token
from tests.github.reports import BASE, HEAD, packed, report
from tests.unit.report.assertion_reports import held, semaphore

FORK = "eve/tools"
RUN = 500
TRUSTED = Trusted(".github/suspects.yml", lambda text, name: read_subject(text, name=name, directory=None))


@pytest.fixture
def publishing(
    github: FakeGithub, forge: Callable[..., GithubChecks], artifacts: GithubArtifacts
) -> Callable[..., Outcome]:
    def publish_it(*, run_id: int = RUN, **more: Any) -> Outcome:
        more.setdefault("render", lambda one, fork: one.model_dump_json())
        more.setdefault("trusted", TRUSTED)
        return publish(forge(), artifacts, repository=REPOSITORY, run_id=run_id, **more)

    return publish_it


def measured(github: FakeGithub, *, source: str | None = FORK, number: int = 7, **changes: Any) -> None:
    """A pull request, its ended run and the artifact of it."""
    github.pull(number, head=HEAD, source=source)
    github.run(RUN, head=HEAD, source=source)
    github.artifact(RUN, packed(report(**changes)))


def test_a_forks_result_is_commented_without_its_words(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    measured(github)
    outcome = publishing()
    assert (outcome.ending, outcome.reason) == ("published", "#7: created")
    assert outcome.url == github.comments[0]["html_url"]
    body = github.bodies()[0]
    assert f"run={RUN} attempt=1 head={HEAD}" in body.splitlines()[0]
    for words in ("curl", "a note of", "last words", "it said no", "words of the program", "topic", "gcc"):
        assert words not in body
    for kept in ("compress", "level>=3", "crc64", "1.05", "pkg.Class.method", "Some CPU (R) 2.5 GHz"):
        assert kept in body
    assert FORK_NOTES[0] in body


def test_a_branch_of_the_repository_keeps_its_words(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    measured(github, source=REPOSITORY)
    assert publishing().report == report()


def test_a_second_run_edits_the_same_comment(github: FakeGithub, publishing: Callable[..., Outcome]) -> None:
    measured(github)
    publishing()
    github.run(RUN + 1, head=HEAD, source=FORK)
    github.artifact(RUN + 1, packed(report(verdict="none")))
    assert publishing(run_id=RUN + 1).reason == "#7: edited"
    assert publishing().reason == "#7: outdated"
    assert len(github.bodies()) == 1
    assert '"verdict":"none"' in github.bodies()[0]


def test_two_forks_with_the_same_branch_name_are_told_apart(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    github.pull(6, head="c" * 40, source="adam/tools")
    measured(github)
    github.pull(8, head=HEAD, source="eve/other-tools")
    assert publishing().reason == "#7: created"


def test_the_measured_base_decides_between_two_pull_requests_of_one_branch(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    github.pull(6, head=HEAD, base="1" * 40, source=FORK)
    measured(github)
    github.merge_bases = {("1" * 40, HEAD): "2" * 40, ("b" * 40, HEAD): BASE}
    assert publishing().reason == "#7: created"
    github.merge_bases = {("1" * 40, HEAD): "2" * 40, ("b" * 40, HEAD): "3" * 40}
    with pytest.raises(ArtifactError, match="another base"):
        publishing()


def test_one_result_of_two_pull_requests_with_one_merge_base_is_told_on_both(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    github.pull(6, head=HEAD, base="1" * 40, source=FORK)
    measured(github)
    github.merge_bases = {("1" * 40, HEAD): BASE, ("b" * 40, HEAD): BASE}
    assert publishing().reason == "#6: created, #7: created"


def test_a_forced_push_in_the_meantime_publishes_nothing(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    measured(github)
    github.pull(7, head="d" * 40, source=FORK)
    outcome = publishing()
    assert (outcome.ending, github.comments) == ("nothing", [])
    assert "no open pull request has aaaaaaaaaaaa as its head" in outcome.reason


def test_a_closed_pull_request_gets_nothing(github: FakeGithub, publishing: Callable[..., Outcome]) -> None:
    measured(github)
    github.pulls[7]["state"] = "closed"
    assert publishing().ending == "nothing"


@pytest.mark.parametrize(
    "without", [lambda run: replace(run, head_repository=None), lambda run: replace(run, head_branch=None)]
)
def test_a_deleted_fork_gets_nothing(
    github: FakeGithub, artifacts: GithubArtifacts, without: Callable[[WorkflowRun], WorkflowRun]
) -> None:
    # GitHub answers so although its description knows no run without a head repository.
    class Deleted(GithubChecks):
        def run(self, run_id: int) -> WorkflowRun:
            return without(super().run(run_id))

    measured(github)
    with Deleted(REPOSITORY, WORKFLOW, api_url=github.api.url) as speaking:
        outcome = publish(
            speaking,
            artifacts,
            repository=REPOSITORY,
            run_id=RUN,
            render=lambda one, fork: "",
            trusted=TRUSTED,
        )
    assert outcome.reason == "the fork or branch that was measured has been deleted"


def test_a_run_of_a_push_gets_nothing(github: FakeGithub, publishing: Callable[..., Outcome]) -> None:
    github.run(RUN, head=HEAD, event="push")
    assert publishing().reason == f"run {RUN} was started by push, not by a pull request"


def test_a_run_that_left_nothing_says_how_it_ended(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    github.pull(7, head=HEAD, source=FORK)
    github.run(RUN, head=HEAD, source=FORK, conclusion="failure")
    assert publishing().reason == f"run {RUN} (failure) left no artifact named suspects-report"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "nightly"}, "mode nightly"),
        ({"head": RevisionRef(revision="f" * 40, label="x")}, "another head"),
        ({"head": None}, "another head"),
        ({"base": None}, "another head"),
        ({"base": RevisionRef(revision="main", label="x")}, "names something"),
        ({"primary_metric": "[click](https://evil.test)"}, "names something"),
    ],
)
def test_an_artifact_about_something_else_is_refused(
    github: FakeGithub, publishing: Callable[..., Outcome], changes: dict[str, Any], words: str
) -> None:
    measured(github, **changes)
    with pytest.raises(ArtifactError, match=words):
        publishing()
    assert not github.comments


def test_a_policy_of_never_comments_nowhere(github: FakeGithub, publishing: Callable[..., Outcome]) -> None:
    measured(github)
    outcome = publishing(policy="never")
    assert (outcome.reason, outcome.url, github.comments) == ("#7: absent", None, [])


def test_on_change_starts_no_comment_about_nothing_but_ends_an_old_alarm(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    measured(github, verdict="none", build_failures=())
    assert publishing(policy="on-change").reason == "#7: absent"
    github.run(RUN + 1, head=HEAD, source=FORK)
    github.artifact(RUN + 1, packed(report()))
    assert publishing(run_id=RUN + 1, policy="on-change").reason == "#7: created"
    github.run(RUN + 2, head=HEAD, source=FORK)
    github.artifact(RUN + 2, packed(report(verdict="none", build_failures=())))
    assert publishing(run_id=RUN + 2, policy="on-change").reason == "#7: edited"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"verdict": "regression"}, True),
        ({"verdict": "improvement"}, True),
        ({"verdict": "mixed"}, True),
        ({"verdict": "none"}, False),
        ({"verdict": "inconclusive"}, False),
        ({"verdict": "inconclusive", "spent": Spent()}, True),
    ],
)
def test_a_change_or_an_unmeasured_head_is_worth_a_first_comment(
    changes: dict[str, Any], expected: bool
) -> None:
    assert noteworthy(report(build_failures=(), **changes)) is expected


def test_a_broken_build_is_worth_a_first_comment() -> None:
    assert noteworthy(report(verdict="inconclusive"))


def test_a_token_that_may_not_comment_is_told_the_permission(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    measured(github)
    github.tokens["workflow-token"] = Token(permissions={"actions": "read"})
    with pytest.raises(ForgeRefusedError, match="`pull-requests: write`"):
        publishing()


HOSTILE = [
    "`code`",
    "a|b",
    "@everyone",
    "<!-- suspects pull-request run=9 attempt=9 head=x -->",
    "<script>",
    "https://evil.test",
    "www.evil.test",
    "../../etc/passwd",
    "a\nb",
    "::error::x",
    "\x1b[31m",
    "x" * 300,
    "#12",
    "![](x)",
    "",
    "\u202eevil",
    "a b; rm -rf ~",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_names_of_options_are_refused(words: str) -> None:
    effect = report().effects[0].model_copy(update={"term": (words,)})
    change = report().configurations[0]
    suspects, profile = report().suspects, report().profiles[0]
    method = suspects.methods[0].model_copy(update={"options": {words: True}})
    for changes in (
        {"suspects": suspects.model_copy(update={"methods": (method,)})},
        {"profiles": (profile.model_copy(update={"options": {"check": words}}),)},
        {"effects": (effect,)},
        {"configurations": (change.model_copy(update={"options": {words: True}}),)},
        {"configurations": (change.model_copy(update={"options": {"check": words}}),)},
        {"configurations": (change.model_copy(update={"metric": words}),)},
        {"base": RevisionRef(revision=words, label="x")},
    ):
        with pytest.raises(ArtifactError, match="names something"):
            disarm(report(**changes), head_sha=HEAD)


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_a_reader_can_do_without_vanish(words: str) -> None:
    one = report()
    method, profile = one.suspects.methods[0], one.profiles[0]
    names = {"method": words, "file": words, "was": words, "callers": (words, *method.callers)}
    suspects = one.suspects.model_copy(update={"methods": (method.model_copy(update=names),)})
    path = profile.flame[0].model_copy(update={"method": words})
    profile = profile.model_copy(update={"tool": words, "flame": (path, *profile.flame[1:])})
    environment = one.environment.model_copy(update={"cpu": words, "kernel": words, "image": words})
    history = one.history.model_copy(update={"source": words, "newest": words})
    hostile = report(
        suspects=suspects, profiles=(profile,), environment=environment, history=history, subject=words
    )
    shown = disarm(hostile, head_sha=HEAD)
    assert not words or words not in shown.model_dump_json()
    found = shown.suspects.methods[0]
    assert (found.method, found.file) == ("(name not shown)", None)
    assert found.callers == ("(name not shown)", *method.callers)
    assert found.was == (words and "(name not shown)")
    assert (found.share_of_change, found.interval) == (0.9, (0.8, 1.0))
    assert [node.method for node in shown.profiles[0].flame] == ["(name not shown)", "pkg.Class.method"]


def test_numbers_and_harmless_names_of_methods_and_profiles_are_kept_whole() -> None:
    shown = disarm(report(), head_sha=HEAD)
    assert shown.suspects.methods == report().suspects.methods
    assert shown.profiles == report().profiles


@pytest.mark.parametrize(
    ("owner", "kept"),
    [
        (CodePlace(method="pkg.load", file="pkg/load.py", line=7), True),
        (CodePlace(method="pkg.load", file="see https://evil.example/", line=7), False),
    ],
)
def test_who_leads_to_a_method_outside_is_kept_with_a_plain_path_only(owner: CodePlace, kept: bool) -> None:
    one = report()
    method = one.suspects.methods[0].model_copy(update={"owner": owner})
    shown = disarm(report(suspects=one.suspects.model_copy(update={"methods": (method,)})), head_sha=HEAD)
    assert shown.suspects.methods[0].owner == (owner if kept else None)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("std::vector<std::pair<int, char>>::push_back", True),
        ("main.(*Server).Serve", True),
        ("Object.<anonymous>", True),
        ("merged by, the, way", False),
        ("approved by security", False),
        ("f(int,  char)", False),
        ("a,", False),
        ("<img>", False),
    ],
)
def test_names_of_all_languages_are_kept_and_sentences_are_not(name: str, kept: bool) -> None:
    one = report()
    method = one.suspects.methods[0].model_copy(update={"method": name})
    shown = disarm(report(suspects=one.suspects.model_copy(update={"methods": (method,)})), head_sha=HEAD)
    assert shown.suspects.methods[0].method == (name if kept else "(name not shown)")


@pytest.mark.parametrize("parents", [(0,), (-1, 1), (-1, 2, 0), (-1,) * 1001])
def test_call_paths_that_are_no_tree_are_refused(parents: tuple[int, ...]) -> None:
    one = report()
    path = one.profiles[0].flame[0]
    flame = tuple(path.model_copy(update={"parent": parent}) for parent in parents)
    profiles = (one.profiles[0].model_copy(update={"flame": flame}),)
    with pytest.raises(ArtifactError, match="no tree"):
        disarm(report(profiles=profiles), head_sha=HEAD)


def test_links_lead_to_our_repository_whatever_a_fork_says(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    measured(github, repository="https://evil.test/eve/tools")
    publishing(render=comment, trusted=replace(TRUSTED, address="https://github.com/ann/tools"))
    assert f"(https://github.com/ann/tools/blob/{HEAD}/pkg/module.py#L3)" in github.bodies()[0]
    assert "evil.test" not in github.bodies()[0]


def test_assertions_of_a_fork_are_told_without_its_words() -> None:
    shown = disarm(report(assertions=(semaphore(why=("words",)), held())), head_sha=HEAD)
    assert [one.outcome for one in shown.assertions] == ["violated", "undecided"]
    text = comment(shown, fork=True)
    assert "Performance assertions: 1 violated, 0 held, 1 undecided" in text
    assert "`child_main > proc_mutex_sysv_acquire`" in text and "words" not in shown.model_dump_json()


def test_endless_lists_are_refused() -> None:
    profiles, effects = report().profiles * 5001, report().effects * 5001
    for endless in (
        report(effects=effects),
        report(profiles=profiles),
        report(assertions=(semaphore(),) * 5001),
    ):
        with pytest.raises(ArtifactError, match="more than 5000"):
            disarm(endless, head_sha=HEAD)
