"""Python-Markdown as a range: the lock is whole, the document feeds all options, the commits repeat."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from bot.adapters.documents.subject_file import load_subject
from bot.model.subject import FlagOption, Program
from bot.sampling.constraints import ConstraintSolver

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "python-markdown"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return loaded("make_range")


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def locked(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds every package of a lock with two releases, so that nothing is fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "suspects-example"
    folder.mkdir(parents=True)
    packages = {
        ("Markdown", "1.0"): {"markdown/__init__.py": "one", "markdown/old.py": "gone later"},
        ("Markdown", "1.0.1"): {"markdown/__init__.py": "two", "../outside": "never written"},
        ("setuptools", "9"): {"pkg_resources/__init__.py": "", "setuptools/__init__.py": "not wanted"},
    }
    lock = []
    for (name, version), files in packages.items():
        wheel = folder / f"{name}-{version}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
        lock.append(script.Package(name, version, hashlib.sha256(wheel.read_bytes()).hexdigest()))
    monkeypatch.setattr(script, "read_lock", lambda: lock)
    return folder


def test_the_lock_pins_each_release_once_by_version_and_hash(script: ModuleType) -> None:
    packages = script.read_lock()
    versions = [p.version for p in packages if p.name == script.PROGRAM]
    assert len(versions) >= 37
    assert len(set(versions)) == len(versions)
    assert versions == sorted(versions, key=lambda v: [int(part) for part in v.split(".")])
    assert {len(p.sha256) for p in packages} == {64}


def test_the_configuration_file_is_right() -> None:
    subject = load_subject(EXAMPLE / "suspects.yml")
    assert len(subject.options) >= 12
    assert not ConstraintSolver(subject.space).default_note()
    assert isinstance(subject.program, Program)
    for name, option in subject.options.items():
        assert isinstance(option, FlagOption)
        assert f"-x {name} " not in subject.program.run
        assert option.flag == f"-x {name}"


def test_the_document_has_something_for_every_option() -> None:
    text = loaded("make_document").document(sections=3)
    signs = {
        "abbr": "*[HTML]: ",
        "admonition": "!!! note",
        "attr_list": "{: #s1 ",
        "codehilite": "    :::python",
        "def_list": "\n:   ",
        "fenced_code": "~~~ python",
        "footnotes": "[^1]: ",
        "md_in_html": 'markdown="1"',
        "nl2br": "\n",
        "sane_lists": "\n1. ",
        "smarty": "--",
        "tables": "--- | :-: | --:",
        "toc": "[TOC]",
        "wikilinks": "[[",
    }
    assert set(signs) == set(load_subject(EXAMPLE / "suspects.yml").options)
    assert [name for name, sign in signs.items() if sign not in text] == []


def test_the_same_seed_writes_the_same_document() -> None:
    make = loaded("make_document")
    assert make.document(2, seed=5) == make.document(2, seed=5) != make.document(2, seed=6)


def test_each_release_is_a_commit_and_a_tag(script: ModuleType, locked: Path, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    made = script.make(folder)
    assert [release for release, _ in made] == ["1.0", "1.0.1"]
    assert git(folder, "log", "--reverse", "--format=%H %s").splitlines() == [
        f"{commit} Release {release}" for release, commit in made
    ]
    assert [git(folder, "rev-parse", release) for release, _ in made] == [commit for _, commit in made]
    first = git(folder, "ls-tree", "-r", "--name-only", "1.0").split()
    second = git(folder, "ls-tree", "-r", "--name-only", "1.0.1").split()
    assert set(first) - set(second) == {"markdown/old.py"}
    needed = {
        ".github/suspects.yml",
        "bench/document.md",
        "markdown/__init__.py",
        "pkg_resources/__init__.py",
    }
    assert set(second) == needed
    assert git(folder, "diff", "--name-only", "1.0", "1.0.1", "--", "bench", ".github") == ""
    assert git(folder, "status", "--porcelain") == ""
    assert not (tmp_path / "outside").exists()


def test_the_same_releases_make_the_same_commits(script: ModuleType, locked: Path, tmp_path: Path) -> None:
    first = script.make(tmp_path / "a")
    assert script.make(tmp_path / "b") == first
    assert script.make(tmp_path / "a") == first


def test_a_damaged_wheel_in_the_cache_is_not_used(
    script: ModuleType, locked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (locked / "Markdown-1.0.whl").write_bytes(b"damaged")
    monkeypatch.setattr(script.sys, "executable", "/bin/false")  # pip is asked again, and fails
    with pytest.raises(script.RangeError, match=r"pip could not fetch Markdown 1\.0: no wheel"):
        script.make(tmp_path / "r", ["1.0"])
    assert not (tmp_path / "r").exists()


def test_an_unknown_release_and_a_folder_of_somebody_else_are_one_line(
    script: ModuleType, locked: Path, tmp_path: Path
) -> None:
    with pytest.raises(script.RangeError, match=r"7 is not in releases\.txt"):
        script.make(tmp_path / "r", ["7"])
    (tmp_path / "mine").mkdir()
    with pytest.raises(script.RangeError, match="was not made here"):
        script.make(tmp_path / "mine")
    assert (tmp_path / "mine").exists()
