"""How a configuration becomes a command line and an environment."""

from __future__ import annotations

from typing import Any

from bot.model.invocation import Invocation, invocation
from bot.model.space import Configuration
from bot.model.subject import Subject


def command(options: dict[str, Any], configuration: Configuration, **keys: Any) -> Invocation:
    program = {"run": "./prog {options} -o {scratch}/out {workload}", "env": {"LC_ALL": "C"}}
    return invocation(Subject.model_validate({"program": program, "options": options, **keys}), configuration)


def test_flag_texts_are_split_like_shell_words_without_a_shell() -> None:
    found = command({"a": {"flag": "--name 'two words' $HOME;ls"}}, (True,))
    assert found.words == ("./prog", "--name", "two words", "$HOME;ls", "-o", "{scratch}/out", "{workload}")
    assert command({"a": {"flag": "--name"}}, (False,)).words[1] == "-o"


def test_a_switch_may_have_a_text_for_off() -> None:
    option = {"a": {"flag": {"on": "--x", "off": "--no-x"}}}
    assert command(option, (True,)).words[1] == "--x"
    assert command(option, (False,)).words[1] == "--no-x"


def test_choices_and_numbers_render_their_texts() -> None:
    options = {
        "c": {"choice": {"none": "", "crc": "--check crc"}},
        "n": {"number": [0, 6], "flag": "-{value}"},
    }
    assert command(options, ("crc", 6)).words[1:4] == ("--check", "crc", "-6")
    assert command(options, ("none", 0)).words[1:3] == ("-0", "-o")


def test_options_with_env_set_variables_and_an_empty_text_leaves_them_unset() -> None:
    options = {
        "debug": {"flag": "1", "env": "DEBUG"},
        "kind": {"flag": {"on": "yes", "off": "no"}, "env": "KIND"},
        "cache": {"choice": {"small": 64, "large": 4096}, "env": "CACHE_KB"},
        "level": {"number": [1, 2], "env": "LEVEL"},
    }
    on = command(options, (True, True, "large", 2))
    assert on.env == {"LC_ALL": "C", "DEBUG": "1", "KIND": "yes", "CACHE_KB": "4096", "LEVEL": "2"}
    assert on.words == ("./prog", "-o", "{scratch}/out", "{workload}")
    off = command(options, (False, False, "small", 1))
    assert off.env == {"LC_ALL": "C", "KIND": "no", "CACHE_KB": "64", "LEVEL": "1"}


def test_a_number_without_flag_and_variable_reaches_rendered_files_only() -> None:
    found = command({"n": {"number": [1, 2]}}, (2,), files={"a.json": "a.j2"})
    assert found.words == ("./prog", "-o", "{scratch}/out", "{workload}")
    assert found.values == {"n": 2}


def test_options_inside_a_longer_word_are_quoted_for_the_shell_that_reads_it() -> None:
    subject = Subject.model_validate(
        {"program": {"run": "sh -c 'exec ./prog {options}'"}, "options": {"a": {"flag": "--n 'a b'"}}}
    )
    assert invocation(subject, (True,)).words == ("sh", "-c", "exec ./prog --n 'a b'")


def test_several_workloads_are_a_choice_and_a_single_one_is_not() -> None:
    options = {"a": {"flag": "-a"}}
    one = command(options, (True,), workloads={"small": {"path": "s"}})
    assert (one.workload, one.values) == ("small", {"a": True})
    two = command(options, (True, "large"), workloads={"small": {"path": "s"}, "large": {"path": "l"}})
    assert (two.workload, two.values) == ("large", {"a": True, "workload": "large"})
