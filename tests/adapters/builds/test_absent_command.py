"""A command that a build misses, and that its user has, is told with where it lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.adapters.builds.absent_command import elsewhere
from bot.model.sites import Account
from tests.adapters.yard import Yard

ROOT = os.geteuid() == 0
ALIEN = Account(62000, 62000)


def _tool(folder: Path, name: str = "cargo") -> str:
    folder.mkdir(parents=True)
    tool = folder / name
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    return f"/usr/bin:{folder}"


@pytest.mark.parametrize(
    "log",
    [
        "compiling\nsh: 1: cargo: not found",
        "build.sh: line 3: cargo: command not found\n",
        "make: cargo: No such file or directory\nmake: *** [Makefile:2: all] Error 127",
        "env: cargo: Permission denied",
    ],
)
def test_a_command_that_only_its_user_finds_is_told_with_its_folder(tmp_path: Path, log: str) -> None:
    path = _tool(tmp_path / "bin")
    told = elsewhere(log, build_path="/usr/bin", own_path=path, account=None)
    assert told == (
        f"`cargo` is in {tmp_path}/bin, which the PATH of builds does not name: `pass_env: [PATH]` does."
    )


def test_a_command_in_a_home_that_is_closed_to_who_builds_is_told_so(open_path: Path) -> None:
    path = _tool(open_path / "home" / ".cargo" / "bin")
    (open_path / "home").chmod(0o700)
    told = elsewhere("sh: 1: cargo: Permission denied", build_path=path, own_path=path, account=ALIEN)
    assert told == (
        f"`cargo` is in {open_path}/home/.cargo/bin, "
        f"and the account that builds may not enter {open_path}/home."
    )


def test_nothing_is_told_of_a_command_that_nobody_has_or_that_builds_reach(tmp_path: Path) -> None:
    path = _tool(tmp_path / "bin")
    for log in (
        "sh: 1: no-such-tool: not found",
        "cp: data/cargo: No such file or directory",
        "cargo: failed",
    ):
        assert elsewhere(log, build_path="/usr/bin", own_path=path, account=None) == ""
    assert elsewhere("sh: 1: cargo: not found", build_path=path, own_path=path, account=None) == ""


def test_a_build_that_misses_a_command_of_its_user_says_where_it_is(yard: Yard, open_path: Path) -> None:
    _tool(open_path / "tools", "planer")
    yard.commits({"build.sh": "planer --smooth\n"}, {})
    failed = yard.workshop(own_path=f"/usr/bin:{open_path}/tools").build(yard.comparison())["base"]
    assert failed.reason == (
        f"`build` of base ended with exit code 127. `planer` is in {open_path}/tools, "
        "which the PATH of builds does not name: `pass_env: [PATH]` does."
    )
