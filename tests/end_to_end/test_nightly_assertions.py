"""`suspects nightly` proposes assertions of a real program until they are taken over, then nothing more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bot.adapters.github.proposals import BRANCH
from tests.end_to_end.builders import CONFIG, Ended, Place, config
from tests.end_to_end.test_assertions import FILE, RUNTIMES, text
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    """A GitHub whose nightly workflow may write all that it writes."""
    fake = FakeGithub()
    fake.tokens[WORKFLOW] = Token(
        permissions={"contents": "write", "issues": "write", "pull-requests": "write"}
    )
    yield fake
    fake.close()


def night(place: Place, *, budget: str = "400s", github: FakeGithub | None = None) -> dict[str, Any]:
    """The report of a night, on GitHub's default branch if there is a GitHub."""
    env = {}
    if github is not None:
        event = place.out / "event.json"
        event.write_text(json.dumps({"repository": {"default_branch": "main"}}))
        env = {
            "GITHUB_EVENT_NAME": "schedule",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_API_URL": github.api.url,
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_TOKEN": WORKFLOW,
            "RUNNER_TEMP": str(place.temp),
        }
    ended: Ended = place.suspects(
        "nightly", "--budget", budget, "--history", "directory:.suspects/history",
        "--json", str(place.out / "report.json"), "--markdown", str(place.out / "report.md"),
        env=env,
    )  # fmt: skip
    assert ended.code == 0 and ended.report is not None, ended.said
    return ended.report


def program(place: Place) -> str:
    """Commits a program whose `read` is slow when `save` calls it, twice; the tip."""
    name, _, keys, _, turns = RUNTIMES["python"]
    options = {"verbose": {"flag": "--verbose"}}
    settings = config(program={"runtime": "python", **keys}, options=options, overhead="50%")
    place.commit({CONFIG: settings, name: text("python", fast=turns, slow=30 * turns)})
    return place.commit({"README": "nothing that runs"})


def test_a_night_proposes_what_the_next_does_not_once_it_was_taken_over(
    place: Place, github: FakeGithub
) -> None:
    tip = program(place)
    start = github.git.commit({"README": "nothing that runs"}, branch="main")
    github.git.commits[tip] = github.git.commits[start]
    first = night(place, github=github)
    proposed = first["proposed_assertions"]
    (entry,) = [e for e in proposed["entries"] if e["method"].endswith("read")]
    assert entry["change"] == "new" and entry["id"] in proposed["text"], first["notes"]
    assert "load" in entry["table"] or "save" in entry["table"]
    told = (place.out / "report.md").read_text()
    assert "Performance assertions to review" in told and f"+- id: {entry['id']}" in told
    kept = place.suspects("history", "list", "--json", "-", "--history", "directory:.suspects/history")
    assert "durations" in kept.out
    (pull,) = github.pulls.values()
    assert f"The change of assertions is proposed in {pull['html_url']}." in first["notes"]
    assert github.git.commits[github.git.branches[BRANCH]]["parents"] == [tip]
    assert github.git.files(github.git.branches[BRANCH])[FILE] == proposed["text"]
    place.commit({FILE: proposed["text"]})
    second = night(place)
    assert second["proposed_assertions"]["entries"] == [], second["notes"]
    assert any("their assertions stay as they are" in note for note in second["notes"])


def test_a_file_that_is_wrong_is_a_note_of_the_night(place: Place) -> None:
    program(place)
    place.commit({FILE: "version: 1\nassertions: 5\n"})
    report = night(place, budget="10s")
    said = [note for note in report["notes"] if note.startswith("No assertion was mined: ")]
    assert len(said) == 1 and f":{FILE}:2: assertions: " in said[0]
    assert report["proposed_assertions"]["text"] == ""
