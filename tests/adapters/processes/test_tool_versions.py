from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from bot.adapters.processes import tool_versions
from bot.adapters.processes.tool_versions import version_line, version_of
from tests.adapters.scripts import script


def program(folder: Path, lines: str) -> str:
    return str(script(folder / "tool", lines))


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("perf version 6.1.187", "6.1.187"),
        ("perf version 5.14.0-427.el9.x86_64", "5.14.0-427.el9.x86_64"),
        ("valgrind-3.19.0", "3.19.0"),
        ("strace -- version 6.1", "6.1"),
        ("eu-stack (elfutils) 0.188", "0.188"),
        ("uftrace v0.13 ( x86_64 dwarf python3 )", "0.13"),
        ("a tool of mine", "none"),
    ],
)
def test_a_version_is_found_in_the_first_line_whatever_stands_around_it(
    tmp_path: Path, said: str, version: str
) -> None:
    asked = program(tmp_path, f"[ $1 = --version ] && echo {shlex.quote(said)} && echo Copyright 1991")
    assert version_line(asked) == said
    assert version_of(asked) == version


def test_a_program_may_say_it_on_standard_error(tmp_path: Path) -> None:
    assert version_line(program(tmp_path, "echo tool 2.7 >&2")) == "tool 2.7"


def test_what_is_missing_silent_or_no_program_has_no_version(tmp_path: Path) -> None:
    assert version_of("no-such-tool") == "none"
    assert version_of(program(tmp_path, "exit 1")) == "none"
    (tmp_path / "tool").write_bytes(b"\x00 1.2")
    assert version_of(str(tmp_path / "tool")) == "none"


def test_a_program_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_versions, "PATIENCE", 0.05)
    assert version_of(program(tmp_path, "echo tool 1.2; exec sleep 600")) == "none"
