"""Workflows, actions, templates and the image's recipe pass the linters of their kind."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
TEMPLATES = sorted((ROOT / "templates/workflows").glob("*.yml.j2"))
OWN = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONS = [ROOT / "action.yml", ROOT / "composite/action.yml"]
ACTION = f"octo/suspects@{'0123456789abcdef' * 2 + '01234567'} # v1.2.3"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """A linter of the environment that runs the tests; a missing one is a failure."""
    name, *arguments = map(str, command)
    return subprocess.run([BIN / name, *arguments], capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.fixture(scope="module", params=["keeps block lines", "trims block lines"])
def rendered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The workflows that `suspects init` writes, however its environment treats the lines of blocks."""
    folder = tmp_path_factory.mktemp("stranger") / ".github/workflows"
    folder.mkdir(parents=True)
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=request.param == "trims block lines",
        autoescape=False,
    )
    for template in TEMPLATES:
        text = environment.from_string(template.read_text("utf-8")).render(action=ACTION)
        (folder / template.stem).write_text(text, "utf-8")
    return sorted(folder.iterdir())


def test_there_is_something_to_check() -> None:
    assert [path.name for path in OWN] == ["ci.yml", "demo.yml", "release.yml"]
    assert [path.name for path in TEMPLATES] == [
        "suspects-bisect.yml.j2",
        "suspects-nightly.yml.j2",
        "suspects-publish.yml.j2",
        "suspects.yml.j2",
    ]


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    return run("zizmor", "--offline", "--no-progress", "--persona=pedantic", *paths)


def test_zizmor_finds_nothing_in_ours() -> None:
    done = zizmor(*OWN, *ACTIONS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_finds_nothing_in_what_init_writes(rendered: list[Path]) -> None:
    done = zizmor(*rendered)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_would_find_something(tmp_path: Path) -> None:
    bad = tmp_path / ".github/workflows/bad.yml"
    bad.parent.mkdir(parents=True)
    text = OWN[0].read_text("utf-8").replace("run: .ci/run", "run: echo ${{ github.head_ref }}")
    bad.write_text(text, "utf-8")
    done = zizmor(bad)
    assert done.returncode != 0
    assert "template-injection" in done.stdout


@pytest.mark.parametrize(("schema", "paths"), [("github-workflows", OWN), ("github-actions", ACTIONS)])
def test_ours_fit_their_schemas(schema: str, paths: list[Path]) -> None:
    done = run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_init_writes_fits_its_schema(rendered: list[Path]) -> None:
    done = run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *rendered)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hadolint_finds_nothing() -> None:
    done = run("hadolint", ROOT / "Dockerfile")
    assert done.returncode == 0, done.stdout + done.stderr


def workflow(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(path.read_text("utf-8"))
    return content


def test_a_job_gets_only_the_permissions_it_names(rendered: list[Path]) -> None:
    for path in [*OWN, *rendered]:
        content = workflow(path)
        assert content["permissions"] == {}, path.name
        assert all("permissions" in job for job in content["jobs"].values()), path.name


def test_what_measures_strangers_may_only_read(rendered: list[Path]) -> None:
    jobs = {path.name: workflow(path)["jobs"] for path in rendered}
    assert jobs["suspects.yml"]["measure"]["permissions"] == {"contents": "read"}
    assert jobs["suspects-bisect.yml"]["bisect"]["permissions"] == {"contents": "read"}
    assert jobs["suspects-nightly.yml"]["nightly"]["permissions"] == {
        "contents": "write",
        "issues": "write",
        "pull-requests": "write",
    }
    assert jobs["suspects-publish.yml"]["publish"]["permissions"] == {
        "actions": "read",
        "contents": "read",
        "pull-requests": "write",
    }


def test_no_workflow_of_strangers_starts_on_a_privileged_event(rendered: list[Path]) -> None:
    events = {path.name: set(workflow(path)["on"]) for path in rendered}
    assert events == {
        "suspects.yml": {"pull_request"},
        "suspects-publish.yml": {"workflow_run"},
        "suspects-nightly.yml": {"schedule", "workflow_dispatch"},
        "suspects-bisect.yml": {"workflow_dispatch"},
    }


def test_every_action_is_pinned_by_its_commit_with_its_version_beside(rendered: list[Path]) -> None:
    used = [
        line
        for path in [*OWN, *ACTIONS, *rendered]
        for line in path.read_text("utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    assert len(used) > 10
    for line in used:
        assert re.search(r"uses: [\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
