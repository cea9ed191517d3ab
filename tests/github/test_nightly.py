"""Nights on GitHub: remembered in the history's branch, one issue a slow-down, the history left behind."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from bot.adapters.runner import Runner
from bot.adapters.terminal import QuietProgress
from bot.commands.action import Abilities, action
from bot.commands.github import RESULTS, connector, measure_for, nightly
from bot.commands.left_history import HISTORY
from bot.compose.nightly import AskedNight, leave_history, spent_night
from bot.event import Plan
from bot.model.errors import UsageError
from bot.model.report import Report
from bot.report.render import comment
from bot.settings import Inputs, Settings
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token
from tests.repositories import commit, git, new_repository

MODEL = """\
import numpy as np
RNG = np.random.default_rng(5)
def seconds(revision, configurations):
    base = 1.0 + configurations @ np.array([0.3, 0.1, 0.2])
    base = base + (revision >= 47) * 0.25 * configurations[:, 1]
    return base * RNG.normal(1.0, 0.01, len(configurations))
"""


@pytest.fixture
def settings(github: FakeGithub, tmp_path: Path) -> Settings:
    """A workflow's job on the default branch, whose server is a folder."""
    bare = tmp_path / "server" / REPOSITORY
    bare.mkdir(parents=True)
    git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    checkout = new_repository(tmp_path / "checkout")
    options = {name: {"flag": f"-{name}"} for name in "abc"}
    program = {"callable": "model:seconds", "revisions": 60}
    config = {"program": program, "options": options, "history": [{"store": "branch"}]}
    commit(checkout, {".github/suspects.yml": json.dumps(config), ".github/model.py": MODEL})
    github.tokens[WORKFLOW] = Token(permissions={"contents": "write", "issues": "write"})
    return Settings.read(
        {
            "GITHUB_EVENT_NAME": "schedule",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SERVER_URL": str(tmp_path / "server"),
            "GITHUB_API_URL": github.api.url,
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_RUN_ID": "77",
            "GITHUB_WORKSPACE": str(checkout),
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_TOKEN": WORKFLOW,
        }
    )


def asked(settings: Settings, head: str, *, writes: bool = True) -> AskedNight:
    assert settings.workspace is not None
    return AskedNight(settings, head=head, budget=900.0, repository=settings.workspace, writes=writes)


def night(settings: Settings, head: str, *, writes: bool = True) -> Report:
    return spent_night(asked(settings, head, writes=writes), QuietProgress())


def test_a_slow_down_is_announced_once_over_the_nights(github: FakeGithub, settings: Settings) -> None:
    first = night(settings, "40")
    assert first.history.source is None and github.issues == []
    second = night(settings, "52")
    assert second.history.source == "branch" and second.history.measurements == first.spent.trials
    assert [point.revision for point in second.change_points] == ["47"]
    (issue,) = github.issues
    assert "47" in issue["title"] and issue["body"].startswith("<!-- suspects change-point term=b ")
    assert f"Opened {issue['html_url']}." in second.notes
    third = night(settings, "58")
    assert [point.revision for point in third.change_points] == ["47"] and len(github.issues) == 1


def test_without_permission_the_summary_has_it(github: FakeGithub, settings: Settings) -> None:
    github.tokens[WORKFLOW] = Token(permissions={"contents": "write", "issues": "read"})
    night(settings, "40")
    report = night(settings, "52")
    assert report.verdict == "regression" and github.issues == []
    assert any("No issue was opened" in note and "issues: write" in note for note in report.notes)


def test_another_branch_is_neither_remembered_nor_announced(github: FakeGithub, settings: Settings) -> None:
    night(settings, "40", writes=False)
    report = night(settings, "52", writes=False)
    assert report.history.source is None and github.issues == []


def test_the_whole_history_is_left_for_the_workflow(settings: Settings, tmp_path: Path) -> None:
    leave_history(asked(settings, "40"), tmp_path / HISTORY)
    assert not (tmp_path / HISTORY).exists()
    night(settings, "40")
    night(settings, "52")
    leave_history(asked(settings, "52"), tmp_path / HISTORY)
    assert len(list((tmp_path / HISTORY).glob("*.parquet"))) == 2


def test_the_action_refuses_a_callable(settings: Settings) -> None:
    with pytest.raises(UsageError, match="the action measures"):
        nightly(settings, Plan("nightly", "asked for by schedule"), QuietProgress())


def test_the_action_measures_the_branch_and_leaves_report_and_history(
    settings: Settings, tmp_path: Path
) -> None:
    checkout = settings.workspace
    assert checkout is not None and settings.event_path is not None
    settings.event_path.write_text(json.dumps({"repository": {"default_branch": "main"}}))
    config = {"program": {"run": "./program.sh {options}"}, "options": {"a": {"flag": "-a"}}}
    for revision in range(3):
        program = f"#!/bin/sh\n# {revision}\ni=0; while [ $i -lt 2000 ]; do i=$((i+1)); done\n"
        commit(checkout, {".github/suspects.yml": json.dumps(config), "program.sh": program})
    log = io.StringIO()
    inputs = Inputs.model_validate({"mode": "nightly", "budget": "6s"})
    with_inputs = settings.model_copy(update={"inputs": inputs})
    runner = Runner(log, output=tmp_path / "output", summary=tmp_path / "summary")
    abilities = Abilities(
        runner=runner,
        connect=connector(with_inputs),
        render=comment,
        measure={"nightly": measure_for(with_inputs, nightly)},
    )
    assert action(with_inputs, abilities) == 0, log.getvalue()
    assert json.loads((checkout / RESULTS / "report.json").read_text())["mode"] == "nightly"
    assert len(list((checkout / HISTORY).glob("*-trials-*.parquet"))) == 1  # and profiles, if there was time
    assert "What tomorrow would do" in (tmp_path / "summary").read_text()
    assert "report<<" in (tmp_path / "output").read_text()
