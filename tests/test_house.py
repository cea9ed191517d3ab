"""The house keeps its rules: sizes, names, windows to the world, words, and nothing of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import LONGEST

ROOT = Path(__file__).resolve().parents[1]
BOT = sorted((ROOT / "bot").rglob("*.py"))
MOST_LINES = 300
MOST_FUNCTION_LINES = 60  # about 40 with a docstring and a signature of one parameter a line
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "core", "base", "manager"}
WINDOWS = {
    "subprocess": ("adapters/",),
    "multiprocessing": ("adapters/",),
    "socket": ("adapters/",),
    "requests": ("adapters/github",),
    "github": ("adapters/github",),
    "httpx": ("adapters/github/artifacts.py",),
    "jinja2": ("report/render.py", "adapters/trials/config_files.py"),
    "typer": ("commands/", "__main__.py"),
    "ruamel": ("adapters/",),
    "random": (),
}
"""One library, one window: where each may be imported."""


def tracked() -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    return [path for name in names if name and (path := ROOT / name).is_file()]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def place(path: Path) -> str:
    return path.relative_to(ROOT / "bot").as_posix()


def imported(path: Path) -> set[str]:
    """Top-level packages a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def first_sentence(path: Path) -> str:
    """The docstring's first line, which is one sentence."""
    return (ast.get_docstring(tree(path)) or "").partition("\n")[0]


def test_there_is_a_house_to_inspect() -> None:
    assert len(BOT) > 30


def test_no_module_has_more_than_300_lines() -> None:
    sources = [*BOT, *(ROOT / "examples").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    sizes = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in sources}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES} == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {part for path in BOT for part in Path(place(path)).with_suffix("").parts}
    assert parts & FORBIDDEN_NAMES == set()


@pytest.mark.parametrize("library", WINDOWS)
def test_a_library_is_seen_only_through_its_window(library: str) -> None:
    outside = [place(p) for p in BOT if library in imported(p) and not place(p).startswith(WINDOWS[library])]
    assert outside == []


def test_the_environment_is_read_only_in_settings() -> None:
    readers = [
        place(path)
        for path in BOT
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb"))
        or (isinstance(node, ast.ImportFrom) and any(a.name in ("environ", "getenv") for a in node.names))
    ]
    # The wrapper around user code hands on, unread, what it was started with.
    assert set(readers) == {"settings.py", "adapters/processes/confine.py"}


def test_randomness_comes_only_as_a_generator() -> None:
    """`np.random.default_rng` is called where runs begin; nobody else makes or shares random state."""
    makers = {
        place(path).partition("/")[0]
        for path in BOT
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func).startswith(("np.random.", "numpy.random."))
    }
    assert makers <= {"compose"}


def test_nothing_that_can_be_code_is_read_as_data() -> None:
    """Profiles, logs and artifacts are written by strangers: text, JSON and fixed records only."""
    readers = {"pickle", "marshal", "shelve", "pstats", "dill", "cloudpickle"}
    assert [place(path) for path in BOT if imported(path) & readers] == []


def test_only_the_entry_point_catches_everything() -> None:
    catchers = {
        place(path)
        for path in BOT
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
    }
    # A profiled program is never to hear of a failure of what we put into it.
    guests = {name for name in catchers if name.startswith("adapters/profilers/python/agent/")}
    assert catchers - guests == {"__main__.py"}


def test_functions_are_short() -> None:
    wrong = []
    for path in BOT:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_FUNCTION_LINES:
                    wrong.append(f"{place(path)}:{node.name}: {lines} lines")
    assert wrong == []


def test_every_module_says_in_one_sentence_what_it_is_for() -> None:
    silent = [place(p) for p in BOT if not re.fullmatch(r".{10,}[.!]", first_sentence(p))]
    assert silent == []


def test_the_architecture_page_has_each_module_in_its_own_words() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([\w/]+\.py)` \| (.+) \|$", page, re.MULTILINE))
    said = {place(p): first_sentence(p) for p in BOT if p.name != "__init__.py"}
    assert told == said


def test_every_noun_of_the_model_is_in_the_glossary() -> None:
    nouns = {
        node.name
        for path in (ROOT / "bot/model").glob("*.py")
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }
    glossary = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (.+?) \|", glossary, re.MULTILINE))))
    assert nouns - explained == set()
    assert explained - nouns == set(), "words whose class is gone"


def test_nothing_committed_names_a_machine_or_a_secret() -> None:
    # Put together here, so that this file does not find itself.
    patterns = [
        "/ro" + r"ot/(?!\.)\w",
        "/ho" + r"me/(?!runner\b|user\b|jane\b)\w+",
        "/wo" + r"rk/(?:main|shared)",
        "/Us" + r"ers/\w",
        "gh" + r"[pousr]_[A-Za-z0-9]{36}",
        "BEGIN [A-Z ]*PRIVATE" + " KEY",
    ]
    forbidden = re.compile("|".join(patterns))
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in forbidden.finditer(text)]
    assert found == []


def test_every_action_is_pinned_by_its_commit() -> None:
    files = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / "templates").rglob("*.yml.j2"), ROOT / "action.yml"]
    used = [
        use
        for path in [*files, *(ROOT / "composite").glob("*.yml")]
        for use in re.findall(r"^\s*(?:- )?uses:\s*(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert used
    allowed = r"[\w./-]+@[0-9a-f]{40} # v[\w.]+|\./\S*|\{\{ action \}\}"
    assert [use for use in used if not re.fullmatch(allowed, use.strip())] == []


def test_the_changelog_knows_the_version() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[?(Unreleased|{re.escape(version[1])})", changelog, re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "GLOSSARY.md"])
def test_links_between_pages_lead_somewhere(page: str) -> None:
    path = ROOT / page
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_longest_tests_are_there() -> None:
    there = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "end_to_end").glob("test_*.py"))
    assert [name for name in LONGEST if f"def {name}(" not in there] == []
