"""lz4, jsoup, Redis: suspects.yml fits the program; sources become repositories with one planted change."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from bot.adapters.documents.subject_file import load_subject
from bot.model.subject import ChoiceOption, FlagOption, NumberOption, Program
from bot.sampling.constraints import ConstraintSolver

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = {"lz4": "program/main.c", "jsoup": "program/src/Reformat.java"}
XXHASH = """before
        if (state->memsize + len < 16)  {
            fast path
    }

    return XXH_OK;
}
after
"""
ENTITIES = """class Entities {
        int codepointForName(String name) {
            final int index = byName(name);
            if (index >= 0) return 1;
        String nameForCodepoint(int codepoint) {
            final int index = byPoint(codepoint);
            if (index >= 0) {
"""


def loaded(example: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        f"make_{example}", EXAMPLES / example / "make_repository.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def archive(path: Path, files: Mapping[str, str], mode: Literal["w:gz", "w:xz"]) -> str:
    """A source archive with one top folder; its SHA-256."""
    with tarfile.open(path, mode) as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"top-1.0/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git(folder: Path, *arguments: str) -> str:
    words = ["git", *arguments]
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "suspects-example"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def lz4(cache: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with two small releases in the cache, so that nothing is fetched."""
    script = loaded("lz4")
    releases = []
    for version in ("1.0", "1.1"):
        files = {"LICENSE": "free", "setup.py": "not wanted", "lz4libs/lz4.c": version}
        sha256 = archive(cache / f"lz4-{version}.tar.gz", files | {"lz4libs/xxhash.c": XXHASH}, "w:gz")
        releases.append(script.Release(version, f"lz4=={version}", sha256))
    monkeypatch.setattr(script, "RELEASES", tuple(releases))
    return script


@pytest.fixture
def jsoup(cache: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with a small release in the cache, so that nothing is fetched."""
    script = loaded("jsoup")
    entities = script.FOLDER + script.ENTITIES.removeprefix("src/")
    files = {"LICENSE": "free", "pom.xml": "not wanted", entities: ENTITIES}
    monkeypatch.setattr(
        script, "SHA256", archive(cache / f"jsoup_{script.RELEASE}.orig.tar.xz", files, "w:xz")
    )
    return script


@pytest.fixture
def redis(cache: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with a small release in the cache, so that nothing is fetched."""
    script = loaded("redis")
    files = {
        "COPYING": "free",
        "src/aof.c": f"void feed() {{\n{script.MARK.decode()}}}\n",
        "deps/lua/lua.c": "1\n",
        "deps/jemalloc/big.c": "not wanted",
        "tests/slow.tcl": "not wanted",
    }
    name = f"redis_{script.RELEASE}.orig.tar.gz"
    monkeypatch.setattr(script, "SHA256", archive(cache / name, files, "w:gz"))
    return script


def arguments(option: FlagOption | ChoiceOption | NumberOption) -> Iterator[str]:
    """All arguments that an option can become."""
    if isinstance(option, ChoiceOption):
        yield from option.choice.values()
    elif isinstance(option, FlagOption):
        yield from (option.flag,) if isinstance(option.flag, str) else (option.flag.on, option.flag.off)


@pytest.mark.parametrize("example", PROGRAMS)
def test_the_configuration_file_fits_the_program(example: str) -> None:
    subject = load_subject(EXAMPLES / example / "suspects.yml")
    solver = ConstraintSolver(subject.space)
    assert len(subject.options) >= 8
    assert not solver.dead_levels()
    assert not solver.default_note()
    program = (EXAMPLES / example / PROGRAMS[example]).read_text()
    words = [word for option in subject.options.values() for word in arguments(option) if word]
    assert len(words) >= 8
    blocks = {"-B4", "-B5", "-B6", "-B7"} if example == "lz4" else set()
    assert [word for word in words if f'"{word}"' not in program and word not in blocks] == []


@pytest.mark.parametrize(("example", "made"), [("lz4", "text.txt"), ("jsoup", "page.html")])
def test_the_input_is_the_same_each_time(example: str, made: str, tmp_path: Path) -> None:
    subject = load_subject(EXAMPLES / example / "suspects.yml")
    (workload,) = subject.workloads.values()
    (tmp_path / "bench").mkdir()
    seen = []
    for _ in range(2):
        script = EXAMPLES / example / "program" / str(workload.prepare)
        subprocess.run([script], cwd=tmp_path, check=True, timeout=60)
        seen.append((tmp_path / workload.path).read_bytes())
    assert (tmp_path / workload.path).name == made
    assert seen[0] == seen[1]
    assert len(seen[0]) > 200_000


def test_lz4s_releases_and_the_planted_change_are_commits(lz4: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    made = lz4.make(folder)
    assert [tag for tag, _ in made] == ["1.0", "1.1", "slower"]
    assert git(folder, "rev-list", "--reverse", "HEAD").split() == [commit for _, commit in made]
    listed = set(git(folder, "ls-tree", "-r", "--name-only", "1.0").split())
    wanted = {".github/suspects.yml", "LICENSE", "Makefile", "bench/make-text.sh", "main.c"}
    assert listed == wanted | {"lib/lz4.c", "lib/xxhash.c"}
    assert git(folder, "ls-tree", "1.0", "bench/make-text.sh").startswith("100755")
    assert git(folder, "diff", "--name-only", "1.0", "1.1") == "lib/lz4.c"
    assert git(folder, "diff", "--name-only", "1.1", "slower") == "lib/xxhash.c"
    planted = git(folder, "show", "slower:lib/xxhash.c")
    assert "fast path" not in planted
    assert planted.startswith("before\n")
    assert planted.endswith("    return XXH_OK;\n}\nafter")


def test_jsoups_release_and_the_planted_change_are_commits(jsoup: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    made = jsoup.make(folder)
    assert [tag for tag, _ in made] == [jsoup.RELEASE, "slower"]
    listed = git(folder, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert {"src/Reformat.java", "src/javax/annotation/Nullable.java", jsoup.ENTITIES} <= set(listed)
    assert "pom.xml" not in listed
    assert git(folder, "diff", "--name-only", jsoup.RELEASE, "slower") == jsoup.ENTITIES
    planted = git(folder, "show", f"slower:{jsoup.ENTITIES}")
    assert "byName(name)" in planted
    assert "byPoint" not in planted
    assert "index--" in planted


@pytest.mark.parametrize("example", PROGRAMS)
def test_the_same_sources_make_the_same_commits(
    example: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    script = request.getfixturevalue(example)
    first = script.make(tmp_path / "a")
    assert script.make(tmp_path / "b") == first
    assert script.make(tmp_path / "a") == first


def test_sources_that_the_change_does_not_fit_are_one_line(lz4: ModuleType) -> None:
    with pytest.raises(lz4.making.ExampleError, match="does not fit the sources"):
        lz4.slower({"lib/xxhash.c": b"another way"})


def test_a_damaged_archive_in_the_cache_is_not_used(
    lz4: ModuleType, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / "lz4-1.0.tar.gz").write_bytes(b"damaged")
    monkeypatch.setattr(lz4.sys, "executable", "/bin/false")  # pip is asked again, and fails
    with pytest.raises(lz4.making.ExampleError, match=r"lz4==1\.0 could not be fetched: no reason given"):
        lz4.make(tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_rediss_configuration_file_starts_the_server_with_its_options() -> None:
    subject = load_subject(EXAMPLES / "redis" / "suspects.yml")
    solver = ConstraintSolver(subject.space)
    assert len(subject.options) >= 8 and not solver.dead_levels() and not solver.default_note()
    assert isinstance(subject.program, Program) and subject.program.server is not None
    assert "{options}" in subject.program.server.start and "{options}" not in subject.program.run


def test_rediss_release_and_the_planted_change_are_commits(redis: ModuleType, tmp_path: Path) -> None:
    made = redis.make(tmp_path / "r")
    assert [tag for tag, _ in made] == [redis.RELEASE, "slower"]
    assert git(tmp_path / "r", "diff", "--name-only", redis.RELEASE, "slower") == "src/aof.c"
    assert "check = crc64(" in (tmp_path / "r/src/aof.c").read_text()
    assert not (tmp_path / "r/deps/jemalloc").exists() and not (tmp_path / "r/tests").exists()
    assert redis.make(tmp_path / "r") == made


def test_a_release_without_the_place_of_the_planted_change_is_one_line(redis: ModuleType) -> None:
    with pytest.raises(redis.making.ExampleError, match=r"src/aof\.c has no place"):
        redis.slower({"src/aof.c": b"another release\n"})


def test_another_file_than_the_pinned_one_is_refused(lz4: ModuleType, cache: Path, tmp_path: Path) -> None:
    def fetch() -> Path:
        (tmp_path / "came").write_bytes(b"something else")
        return tmp_path / "came"

    with pytest.raises(lz4.making.ExampleError, match="is not the file that this example was made with"):
        lz4.making.fetched("name", "0" * 64, fetch)
    assert not (cache / "name").exists()


def test_a_machine_without_apt_is_one_line(
    jsoup: ModuleType, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next(cache.iterdir()).unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(jsoup.making.ExampleError, match="apt-get, and a Debian mirror"):
        jsoup.make(tmp_path / "r")


def test_a_folder_of_somebody_else_is_left_alone(lz4: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(lz4.making.ExampleError, match="was not made here"):
        lz4.make(tmp_path / "mine")
    assert (tmp_path / "mine").exists()


def test_loading_an_example_leaves_no_trace_on_the_path_of_modules() -> None:
    """A folder is called as the package lz4 is, which other programs look for."""
    before = list(sys.path)
    for example in ("jsoup", "lz4", "redis"):
        loaded(example)
    assert sys.path == before
