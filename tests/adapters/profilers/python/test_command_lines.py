"""How commands start Python."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.adapters.profilers.python.command_lines import python_start
from tests.adapters.profilers.python.programs import Checkout


@pytest.mark.parametrize(
    ("words", "deaf", "started"),
    [
        ("-m pkg a b", False, "-- m pkg a b"),
        ("-S -m pkg -m x", True, "-S -- m pkg -m x"),
        ("-Sm pkg", True, "-S -- m pkg"),
        ("-mpkg", False, "-- m pkg"),
        ("-I main.py -S", True, "-I -- script main.py -S"),
        ("-Bs main.py", False, "-Bs -- script main.py"),
        ("-OE main.py", True, "-OE -- script main.py"),
        ("-W error -X utf8 main.py", False, "-W error -X utf8 -- script main.py"),
        ("-WSyntaxWarning main.py", False, "-WSyntaxWarning -- script main.py"),
        ("-XSIE main.py", False, "-XSIE -- script main.py"),
        ("-BW error -S main.py", True, "-BW error -S -- script main.py"),
        ("--check-hash-based-pycs never -c pass x", False, "--check-hash-based-pycs never -- c pass x"),
        ("-S - x", True, "-S -- stdin - x"),
        ("", False, "-- stdin -"),
    ],
)
def test_options_end_where_the_program_begins(
    checkout: Checkout, words: str, deaf: bool, started: str
) -> None:
    start = python_start(checkout.target(*words.split()))
    assert start is not None
    assert start.deaf == deaf
    assert start.started_by("--") == (checkout.interpreter, *started.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("#!{python} -S", "-S -- script ./tool x"),
        ("#!/usr/bin/env -S {python} -E", "-E -- script ./tool x"),
        ("#! {python}", "-- script ./tool x"),
    ],
)
def test_the_first_line_of_a_script_counts(checkout: Checkout, line: str, words: str) -> None:
    checkout.write({"tool": line.format(python=checkout.interpreter) + "\n"})
    (checkout.root / "tool").chmod(0o755)
    start = python_start(replace(checkout.target(), words=("./tool", "x")))
    assert start is not None
    assert start.started_by("--")[1:] == tuple(words.split())


def test_what_is_no_python_is_none(checkout: Checkout) -> None:
    checkout.write({"shell": "#!/bin/sh\npython3 main.py\n", "loop": "#!./loop\n", "plain": "python3"})
    for name in ("shell", "loop", "plain"):
        (checkout.root / name).chmod(0o755)
        assert python_start(replace(checkout.target(), words=(f"./{name}",))) is None
    assert python_start(replace(checkout.target(), words=("no-such-command",))) is None
    assert python_start(replace(checkout.target(), words=(str(checkout.root),))) is None


def test_a_name_is_looked_up_on_the_trials_path(checkout: Checkout) -> None:
    checkout.write({"bin/python3": "", "sub/nothing": ""})
    (checkout.root / "bin/python3").chmod(0o755)
    path = f"{checkout.root}/sub:{checkout.root}/bin"
    start = python_start(replace(checkout.target(), words=("python3", "x.py"), env={"PATH": path}))
    assert start is not None
    assert start.interpreter == f"{checkout.root}/bin/python3"
