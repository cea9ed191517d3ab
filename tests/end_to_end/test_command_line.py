"""The commands themselves: help, version, what is not there yet, quiet runs, `check`, start-up."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.end_to_end.builders import Place, config, shell
from tests.nursery import CODE

COMMANDS = ["init", "check", "pr", "nightly", "bisect", "publish", "plan", "shard", "merge", "influences"]
COMMANDS += ["assertions", "profiles", "rehearse", "dashboard", "history", "action"]
HERE = [
    "init",
    "check",
    "pr",
    "nightly",
    "history",
    "bisect",
    "publish",
    "action",
    "influences",
    "assertions",
    "profiles",
    "plan",
    "shard",
    "merge",
]
HEAVY = ("matplotlib", "sklearn", "scipy", "numpy", "github", "pysat", "jinja2", "pyarrow")


@pytest.fixture(scope="module")
def nursery() -> None:
    """There is none: these tests are about how the command starts and ends."""


@pytest.mark.parametrize("command", [[], *([c] for c in HERE)])
def test_help_works_and_names_the_options(place: Place, command: list[str]) -> None:
    ended = place.suspects(*command, "--help")
    assert ended.code == 0 and "--help" in ended.out and not ended.err


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in HERE])
def test_a_command_that_is_not_there_yet_says_so(place: Place, command: str) -> None:
    place.suspects(command).refused(command, "not yet supported")
    place.suspects(command, "1..2", "--budget", "5m", "-q").refused(command, "not yet supported")


def test_an_unknown_command_is_one_line(place: Place) -> None:
    place.suspects("blame").refused("No such command 'blame'")


def test_without_a_command_the_help_is_shown(place: Place) -> None:
    ended = place.suspects()
    assert ended.code == 2 and "check" in ended.out


def loaded_by(*arguments: str) -> set[str]:
    """Modules that a command has loaded when it ends."""
    code = "import sys, bot.__main__ as m\ntry: m.main()\nexcept SystemExit: pass\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=CODE, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--version"], ["pr", "--help"], ["influences", "--help"], ["plan"]])
def test_what_measures_nothing_loads_nothing_heavy(arguments: list[str]) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(*arguments)}
    assert loaded.isdisjoint(HEAVY) and "typer" in loaded


@pytest.mark.parametrize(
    "arguments",
    [
        ["pr", "--base", "a", "--head", "b"],
        ["bisect", "a..b"],
        ["check"],
        ["merge", "nowhere", "--base", "a", "--head", "b"],
        ["nightly"],
    ],
)
def test_what_is_refused_waits_for_no_library_that_it_does_not_use(arguments: list[str]) -> None:
    loaded = loaded_by(*arguments, "--config", "nowhere.yml")
    assert "numpy" in loaded
    assert loaded.isdisjoint({"scipy.stats", "scipy.optimize", "scipy.cluster", "sklearn"})


def test_quiet_prints_nothing(place: Place) -> None:
    place.pull_request()
    ended = place.pr("-q")
    assert ended.code == 0 and ended.report is not None
    assert ended.out == "" and ended.err == ""


def test_quiet_still_prints_errors(place: Place) -> None:
    place.pull_request()
    ended = place.pr("-q", "--config", "nowhere.yml")
    ended.refused("nowhere.yml")
    assert len(ended.err.splitlines()) == 1 and ended.out == ""


def test_check_shows_space_sample_and_one_trial(place: Place) -> None:
    place.pull_request(text=config(program={"build": "true"}, constraints=["alpha implies beta"]))
    ended = place.suspects("check", "-q")
    assert ended.code == 0
    for words in (
        "valid",
        "3 options, 6 valid configurations",
        "Ran: ./program.sh",
        "pair of trials took",
        "Its runs differ by",
        "Tried 3 levels by themselves: all work.",
    ):
        assert words in ended.out
    assert ended.err == ""
    numbered = [line.split(maxsplit=1)[1] for line in ended.out.splitlines() if line[:4].strip().isdigit()]
    assert (
        len(set(numbered)) == 6 and numbered[0] == "the default configuration" and "alpha, beta" in numbered
    )


def test_check_lists_the_options_that_fail_by_themselves_with_their_error(place: Place) -> None:
    program = shell('case " $* " in *" --beta "*) echo "unknown option: beta" >&2; exit 2;; esac')
    place.pull_request(program, program + "#")
    ended = place.suspects("check", "-q")
    assert ended.code == 0
    assert "Tried 3 levels by themselves; of these fail 1:" in ended.out
    (told,) = [line for line in ended.out.splitlines() if line.startswith("  beta: ")]
    assert "exit code 2" in told and "unknown option: beta" in told


def test_check_names_the_constraint_that_leaves_out_what_fails_together(place: Place) -> None:
    program = shell('case " $* " in *" --alpha"*" --beta"*) echo "either alpha or beta" >&2; exit 2;; esac')
    flags = {name: {"flag": f"--{name}"} for name in ("alpha", "beta", "gamma", "delta", "eps", "eta")}
    place.pull_request(program, program + "#", text=config(options=flags))
    ended = place.suspects("check", "-q")
    assert ended.code == 0
    (told,) = [line for line in ended.out.splitlines() if ", for example" in line]
    assert "for example alpha, beta" in told and told.endswith("exit code 2: either alpha or beta")
    assert "constraints: [not (alpha and beta)]" in ended.out


def test_check_of_a_build_that_fails_shows_its_log(place: Place) -> None:
    place.pull_request(text=config(program={"build": "echo no luck; exit 2"}))
    ended = place.suspects("check")
    assert ended.code == 3 and "no luck" in ended.out and "exit code 2" in ended.out


def test_check_of_a_program_that_fails_says_why(place: Place) -> None:
    place.pull_request(shell("echo no such luck >&2; exit 7"), shell("echo no such luck >&2; exit 7", "#"))
    ended = place.suspects("check")
    assert ended.code == 3 and "exit code 7" in ended.out and "no such luck" in ended.out


def test_check_disarms_what_a_program_says(place: Place) -> None:
    program = shell(r"printf '\033[2J\033]0;t\007 here' >&2; exit 7")
    place.pull_request(program, f"{program}#\n")
    ended = place.suspects("check")
    assert ended.code == 3 and "here" in ended.out
    assert "\x1b" not in ended.said and "\x07" not in ended.said


def test_check_of_an_empty_space_of_choices_names_the_dead_level(place: Place) -> None:
    place.pull_request(text=config(constraints=["not gamma"]))
    ended = place.suspects("check")
    assert ended.code == 0 and "No valid configuration has gamma." in ended.out


def test_a_full_standard_output_is_one_line(place: Place) -> None:
    place.pull_request()
    words = [sys.executable, "-m", "bot", "check"]
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            words, cwd=place.repository, env={"PYTHONPATH": str(CODE), "PATH": "/usr/bin:/bin"},
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode != 0 and "Traceback" not in done.stderr
