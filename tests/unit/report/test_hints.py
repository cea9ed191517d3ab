"""A failure whose cause shows comes with its remedy; others come without."""

from __future__ import annotations

import pytest

from bot.model.report_methods import ComparedProfile, FlameNode
from bot.report.hints import (
    closed_elsewhere,
    found_something,
    installing,
    lacking,
    longer,
    misses_neighbours,
    nobody_to_blame,
    opening_for,
    remedy,
    silent_exit,
)
from bot.report.media import markdown


@pytest.mark.parametrize(
    ("said", "folder"),
    [
        ("exit code 3: ./p.sh: 2: cannot create /tmp/my.1: Permission denied", "/tmp"),
        ("PermissionError: [Errno 13] Permission denied: '/var/tmp/x'", "/var/tmp"),
        ("Error: EACCES: permission denied, open '/tmp/cache/a'", "/tmp"),
        ("java.io.IOException: Permission denied at java.io.File.createTempFile(File.java:2144)", "/tmp"),
        ("java.nio.file.AccessDeniedException: /tmp/x1.so", "/tmp"),
    ],
)
def test_a_program_that_may_not_write_the_machines_temporary_folder_is_told_how(
    said: str, folder: str
) -> None:
    assert remedy(["exit code 1", said]) == (folder, "program.writable")


@pytest.mark.parametrize(
    "said",
    [
        "cannot open /tmp/suspects-run-x/base/data: Permission denied",
        "cannot open /srv/me/tmp/x: Permission denied",
        "/tmp/x: No such file or directory",
        "Permission denied",
        "",
    ],
)
def test_what_has_another_cause_has_no_such_remedy(said: str) -> None:
    assert remedy([said]) is None


def test_a_budget_that_holds_too_few_configurations_is_told_in_whole_minutes() -> None:
    assert "or about 11 min of budget (budget.pull_request, or --budget)" in longer(611.0)


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ('exit code 1: ERROR: Could not resolve "./three.module.js"', True),
        ("exit code 1: Error: ENOENT: open 'a.json'", True),
        ("exit code 2: part.h: No such file or directory", True),
        ("exit code 1: SyntaxError: unexpected end", False),
    ],
)
def test_a_failure_for_want_of_a_file_may_miss_what_lies_beside_the_input(said: str, missing: bool) -> None:
    assert misses_neighbours([said]) is missing


@pytest.mark.parametrize(
    ("flames", "title"),
    [
        ([[("[program]", -1, 1.0)]], "Methods: the program has no names"),
        ([[("_start", -1, 1.0), ("[program]", 0, 0.97)]], "Methods: the program has no names"),
        ([[("main", -1, 1.0), ("[libother.so]", 0, 0.5)]], "Methods: none stands out"),
        ([[("[program]", -1, 1.0)], [("main", -1, 1.0)]], "Methods: none stands out"),
        ([[]], "Methods: none stands out"),
    ],
)
def test_that_nobody_is_blamed_in_a_stripped_program_is_told_with_its_cause(
    flames: list[list[tuple[str, int, float]]], title: str
) -> None:
    drawn = [[FlameNode(method=m, parent=p, base=s, head=s) for m, p, s in flame] for flame in flames]
    profiles = [ComparedProfile(options={}, change_seconds=1.0, flame=tuple(flame)) for flame in drawn]
    assert nobody_to_blame(profiles)[0] == title


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (
            (199, 170),
            "of its profiles: they are short (199 samples, and a larger --budget has room for more), or",
        ),
        ((170, 4000), "of its profiles: the change is spread over many methods,"),
        ((None,), "of its profiles: the change is spread over many methods,"),
    ],
)
def test_that_nobody_is_blamed_by_short_profiles_is_told_with_how_short(
    samples: tuple[int | None, ...], said: str
) -> None:
    profiles = [ComparedProfile(options={}, change_seconds=1.0, samples=taken) for taken in samples]
    assert said in nobody_to_blame(profiles)[1]


@pytest.mark.parametrize(
    ("said", "exit_code"),
    [
        ("base and head: exit code 1", 1),
        ("exit code 3.", 3),
        ("head: exit code 1", None),
        ("base and head: exit code 1: no such option: -q", None),
    ],
)
def test_an_exit_code_without_a_word_on_both_sides_may_be_how_the_program_ends_well(
    said: str, exit_code: int | None
) -> None:
    assert silent_exit(said) == exit_code


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("exit code 1: input.py:3:1: E302 expected 2 blank lines, found 1", True),
        ("base and head: exit code 1: 3 problems", True),
        ("head: exit code 1: 3 problems", False),
        ("exit code 2: no such option: -q", False),
        ("exit code 1", False),
    ],
)
def test_exit_code_1_after_some_words_may_be_that_of_a_linter_that_found_something(
    said: str, found: bool
) -> None:
    assert found_something(said) == found


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("exit code 1: PermissionError: [Errno 13] Permission denied: 'out.font'", True),
        ("exit code 2: cannot create out.txt: Permission denied", True),
        ("cannot create /tmp/my.1: Permission denied", False),
        ("./p: permission denied for us: it must be readable and executable for everyone", False),
        ("exit code 1: SyntaxError: unexpected end", False),
    ],
)
def test_a_trial_that_may_not_write_beside_its_program_is_told_where_it_may(said: str, refused: bool) -> None:
    assert closed_elsewhere(said) is refused
    told = opening_for(["exit code 1", said])
    assert ("{scratch}" in markdown(told) if told else False) is refused


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("exit code 1: Error: Cannot find module 'chokidar'", "chokidar"),
        ("exit code 1: Error: Cannot find module '@babel/core'", "@babel/core"),
        ("exit code 1: Error: Cannot find package 'yargs' imported from /w/cli.js", "yargs"),
        ("exit code 1: ModuleNotFoundError: No module named 'yaml.cyaml'", "yaml.cyaml"),
        ("exit code 1: /usr/bin/python3: No module named build", "build"),
        ("exit code 1: java.lang.NoClassDefFoundError: org/jsoup/Jsoup", "org/jsoup/Jsoup"),
        (
            "exit code 127: ./xz: error while loading shared libraries: liblzma.so.5: cannot open",
            "liblzma.so.5",
        ),
    ],
)
def test_a_program_that_does_not_find_a_module_is_told_to_install_it_in_its_build(
    said: str, name: str
) -> None:
    assert lacking(["exit code 1", said]) == name
    assert not found_something(said)  # it is no linter that found something
    told = installing([said])
    assert told is not None and f"have `build` install `{name}` in the checkout" in markdown(told)


@pytest.mark.parametrize(
    "said", ["exit code 1: Error: Cannot find module './lib/a.js'", "exit code 1: no such module", ""]
)
def test_a_file_that_is_not_there_is_no_module_to_install(said: str) -> None:
    assert lacking([said]) is None and installing([said]) is None
