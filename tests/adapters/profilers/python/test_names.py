"""Modules, files and names of Python code."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.profilers.python.names import Naming, suffixes
from bot.model.profiles import Method


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/sub/mod.py": "x = 1\n",
        "src/inner/__init__.py": "", "src/inner/mod.py": "", "src/alone.py": "", "scripts/run.py": "",
        "tool": "",
        "installed/lib/python3.11/site-packages/pkg/sub/mod.py": "x = 1\n",
        "installed/lib/python3.11/site-packages/pkg/other.py": "",
    }  # fmt: skip
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "root"


def named(root: Path, file: str, qualified: str = "f") -> tuple[str, str | None] | None:
    method = Naming(root, str(root)).method(file, 1, qualified)
    return (method.name, method.file) if method else None


@pytest.mark.parametrize(
    ("file", "name", "place"),
    [
        ("pkg/sub/mod.py", "pkg.sub.mod:f", "pkg/sub/mod.py"),
        ("pkg/sub/../sub/mod.py", "pkg.sub.mod:f", "pkg/sub/mod.py"),
        ("pkg/__init__.py", "pkg:f", "pkg/__init__.py"),
        ("src/inner/mod.py", "inner.mod:f", "src/inner/mod.py"),
        ("src/alone.py", "alone:f", "src/alone.py"),
        ("scripts/run.py", "scripts.run:f", "scripts/run.py"),
        ("tool", "tool:f", "tool"),
        ("/usr/lib/python3.11/json/decoder.py", "json.decoder:f", None),
        ("/opt/x/site-packages/numpy/core/__init__.py", "numpy.core:f", None),
        ("/usr/lib/python3/dist-packages/yaml/reader.py", "yaml.reader:f", None),
        ("/elsewhere/thing.py", "thing:f", None),
        ("<frozen importlib._bootstrap>", "importlib._bootstrap:f", None),
    ],
)
def test_a_module_is_named_by_its_place(root: Path, file: str, name: str, place: str | None) -> None:
    assert named(root, file) == (name, place)


def test_an_installed_copy_of_a_file_is_that_file_and_another_one_is_not(root: Path) -> None:
    installed = "installed/lib/python3.11/site-packages/pkg"
    assert named(root, f"{installed}/sub/mod.py") == ("pkg.sub.mod:f", "pkg/sub/mod.py")
    assert named(root, f"{installed}/other.py") == ("pkg.other:f", None)
    (root / "pkg/sub/mod.py").write_text("x = 2\n")
    assert named(root, f"{installed}/sub/mod.py") == ("pkg.sub.mod:f", None)


def test_a_checkout_that_is_reached_through_a_link_is_the_checkout(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    assert named(link, str(root / "pkg/sub/mod.py")) == ("pkg.sub.mod:f", "pkg/sub/mod.py")
    assert named(root, str(link / "pkg/sub/mod.py")) == ("pkg.sub.mod:f", "pkg/sub/mod.py")


@pytest.mark.parametrize(
    ("file", "qualified"),
    [
        ("pkg/sub/mod.py", "f.<locals>.<lambda>"),
        ("pkg/sub/mod.py", "<lambda>"),
        ("pkg/sub/mod.py", "f.<locals>.<genexpr>"),
        ("pkg/sub/mod.py", "<listcomp>"),
        ("<string>", "f"),
        ("<attrs generated init pkg.A>", "__init__"),
        ("", "f"),
        ("pkg/\0.py", "f"),
    ],
)
def test_what_has_no_name_or_no_file_counts_to_its_caller(root: Path, file: str, qualified: str) -> None:
    assert named(root, file, qualified) is None


def test_functions_in_functions_and_modules_keep_their_name(root: Path) -> None:
    assert named(root, "tool", "f.<locals>.g") == ("tool:f.<locals>.g", "tool")
    assert named(root, "tool", "<module>") == ("tool:<module>", "tool")
    assert named(root, "tool", "<lambda>.<locals>.g") == ("tool:<lambda>.<locals>.g", "tool")


def test_the_agents_own_code_has_no_name(root: Path) -> None:
    naming = Naming(root, str(root), agent=root / "agent")
    assert naming.method(str(root / "agent/suspects_session.py"), 1, "start") is None


def test_the_line_is_not_a_part_of_what_a_method_is(root: Path) -> None:
    naming = Naming(root, str(root))
    assert naming.method("tool", 3, "f") == naming.method("tool", 9, "f") == Method("tool:f", "tool")


def test_the_agent_looks_for_files_by_how_they_end() -> None:
    assert suffixes("pkg.mod", "src/pkg/mod.py") == ["src/pkg/mod.py", "pkg/mod.py", "pkg/mod/__init__.py"]
    assert suffixes("pkg", None) == ["pkg.py", "pkg/__init__.py"]
