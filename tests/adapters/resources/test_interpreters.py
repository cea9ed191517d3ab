"""The bare interpreter of a command is found, with the flags that change its start."""

from __future__ import annotations

import pytest

from bot.adapters.resources.interpreters import bare
from tests.adapters.profilers.native.conftest import Forge
from tests.adapters.scripts import script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("/usr/bin/python3 -X dev -m tool x", "/usr/bin/python3 -X dev -c pass"),
        ("/usr/bin/python3 -I tool.py --flag", "/usr/bin/python3 -I -c pass"),
        ("node --max-old-space-size=64 tool.js --flag", "node --max-old-space-size=64 -e 0"),
        ("node -r ./hook.js tool.js", "node -r ./hook.js -e 0"),
        ("/opt/node/bin/node tool.js", "/opt/node/bin/node -e 0"),
        ("java -Xmx64m -cp a.jar:b.jar -ea Main x", "java -Xmx64m -cp a.jar:b.jar -ea -version"),
        ("java -jar tool.jar -version", "java -version"),
        ("java -p mods -m mod/Main", "java -p mods -version"),
        ("bash -eu tool.sh", "bash -eu -c :"),
        ("sh -c 'echo'", "sh -c :"),
        ("perl5.36 -w tool.pl", "perl5.36 -w -e 0"),
    ],
)
def test_flags_are_kept_and_the_program_is_not(forge: Forge, words: str, expected: str) -> None:
    assert bare(forge.target(*words.split())) == tuple(expected.split())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/bin/sh -e", "/bin/sh -e -c :"),
        ("/usr/bin/env perl", "perl -e 0"),
        ("/usr/bin/env -S perl -w", "perl -w -e 0"),
    ],
)
def test_the_first_line_of_a_script_names_its_interpreter(forge: Forge, line: str, expected: str) -> None:
    script(forge.root / "tool", "exit", interpreter=line)
    assert bare(forge.target("./tool", "-x")) == tuple(expected.split())


def test_a_native_program_and_an_absent_one_have_no_interpreter(forge: Forge) -> None:
    assert bare(forge.target("/bin/true")) is None
    assert bare(forge.target("./absent")) is None


def test_scripts_that_name_each_other_end(forge: Forge) -> None:
    script(forge.root / "tool", "", interpreter=str(forge.root / "tool"))
    assert bare(forge.target("./tool")) is None


def test_an_empty_first_line_of_env_is_no_interpreter(forge: Forge) -> None:
    script(forge.root / "tool", "", interpreter="/usr/bin/env")
    assert bare(forge.target("./tool")) is None
