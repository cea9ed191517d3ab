"""Examples: their configuration files are right, and terser's releases become the repository they need."""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from bot.adapters.documents.subject_file import load_subject
from bot.model.invocation import invocation
from bot.model.space import Configuration
from bot.model.subject import FlagOption, Subject
from bot.sampling.constraints import ConstraintSolver

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
TERSER = EXAMPLES / "terser"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_repository", TERSER / "make_repository.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def terser() -> Subject:
    return load_subject(TERSER / "suspects.yml")


def words(subject: Subject, **values: bool) -> tuple[str, ...]:
    chosen: Configuration = tuple({**subject.space.as_dict(subject.space.default), **values}.values())
    return invocation(subject, chosen).words


def archive(path: Path, files: dict[str, str]) -> None:
    """A package as npm packs it: one top folder, dates of 1985."""
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text.encode())
            member.mode = 0o755 if name.startswith("bin/") else 0o644
            tar.addfile(member, io.BytesIO(text.encode()))


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def cached(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds every package, so that nothing is fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "suspects-example"
    folder.mkdir(parents=True)
    bundle, inside, _ = script.BUNDLE
    packages = {
        "terser@1.0.0": {"package.json": "{}", "bin/terser": "one", "old.js": "gone later"},
        "terser@1.0.1": {"package.json": "{}", "bin/terser": "two"},
        bundle: {inside: "var big;", "other.js": "not wanted"},
        **{spec: {"package.json": json.dumps({"name": spec})} for spec in script.DEPENDENCIES},
    }
    for spec, files in packages.items():
        archive(folder / f"{spec.replace('@', '_').replace('/', '_')}.tgz", files)
    return folder


def test_terser_has_at_least_eight_options_and_a_valid_default(terser: Subject) -> None:
    solver = ConstraintSolver(terser.space)
    assert len(terser.options) >= 8
    assert not solver.dead_levels()
    assert not solver.default_note()


def test_without_compress_no_argument_of_compress_is_left(terser: Subject) -> None:
    """Terser compresses as soon as one `-c` is there."""
    dependent = [c.split()[0] for c in terser.constraints if c.endswith(" implies compress")]
    off = dict.fromkeys([*dependent, "compress"], False)
    assert "-c" not in words(terser, **off)
    assert words(terser, **off)[-2:] == ("--", "{workload}")
    for name in dependent:
        option = terser.options[name]
        assert isinstance(option, FlagOption)
        assert option.flag == f"-c {name}"


def test_every_option_changes_the_command(terser: Subject) -> None:
    default = words(terser)
    for name, option in terser.options.items():
        assert isinstance(option, FlagOption)
        assert words(terser, **{name: not option.default}) != default


def test_each_release_is_a_commit_and_a_tag_with_what_trials_need(
    script: ModuleType, cached: Path, tmp_path: Path
) -> None:
    made = script.make(tmp_path / "r", ["1.0.0", "1.0.1"], script.Node("node", ("false",)))
    folder = tmp_path / "r"
    assert [release for release, _ in made] == ["1.0.0", "1.0.1"]
    assert git(folder, "rev-list", "--reverse", "HEAD").split() == [commit for _, commit in made]
    assert [git(folder, "rev-parse", release) for release, _ in made] == [commit for _, commit in made]
    first = git(folder, "ls-tree", "-r", "--name-only", "1.0.0").split()
    second = git(folder, "ls-tree", "-r", "--name-only", "1.0.1").split()
    assert set(first) - set(second) == {"old.js"}
    assert {".github/suspects.yml", script.BUNDLE[2], "node_modules/acorn/package.json"} <= set(second)
    assert "other.js" not in " ".join(second)
    assert git(folder, "show", "1.0.1:bin/terser") == "two"
    assert git(folder, "ls-tree", "1.0.1", "bin/terser").startswith("100755")
    assert git(folder, "status", "--porcelain") == ""


def test_the_same_releases_make_the_same_commits(script: ModuleType, cached: Path, tmp_path: Path) -> None:
    node = script.Node("node", ("false",))
    first = script.make(tmp_path / "a", ["1.0.0", "1.0.1"], node)
    assert script.make(tmp_path / "b", ["1.0.0", "1.0.1"], node) == first
    assert script.make(tmp_path / "a", ["1.0.0", "1.0.1"], node) == first


def test_another_node_is_written_into_the_command(script: ModuleType, cached: Path, tmp_path: Path) -> None:
    script.make(tmp_path / "r", ["1.0.0"], script.Node("/opt/node", ("false",)))
    text = (tmp_path / "r/.github/suspects.yml").read_text()
    assert "run: /opt/node bin/terser {options} -- {workload}\n" in text


def test_a_folder_of_somebody_else_is_left_alone(script: ModuleType, cached: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(script.DemoError, match="was not made here"):
        script.make(tmp_path / "mine", ["1.0.0"], script.Node("node", ("false",)))
    assert (tmp_path / "mine").exists()


def test_a_package_that_npm_cannot_fetch_is_one_line(
    script: ModuleType, cached: Path, tmp_path: Path
) -> None:
    with pytest.raises(script.DemoError, match="npm could not fetch terser@9: no archive"):
        script.make(tmp_path / "r", ["9"], script.Node("node", ("false",)))


def test_a_program_in_a_closed_folder_is_copied_where_all_may_run_it(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "node"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(script, "COPIES", tmp_path / "copies")
    monkeypatch.setattr(script.os, "geteuid", lambda: 0)
    monkeypatch.setattr(script, "owner", lambda _: 0)
    copy = script.reachable(program)
    assert copy == tmp_path / "copies/node"
    assert copy.read_text() == "#!/bin/sh\n"
    assert copy.stat().st_mode & 0o777 == 0o755
    monkeypatch.setattr(script, "owner", lambda _: 12345)
    with pytest.raises(script.DemoError, match="belongs to another user"):
        script.reachable(program)
