"""The action's face: action.yml, composite/action.yml, the settings and the contract say the same."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest
from ruamel.yaml import YAML

from bot.adapters.github.artifacts import MEMBER
from bot.flows.publish import ARTIFACT
from bot.model.forge import CommentPolicy
from bot.settings import INPUT_VARIABLES, OUTPUTS, ModeInput, Settings

ROOT = Path(__file__).parents[1]
INPUTS = {"mode", "config", "github-token", "budget", "range", "shard", "fail-on", "comment"}


def read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load((ROOT / name).read_text("utf-8"))
    return content


DOCKER, COMPOSITE = read("action.yml"), read("composite/action.yml")


def test_the_inputs_are_the_contracts() -> None:
    assert set(DOCKER["inputs"]) == set(INPUT_VARIABLES) == INPUTS


def test_the_outputs_are_the_contracts() -> None:
    assert set(DOCKER["outputs"]) == set(OUTPUTS) == {"verdict", "report", "comment-url"}


def test_the_composite_action_has_the_same_face() -> None:
    assert COMPOSITE["inputs"] == DOCKER["inputs"]
    shown = {name: {"description": one["description"]} for name, one in COMPOSITE["outputs"].items()}
    assert shown == DOCKER["outputs"]
    for name, one in COMPOSITE["outputs"].items():
        assert one["value"] == f"${{{{ steps.suspects.outputs.{name} }}}}"


def test_the_defaults_are_the_settings_own() -> None:
    given = {name: one["default"] for name, one in DOCKER["inputs"].items() if name != "github-token"}
    environ = {INPUT_VARIABLES[name]: value for name, value in given.items()}
    assert Settings.read(environ) == Settings.read({})
    assert DOCKER["inputs"]["github-token"]["default"] == "${{ github.token }}"


def test_every_value_that_is_allowed_is_described() -> None:
    for name, allowed in (("mode", get_args(ModeInput)), ("comment", get_args(CommentPolicy))):
        described = DOCKER["inputs"][name]["description"]
        assert all(re.search(rf"\b{value}\b", described) for value in allowed), name


def test_the_container_is_built_from_our_dockerfile() -> None:
    assert DOCKER["runs"] == {"using": "docker", "image": "Dockerfile"}
    assert 'ENTRYPOINT ["suspects", "action"]' in (ROOT / "Dockerfile").read_text("utf-8")


def test_what_is_copied_into_the_image_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    for path in " ".join(copied).split():
        assert f"!{path}" in ignored, path
        assert (ROOT / path).exists(), path


def test_the_composite_action_passes_every_input_as_environment_and_none_as_text() -> None:
    steps = COMPOSITE["runs"]["steps"]
    passed = {name: value for name, value in steps[-1]["env"].items() if name.startswith("INPUT_")}
    assert passed == {
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in INPUTS
    }
    assert not any("${{" in step["run"] for step in steps)


def test_the_composite_actions_inputs_arrive(tmp_path: Path) -> None:
    """Runs its last step with a program in the place of ours that reads the settings."""
    step = COMPOSITE["runs"]["steps"][-1]
    program = tmp_path / "bin" / "suspects"
    program.parent.mkdir()
    lines = ("#!/bin/sh", 'test "$1" = action && env', "")
    program.write_text("\n".join(lines), "utf-8")
    program.chmod(0o755)
    hostile = "regression\n$(touch owned); '\"`"
    environ = {name: hostile for name in step["env"] if name != "VENV"}
    environ |= {"VENV": str(tmp_path), "PATH": os.environ["PATH"], "INPUT_BUDGET": "5m"}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "INPUT_BUDGET=5m" in done.stdout
    assert f"INPUT_FAIL_ON={hostile}" in done.stdout
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("template", ["suspects.yml.j2", "suspects-publish.yml.j2"])
def test_both_stages_agree_on_the_workflow_and_the_artifact(template: str) -> None:
    text = (ROOT / "templates/workflows" / template).read_text("utf-8")
    if template == "suspects.yml.j2":
        assert "\nname: Suspects\n" in text
        assert f"name: {ARTIFACT}\n" in text
        assert MEMBER == "report.json"
    else:
        assert "workflows: [Suspects]\n" in text
        assert "checkout@" not in text


def locked() -> dict[str, str]:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", text, re.MULTILINE))


def test_every_dependency_is_locked_with_hashes_and_no_host() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    wanted = re.search(r"^dependencies = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    assert wanted is not None
    names = {
        re.sub(r"[._]", "-", name) for name in re.findall(r'^  "([A-Za-z0-9._-]+)', wanted[1], re.MULTILINE)
    }
    assert names | {"hatchling"} <= set(locked())
    assert "://" not in text
    for entry in re.split(r"\n(?=[a-z0-9])", text)[1:]:
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


def test_no_module_of_the_checkout_can_stand_in_for_pythons_own() -> None:
    """Steps start in the pull request's files: without -I, its `venv.py` would run as the runner."""
    scripts = "\n".join(step["run"] for step in COMPOSITE["runs"]["steps"])
    started = re.findall(r"\bpython3 (\S+) -?[cm]", scripts)
    assert len(started) >= 2
    assert set(started) == {"-I"}
    assert len(re.findall(r"\bpython3 -", scripts)) == len(started)
