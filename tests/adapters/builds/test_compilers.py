"""Native builds keep debug information, whatever flags they set."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from bot.adapters.builds.compilers import debugging
from bot.adapters.processes.process import PATH

SOURCE = "int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * n; return s; }\n"
TEXT = re.compile(r"^\s*[0-9a-f]+:.*$", re.MULTILINE)


@pytest.mark.parametrize("command", ["cc -O2", "make CFLAGS=-O2 work.o &&:", "gcc -O2 -g0"])
def test_line_tables_are_there_and_the_code_is_the_same(tmp_path: Path, command: str) -> None:
    env = {"PATH": PATH}
    sections, codes = [], []
    for number, more in enumerate(({}, debugging(tmp_path / "compilers", env))):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "work.c").write_text(SOURCE)
        words = ["sh", "-c", f"{command} -c -o work.o work.c"]
        subprocess.run(words, cwd=folder, env={**env, **more}, check=True)
        sections.append(_told(folder, "objdump", "-h", "work.o"))
        codes.append(TEXT.findall(_told(folder, "objdump", "-d", "work.o")))
    assert [".debug_line" in told for told in sections] == [False, True]
    assert codes[0] == codes[1] and codes[0]


def test_arguments_with_spaces_reach_the_compiler(tmp_path: Path) -> None:
    env = debugging(tmp_path / "compilers", {"PATH": PATH})
    (tmp_path / "my file.c").write_text(SOURCE)
    subprocess.run(["sh", "-c", "cc -c 'my file.c' -o 'my file.o'"], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "my file.o").exists()


def test_a_path_of_missing_folders_has_no_compilers(tmp_path: Path) -> None:
    env = debugging(tmp_path / "compilers", {"PATH": f"{tmp_path}/missing{os.pathsep}"})
    assert list((tmp_path / "compilers").iterdir()) == []
    assert env["CARGO_PROFILE_RELEASE_DEBUG"] == "1"


def _told(folder: Path, *words: str) -> str:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout
