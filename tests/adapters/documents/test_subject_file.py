"""The configuration file: what it means, and one line for everything that can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters.documents.subject_file import line_of, load_subject, place_constraint, read_subject
from bot.adapters.documents.yaml_document import MAX_BYTES, decode
from bot.model.errors import ConstraintError, UsageError
from bot.model.subject import ChoiceOption, Program, Subject
from tests.adapters.subject_examples import CALLABLE, FULL, TABLE


def read(text: str) -> Subject:
    return read_subject(text, name="suspects.yml", directory=None)


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        read(text)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_full_file_is_read_with_its_units() -> None:
    subject = read(FULL)
    assert isinstance(subject.program, Program)
    assert (subject.program.build_timeout, subject.program.timeout) == (900, 60)
    assert subject.program.env == {"LC_ALL": "C", "SEED": "1"}
    assert (subject.threshold, subject.overhead) == (0.01, 0.1)
    assert subject.budget.bisect == 3600
    assert [m.name for m in subject.metrics] == ["cpu", "wall", "max_rss", "throughput"]
    assert subject.metrics[2].threshold == 0.05
    assert subject.metrics[3].better == "higher"
    assert isinstance(subject.options["format"], ChoiceOption)
    assert subject.options["format"].choice == {"--xz": "--xz", "--lzma": "--lzma"}
    assert subject.space.names == ("extreme", "sparse", "check", "level", "cache", "format")
    assert subject.space.default == (False, False, "crc64", 6, "small", "--xz")


def test_a_small_file_gets_the_documented_defaults() -> None:
    subject = read("program: {run: './x {options}'}\noptions: {a: {flag: -a}}")
    assert [m.name for m in subject.metrics] == ["cpu"]
    assert subject.budget.pull_request == 300
    assert subject.sandbox == "auto"


def test_on_and_off_stay_words() -> None:
    subject = read("program: {run: 'x {options}'}\noptions: {c: {choice: {on: -a, off: -b, yes: -c}}}")
    assert subject.space.options[0].values == ("on", "off", "yes")


def test_anchors_are_allowed_where_they_stay_small() -> None:
    subject = read("program: {run: &r 'x {options}', build: *r}\noptions: {a: {flag: -a}}")
    assert isinstance(subject.program, Program)
    assert subject.program.build == "x {options}"


@pytest.mark.parametrize("text", [TABLE, CALLABLE])
def test_offline_programs_need_no_command(text: str) -> None:
    assert len(read(text).space.options) >= 2


WRONG: list[tuple[str, str, str]] = [
    ("timeout: 60s", "timeout: soon", "9: program.timeout: is text 'soon'; a duration such as"),
    ("timeout: 60s", "timeout: 0s", "9: program.timeout: is 0.0; more than 0 is needed"),
    ("timeout: 60s", "timeout: .inf", "9: program.timeout: is inf; a finite number is needed"),
    ("timeout: 60s", "timeot: 60s", "9: program.timeot: unknown key; did you mean timeout? allowed: runtime"),
    ("sandbox: auto", "sandbx: auto", "sandbx: unknown key; did you mean sandbox?"),
    ("sandbox: auto", "sandbox: on", "sandbox: is text 'on'; allowed: 'auto', 'required' or 'off'"),
    ("  run: ", "  rum: ", "2: program: run is missing"),
    ("ok_exit: [0]", "ok_exit: 0", "10: program.ok_exit: is 0; a list is needed"),
    ("ok_exit: [0]", "ok_exit: [300]", "program.ok_exit.0: is 300; at most 255 is needed"),
    ("ok_exit: [0]", "ok_exit: []", "program.ok_exit: is empty; at least one entry is needed"),
    ("parallel: false", "parallel: yes", "program.parallel: is text 'yes'; true or false is needed"),
    ("LC_ALL: C", "LC_ALL: true", "program.env.LC_ALL: is true; text is needed: put it in quotes"),
    ("LC_ALL: C", "LC-ALL: C", "program.env.LC-ALL: text 'LC-ALL' cannot be a name"),
    ("run: ./xz", "run: ./'xz", "program.run: cannot be split into words"),
    ("{options} --stdout", "--stdout", "program.run: has no {options}, so extreme would never reach"),
    ("stdin: null", "stdin: txt", "8: program.stdin: txt is no workload; allowed: {workload}, text"),
    (
        "path: bench/text.txt",
        "path: /etc/passwd",
        "workloads.text.path: /etc/passwd lies outside the checkout",
    ),
    ("conf/app.json:", "../app.json:", "files.../app.json: ../app.json lies outside the checkout"),
    ("extreme: {flag", "extreme: {flg", "17: options.extreme: has only flg, default; flag, choice or number"),
    (
        "extreme: {flag",
        "extreme: {at: build, flag",
        "17: options.extreme.at: not yet supported; remove the key",
    ),
    ("extreme: {flag", "implies: {flag", "options.implies: implies is a reserved word"),
    ("extreme: {flag", "9a: {flag", "options.9a: text '9a' cannot be a name"),
    ("extreme: {flag", "a=b: {flag", "options.a=b: text 'a=b' cannot be a name"),
    ("extreme: {flag: --extreme", "extreme: {flag: 3.5", "options.extreme.flag: is 3.5; text is needed"),
    ("extreme: {flag: --extreme", 'extreme: {flag: "a\'b"', 'options.extreme.flag: "a\'b" cannot be split'),
    ("default: false", "default: off", "options.extreme.default: is text 'off'; true or false is needed"),
    ("on: --sparse", "onn: --sparse", "18: options.sparse.flag.onn: unknown key; did you mean on?"),
    (
        "extreme: {flag: --extreme, default: false}",
        "extreme: {flag: --mode, values: [fast, slow], default: fast}",
        "options.extreme.values: unknown key; allowed: flag, env, default; an option of several values",
    ),
    (
        "default: crc64",
        "default: crc65",
        "19: options.check.default: crc65 is no choice; allowed: none, crc64",
    ),
    ("{none: --check=none, crc64: --check=crc64}", "{}", "options.check.choice: is empty; at least one"),
    ("none: --check=none", "a b: --check=none", "options.check.choice.a b: text 'a b' cannot be a name"),
    ("[0, 3, 6, 9]", "[0, 6, 6.0]", "options.level.number: a value stands twice"),
    ("[0, 3, 6, 9]", "[]", "options.level.number: is empty; at least one entry is needed"),
    ("[0, 3, 6, 9]", "[0, 6, high]", "options.level.number.2: is text 'high'; a number is needed"),
    ("[0, 3, 6, 9]", "[6, .nan]", "options.level.number.1: is nan; a number is needed"),
    ('"-{value}"', '"-l"', "options.level.flag: has no {value}"),
    ("default: 6", "default: 7", "options.level.default: 7 is not among the values; allowed: 0, 3, 6, 9"),
    ("env: CACHE_KB", "env: CACHE-KB", "options.cache.env: text 'CACHE-KB' cannot be a name"),
    ("[cpu, wall", "[cpi, wall", "25: metrics.0: cpi is not a known metric; allowed: cpu, wall, max_rss"),
    ("[cpu, wall", "[cpu, cpu", "metrics.1: cpu stands twice"),
    ("[cpu, wall", "[cpu, 5", "metrics.1: is 5; a name or {name: {regex"),
    ("{throughput: {regex", "{wall_2: {regx", "metrics.3.wall_2.regx: unknown key; did you mean regex?"),
    ("{throughput:", "{instructions:", "metrics.3.instructions.regex: instructions is measured"),
    (r"'rate=(\d+)'", r"'rate=\d+'", "metrics.3.throughput.regex: has 0 groups; exactly one"),
    (r"'rate=(\d+)'", r"'(r)ate=(\d+)'", "metrics.3.throughput.regex: has 2 groups; exactly one"),
    (r"'rate=(\d+)'", r"'rate=(\d+'", "metrics.3.throughput.regex: is no regular expression"),
    ("threshold: 1%\n", "threshold: 150%\n", "threshold: is 1.5; less than 100% (1.0) is needed"),
    ("threshold: 1%\n", "threshold: tiny\n", "threshold: is text 'tiny'; a percentage such as 1%"),
    ("threshold: 1%\n", "threshold:\n", "threshold: is empty; a percentage such as 1%"),
    (
        "budget: {pull_request",
        "budget: {pullrequest",
        "budget.pullrequest: unknown key; did you mean pull_request?",
    ),
    ("store: branch", "store: cloud", "history.0.store: is text 'cloud'; allowed: 'branch', 'artifact'"),
    ("constraints: [", "constraints: 5 #", "constraints: is 5; a list is needed"),
    ("workloads:\n  text", "workloads: 5\nxx", "14: workloads: is 5; a mapping (key: value) is needed"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_a_mistake_is_one_line_with_place_key_and_remedy(old: str, new: str, message: str) -> None:
    assert old in FULL
    found = refusal(FULL.replace(old, new, 1))
    assert found.startswith("suspects.yml:")
    assert message in found


@pytest.mark.parametrize(
    ("key", "old"),
    [
        ("uvl: model.uvl", "extreme: {flag: --extreme, default: false}"),
        ("dimacs: model.dimacs", "extreme: {flag: --extreme, default: false}"),
    ],
)
def test_keys_of_later_versions_are_refused_and_not_ignored(key: str, old: str) -> None:
    line = FULL[: FULL.index(old)].count("\n") + 1
    found = refusal(FULL.replace(old, key))
    assert found.startswith(f"suspects.yml:{line}: ")
    assert f"{key.partition(':')[0]}: not yet supported" in found


def test_what_builds_may_use_is_read_and_checked() -> None:
    keys = "network: [build]\n  cache: [~/.m2, target]\n  submodules: true"
    program = read(FULL.replace("stdin: null", keys)).program
    assert isinstance(program, Program)
    assert (program.network, program.cache, program.submodules) == (("build",), ("~/.m2", "target"), True)
    assert "program.network.0" in refusal(FULL.replace("stdin: null", "network: [trials]"))
    outside = refusal(FULL.replace("stdin: null", "cache: [~/../.m2]"))
    assert "program.cache.0: ../.m2 lies outside the checkout" in outside


def test_a_server_is_read_and_checked() -> None:
    served = FULL.replace("./xz {options}", "./client {port} {options}").replace(", instructions", "")
    keys = "server: {start: './xz --port {port}', ready: ./ping}"
    program = read(served.replace("stdin: null", keys)).program
    assert isinstance(program, Program) and program.server is not None
    assert (program.server.ready, program.server.measure) == ("./ping", "server")
    for old, new, message in (
        ("{port}', ready", "1', ready", "program.server.start: has no {port}"),
        ("client {port}", "client", "program.run: is the server's client and has no {port}"),
        ("ready", "redy", "program.server.redy: unknown key; did you mean ready?"),
        ("wall, ", "wall, instructions, ", "instructions are not counted of servers"),
    ):
        text = served.replace("stdin: null", keys)
        assert old in text
        assert message in refusal(text.replace(old, new, 1))


def test_overlays_and_which_pull_requests_run_are_read_and_checked() -> None:
    more = "overlay: [bench]\nrun_on: {labels: [perf], paths: ['src/**'], drafts: true}"
    subject = read(FULL.replace("sandbox: auto", more))
    assert subject.overlay == ("bench",)
    assert (subject.run_on.labels, subject.run_on.paths, subject.run_on.drafts) == (
        ("perf",),
        ("src/**",),
        True,
    )
    assert "overlay.0: /bench lies outside" in refusal(FULL.replace("sandbox: auto", "overlay: [/bench]"))
    assert "did you mean labels?" in refusal(FULL.replace("sandbox: auto", "run_on: {label: x}"))


def test_the_backend_of_analyses_is_read_and_checked() -> None:
    with_cluster = FULL.replace("sandbox: auto", "analysis: {backend: 'dask://cluster:8786'}")
    assert read(with_cluster).analysis.backend == "dask://cluster:8786"
    assert "backend" in refusal(FULL.replace("sandbox: auto", "analysis: {backend: spark}"))


def test_an_option_may_be_called_uvl() -> None:
    assert read(FULL.replace("extreme: {", "uvl: {").replace("extreme", "uvl")).space.names[0] == "uvl"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the file is empty"),
        ("# nothing\n", "1: the file is empty"),
        ("- a\n- b", "1: the file is not a mapping"),
        ("hello", "1: the file is not a mapping"),
        ("program: {run: x}\nprogram: {run: y}", "2: the key program stands twice (first in line 1)"),
        ("program:\n\trun: x", "2: not YAML: a tab cannot indent; use spaces"),
        ("a: {number: [1], flag: -O{value}}", "got '{'; a text with { or } in it needs quotes"),
        ("program: 'x", "1: not YAML: found unexpected end of stream"),
        ("program: *x", "1: not YAML: found undefined alias"),
        ("a: 1\n---\nb: 2", "not YAML: but found another document"),
        ("program: !!python/object:os.system x", "1: not YAML: could not determine a constructor"),
        ("program: {run: 2024-99-99}", "1: not YAML: month must be in 1..12; put it in quotes"),
        ("a: &a [*a]", "nested too deeply, or aliases that expand without end"),
        ("[" * 5000, "nested too deeply"),
        ("? [a]\n: b", "1: a key must be a single word"),
        ("5: x", "5: a key must be text; put it in quotes"),
        ("program: [1]", "1: program: is a list; a mapping (key: value) is needed"),
        ("program: {run: x}\noptions: [a]", "2: options: is a list; a mapping"),
        ("program: {run: x}\noptions: {a: }", "2: options.a: is empty; a mapping"),
        ("program: {run: x}", "options: there is nothing to compare; name at least one option"),
        ("program: {run: ' '}\noptions: {a: {flag: -a}}", "program.run: is empty; a command is needed"),
        ('program: {run: "a\\0b"}', "1: a NUL character cannot be part of"),
        ("program: {run: 'x {workload}'}\noptions: {a: {flag: a, env: A}}", "there are no workloads"),
        (
            "program: {run: x, stdin: a}\noptions: {a: {flag: a, env: A}}",
            "a is no workload; allowed: none are",
        ),
        (
            "program: {run: x}\noptions: {a: {flag: ''}}",
            "options.a: changes neither arguments nor environment",
        ),
        (
            "program: {run: x}\noptions: {a: {number: [1]}}",
            "options.a: changes neither arguments nor environment",
        ),
        ("program: {run: x}\noptions: {a: {flag: 1, env: A}, b: {flag: 1, env: A}}", "A is already set by a"),
        (CALLABLE.replace("2000", "1"), "2: program.revisions: is 1; at least 2 is needed"),
        (CALLABLE.replace("world:run", "world.run"), "is text 'world.run'; module:function is needed"),
        (
            CALLABLE.replace("{flag: --a}", "{number: [1, 2]}"),
            "4: options.a: a callable program has flags only",
        ),
        (TABLE + "workloads: {a: {path: b}}", "workloads: does not go with a table program"),
        (TABLE.replace("metric", "metrc"), "program.metrc: unknown key; did you mean metric?"),
        ("x" * (MAX_BYTES + 1), "at most 262144 are read"),
    ],
)
def test_a_file_that_is_no_configuration_is_one_line(text: str, message: str) -> None:
    assert message in refusal(text)


def test_an_alias_bomb_is_refused_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "aliases that expand without end" in refusal("\n".join(lines))


def test_several_workloads_must_reach_the_program_and_reserve_their_name() -> None:
    two = "workloads: {a: {path: a}, b: {path: b}}\noptions: {x: {flag: -x}}\n"
    assert "put {workload} into program.run" in refusal(two + "program: {run: 'p {options}'}")
    assert read(two + "program: {run: 'p {options}', stdin: '{workload}'}").space.names == ("x", "workload")
    clash = two.replace("x: {", "workload: {") + "program: {run: 'p {options} {workload}'}"
    assert "workload is a reserved word" in refusal(clash)


def test_workloads_alone_are_a_space() -> None:
    subject = read("program: {run: 'p {workload}'}\nworkloads: {a: {path: a}, b: {path: b}}")
    assert subject.space.names == ("workload",)


def test_several_mistakes_are_counted_and_the_first_is_shown() -> None:
    found = refusal(FULL.replace("timeout: 60s", "timeout: soon").replace("default: crc64", "default: crc65"))
    assert "program.timeout" in found
    assert "more after" not in found  # the checks between keys wait until each key is right
    both = refusal(FULL.replace("timeout: 60s", "timeout: soon").replace("sandbox: auto", "sandbox: on"))
    assert both.endswith("(1 more after this one)")


def test_offline_files_must_lie_beside_the_configuration(tmp_path: Path) -> None:
    for text, file in ((TABLE, "perf.csv"), (CALLABLE, "world.py")):
        with pytest.raises(UsageError, match="beside the configuration file"):
            read_subject(text, name="f.yml", directory=tmp_path)
        (tmp_path / file).write_text("")
        read_subject(text, name="f.yml", directory=tmp_path)


def test_files_that_cannot_be_read_are_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "suspects.yml"
    with pytest.raises(UsageError, match="No such file or directory; `suspects init` writes one"):
        load_subject(missing)
    with pytest.raises(UsageError, match="Is a directory"):
        load_subject(tmp_path)
    missing.write_bytes(b"program: {run: x}\noptions: {\xff\xfe}")
    with pytest.raises(UsageError, match=r"suspects.yml:2: the file is not UTF-8"):
        load_subject(missing)
    missing.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(UsageError, match="at most 262144 are read"):
        load_subject(missing)
    missing.write_text(FULL)
    assert load_subject(missing) == read(FULL)


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert read(decode(b"\xef\xbb\xbf" + FULL.encode(), name="f")) == read(FULL)


def test_a_constraint_that_fails_is_placed_at_its_line() -> None:
    text = FULL.replace("constraints: [", "constraints: [\n  ").replace('3", ', '3",\n  ')
    assert line_of(text, ("constraints", 1)) == 26
    placed = place_constraint(ConstraintError("contradict", (1, 0)), text, name="f.yml")
    assert str(placed) == "f.yml:26: constraints: contradict"


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    ),
    st.sampled_from(
        ["program", "options", "workloads", "metrics", "files", "budget", "history", "constraints"]
    ),
)
def test_any_value_of_any_key_is_read_or_refused_and_nothing_else(value: Any, key: str) -> None:
    base: dict[str, Any] = {"program": {"run": "x {options}"}, "options": {"a": {"flag": "-a"}}}
    inside = {**base[key], "a": value} if key in base and isinstance(value, dict) else value
    text = json.dumps({**base, key: inside}).replace("NaN", ".nan").replace("Infinity", ".inf")
    try:
        read(text)
    except UsageError as error:
        assert "\n" not in str(error)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        read(text)
    except UsageError as error:
        assert "\n" not in str(error)
