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

from bot.commands.shard_modes import SHARD, SHARDS
from bot.flows.conversation.commands import BISECT, MEASURING, RERUN

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
        "suspects-commands.yml.j2",
        "suspects-matrix.yml.j2",
        "suspects-nightly-matrix.yml.j2",
        "suspects-nightly.yml.j2",
        "suspects-publish.yml.j2",
        "suspects-rerun.yml.j2",
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
    text = OWN[0].read_text("utf-8").replace("run: sudo .ci/run", "run: echo ${{ github.head_ref }}")
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
    reading = {"actions": "read", "contents": "read"}  # artifacts of the history, and the code
    assert jobs["suspects.yml"]["measure"]["permissions"] == reading
    assert jobs["suspects-bisect.yml"]["bisect"]["permissions"] == {"contents": "read"}
    assert all(job["permissions"] == reading for job in jobs["suspects-matrix.yml"].values())
    measure, merge = (
        jobs["suspects-nightly-matrix.yml"][name]["permissions"] for name in ("measure", "nightly")
    )
    assert measure == reading
    assert merge == {"actions": "read", "contents": "write", "issues": "write"}
    assert jobs["suspects-nightly.yml"]["nightly"]["permissions"] == {
        "actions": "read",
        "contents": "write",
        "issues": "write",
        "pull-requests": "write",
    }
    assert jobs["suspects-publish.yml"]["publish"]["permissions"] == {
        "actions": "read",
        "checks": "write",
        "contents": "read",
        "pull-requests": "write",
    }


def test_what_obeys_comments_may_do_just_that(rendered: list[Path]) -> None:
    jobs = {path.name: workflow(path)["jobs"] for path in rendered}
    commands, rerun = jobs["suspects-commands.yml"], jobs["suspects-rerun.yml"]
    assert {name: job["permissions"] for name, job in commands.items()} == {
        "dispatch": {"actions": "write", "contents": "read", "pull-requests": "write"},
        "accept": {"actions": "read", "contents": "write", "pull-requests": "write"},
    }
    for job in commands.values():
        assert job["if"].startswith("github.event.issue.pull_request && startsWith(")
        assert job["steps"] == [{"name": "Obey the comment", "uses": ACTION.partition(" ")[0]}]
    assert rerun["measure"]["permissions"] == {"actions": "read", "contents": "read"}
    assert rerun["publish"]["permissions"] == jobs["suspects-publish.yml"]["publish"]["permissions"]
    assert [step["uses"] for step in rerun["publish"]["steps"]] == [ACTION.partition(" ")[0]]  # no checkout


def test_what_is_dispatched_is_what_the_workflows_take(rendered: list[Path]) -> None:
    inputs = {
        path.name: (workflow(path)["on"].get("workflow_dispatch") or {}).get("inputs") for path in rendered
    }
    assert set(inputs[RERUN] or ()) == {"pull_request", "base", "head", "budget"}
    assert set(inputs[BISECT] or ()) == {"range"}
    assert MEASURING in inputs


@pytest.mark.parametrize("name", ["suspects", "suspects-nightly"])
def test_a_matrix_takes_the_place_of_one_job_and_its_jobs_agree(rendered: list[Path], name: str) -> None:
    paths = {path.name: path for path in rendered}
    alone, several = (workflow(paths[f"{name}{end}.yml"]) for end in ("", "-matrix"))
    assert {key: alone[key] for key in ("name", "on", "concurrency")} == {
        key: several[key] for key in ("name", "on", "concurrency")
    }
    measure, merge = several["jobs"].values()
    assert measure["strategy"] == {"fail-fast": False, "matrix": {"shard": [0, 1, 2, 3]}}
    checkout, shard, leave = measure["steps"]
    assert shard["with"] == {"mode": "shard", "shard": "${{ matrix.shard }}/4"}
    assert leave["with"]["name"] == f"{SHARD}-${{{{ matrix.shard }}}}" and leave["with"]["path"] == SHARD
    (bring,) = [step for step in merge["steps"] if step.get("uses", "").startswith("actions/download")]
    assert bring["with"] == {"pattern": f"{SHARD}-*", "path": SHARDS}
    assert merge["needs"] == "measure" and merge["if"] == "${{ !cancelled() }}"
    (last,) = [job["steps"][-1] for job in alone["jobs"].values()]
    assert merge["steps"][-1] == last and merge["steps"][0] == checkout


def group(path: Path, **context: object) -> str:
    """The concurrency group of a workflow in an event: every expression of ours is one name."""
    text: str = workflow(path)["concurrency"]["group"]
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: str(context[match[1].replace(".", "_")]), text)


def test_only_a_pull_request_s_own_older_run_is_cancelled(rendered: list[Path]) -> None:
    paths = {path.name: path for path in rendered}
    cancelling = {name for name, path in paths.items() if workflow(path)["concurrency"]["cancel-in-progress"]}
    assert cancelling == {MEASURING, RERUN, "suspects-matrix.yml"}
    assert group(paths["suspects-matrix.yml"], github_event_pull_request_number=7) == "suspects-7"
    pushed = {n: group(paths[MEASURING], github_event_pull_request_number=n) for n in (7, 77)}
    again = {n: group(paths[RERUN], inputs_pull_request=n) for n in (7, 77)}
    assert pushed == again == {7: "suspects-7", 77: "suspects-77"}
    # What waits in a group is cancelled by what comes next: results and commands wait alone.
    others = [
        *(group(paths["suspects-publish.yml"], github_event_workflow_run_id=n) for n in (7, 77)),
        *(group(paths["suspects-commands.yml"], github_event_comment_id=n) for n in (7, 77)),
        *(group(paths[BISECT], inputs_range=n) for n in ("v1..v2", "7")),
        group(paths["suspects-nightly.yml"]),
    ]
    assert len({*others, *pushed.values()}) == len(others) + 2


def test_no_workflow_of_strangers_starts_on_a_privileged_event(rendered: list[Path]) -> None:
    events = {path.name: set(workflow(path)["on"]) for path in rendered}
    assert events == {
        "suspects.yml": {"pull_request"},
        "suspects-publish.yml": {"workflow_run"},
        "suspects-commands.yml": {"issue_comment"},
        "suspects-rerun.yml": {"workflow_dispatch"},
        "suspects-nightly.yml": {"schedule", "workflow_dispatch"},
        "suspects-matrix.yml": {"pull_request"},
        "suspects-nightly-matrix.yml": {"schedule", "workflow_dispatch"},
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
