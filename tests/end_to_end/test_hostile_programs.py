"""Programs that misbehave while they are measured: decided where possible, counted, and nothing survives."""

from __future__ import annotations

import pytest

from tests.end_to_end.builders import FLAGS, ROOT, SAY, STEADY, STEADY_TOO, Ended, Place, config, loop, shell


def both(place: Place, *lines: str, text: str | None = None, budget: str = "6s", **files: str) -> Ended:
    """One pull request whose sides both run these lines first."""
    place.pull_request(shell(*lines, "# base"), shell(*lines, "# head"), text=text, **files)
    return place.pr(budget=budget)


def nothing_measured(ended: Ended, *words: str) -> None:
    """Never green, never silent: exit code 3, an undecided verdict, and the reason is told."""
    assert ended.code == 3, ended.said
    assert ended.report is not None
    assert ended.report["verdict"] == "inconclusive" and ended.report["spent"]["pairs"] == 0
    for word in words:
        assert word in ended.out


def failures(ended: Ended) -> list[str]:
    """The report's reasons for failed pairs."""
    assert ended.report is not None
    return [c["failure"] for c in ended.report["configurations"] if c.get("failure")]


def test_a_command_that_does_not_exist_is_named(place: Place) -> None:
    place.pull_request(text=config("./no-such-thing {options}"))
    nothing_measured(place.pr(), "./no-such-thing", "no such command")


def test_a_program_that_may_not_be_executed_is_named(place: Place) -> None:
    place.pull_request(text=config("./data {options}"), data="text")
    nothing_measured(place.pr(), "./data", "permission denied")


def test_an_interpreter_that_is_missing_is_named(place: Place) -> None:
    place.pull_request("#!/no/such/interpreter\n", "#!/no/such/interpreter\n#\n")
    nothing_measured(place.pr(), "interpreter")


def test_a_program_that_ignores_its_options_gets_no_name_blamed(place: Place) -> None:
    place.pull_request(STEADY, STEADY_TOO)
    ended = place.pr("--fail-on", "regression", budget="5s")
    assert ended.code == 0 and ended.report is not None
    assert ended.report["verdict"] in ("none", "inconclusive")
    assert ended.report["suspects"]["options"] == []


def test_a_program_that_hangs_is_a_failed_trial(place: Place) -> None:
    nothing_measured(
        both(place, "sleep 1000", text=config(program={"timeout": "500ms"})), "stopped after 0.5 s"
    )


def test_a_program_slower_than_the_whole_budget_is_never_green(place: Place) -> None:
    ended = both(place, "sleep 1000")
    nothing_measured(ended)
    assert ended.report is not None and ended.report["interrupted"] == "budget"
    assert ended.report["spent"]["seconds"] < 60  # the budget of 3 s, and generously: not the sleep


@pytest.mark.parametrize(
    "child",
    [
        "sleep 1000 &",
        "setsid sleep 1000 &",
        "(setsid sh -c 'sleep 1000 & sleep 1000' &)",
        "(trap '' TERM HUP INT; while :; do sleep 1; done) &",
        "(cd / && exec env -i setsid sleep 1000) > /dev/null 2>&1 &",
    ],
)
def test_children_that_stay_are_ended_with_their_trial(place: Place, child: str) -> None:
    ended = both(place, child)  # `finish` looks for survivors
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0


def test_a_trial_cannot_leave_a_process_outside_its_folder_either(place: Place) -> None:
    mark = f"{place.folder.name}-mark"
    ended = both(place, f"(cd /; exec env -i setsid sh -c 'sleep 1000; : {mark}') &")
    assert ended.code == 0


@pytest.mark.parametrize("stream", ["", ">&2"])
def test_output_without_end_is_neither_kept_nor_waited_for(place: Place, stream: str) -> None:
    ended = both(place, f"yes {stream}", text=config(program={"timeout": "1s"}))
    nothing_measured(ended, "stopped after 1 s")
    assert len(ended.said) < 100_000


def test_output_without_end_that_is_searched_for_a_metric_is_cut(place: Place) -> None:
    text = config(program={"timeout": "1s"}, metrics=["cpu", {"rate": {"regex": r"rate=(\d+)"}}])
    nothing_measured(both(place, "yes rate=1", text=text), "stopped after 1 s")


def test_a_metric_that_the_output_does_not_have_is_told(place: Place) -> None:
    text = config(metrics=["cpu", {"rate": {"regex": r"rate=(\d+)"}}])
    nothing_measured(both(place, "echo rate=many", text=text), "no number for rate")


@pytest.mark.skipif(not ROOT, reason="without root trials run under the account that owns the checkout")
def test_a_trial_cannot_write_its_checkout(place: Place) -> None:
    lines = ["echo x > ./new && exit 1", "echo x >> ./program.sh && exit 1", "rm -f ./data && exit 1"]
    ended = both(place, *[f"({line})" for line in lines], "[ -e data ] && [ ! -e new ] || exit 9", data="x")
    assert ended.code == 0 and ended.report is not None
    assert ended.report["spent"]["pairs"] > 0 and ended.report["spent"]["failed_trials"] == 0


@pytest.mark.skipif(not ROOT, reason="without root trials run under our own account")
def test_a_trial_cannot_write_the_repository_or_the_results(place: Place) -> None:
    targets = [place.repository / "program.sh", place.repository / ".git" / "config", place.out / "x"]
    ended = both(place, *(f"(echo broken >> {path}) 2>&-" for path in targets))
    assert ended.code == 0
    assert not targets[-1].exists()
    assert all("broken" not in path.read_text().splitlines() for path in targets[:-1])


def test_configurations_that_fail_do_not_keep_the_others_from_being_decided(place: Place) -> None:
    ended = both(place, 'case "$*" in *--beta*) echo wrong turn >&2; exit 3;; esac', budget="5s")
    assert ended.code == 0 and ended.report is not None
    for change in ended.report["configurations"]:
        assert (change["state"] == "failed") == change["options"]["beta"]
    assert ended.report["spent"]["failed_trials"] > 0
    assert any("exit code 3" in failure and "wrong turn" in failure for failure in failures(ended))
    assert "beta" in ended.report["visible"]["levels_not_exercised"]


def test_a_program_that_fails_everywhere_is_not_green(place: Place) -> None:
    nothing_measured(both(place, "echo no such luck >&2; exit 7"), "exit code 7", "no such luck")


def test_a_failing_head_is_told_as_its_own(place: Place) -> None:
    place.pull_request(STEADY, shell("exit 7"))
    ended = place.pr(budget="10s")
    nothing_measured(ended, "head: exit code 7")
    assert "base: exit code" not in ended.out


def test_different_exit_codes_of_the_two_sides_are_a_failure(place: Place) -> None:
    text = config(program={"ok_exit": [0, 4]})
    place.pull_request(f"{STEADY}exit 0\n", f"{STEADY}exit 4\n", text=text)
    nothing_measured(place.pr(budget="10s"), "exit codes differ: base 0, head 4")


def test_a_crash_is_told_by_its_signal(place: Place) -> None:
    nothing_measured(both(place, "kill -SEGV $$"), "SIGSEGV")


def test_a_real_crash_of_a_compiled_program_is_told(place: Place) -> None:
    source = "int main(void) { volatile int *p = 0; return *p; }\n"
    text = config("./crash {options}", program={"build": "cc -o crash crash.c"})
    place.pull_request(text=text, **{"crash.c": source})
    nothing_measured(place.pr(), "SIGSEGV")


def test_memory_without_end_ends_the_trial_not_the_machine(place: Place) -> None:
    program = "#!/usr/bin/python3 -IS\nkept = []\nwhile True:\n    kept.append(bytearray(1 << 28))\n"
    place.pull_request(program, f"{program}#\n", text=config(program={"timeout": "20s"}))
    nothing_measured(place.pr(budget="5s"))


def test_a_trial_that_kills_all_it_may_does_not_reach_us(place: Place) -> None:
    if not ROOT:
        pytest.skip("without root trials run under our own account")
    ended = both(place, "kill -9 -1")  # itself and its partner: they share the machine, not an account
    assert ended.code in (0, 3)
    assert ended.report is not None


def test_stopped_programs_are_ended_too(place: Place) -> None:
    nothing_measured(both(place, "kill -STOP $$", text=config(program={"timeout": "1s"})), "stopped after")


def test_standard_input_is_empty_unless_configured(place: Place) -> None:
    ended = both(place, "read word && exit 5")
    assert ended.code == 0


def test_the_clean_environment_has_none_of_our_secrets(place: Place) -> None:
    lines = shell('[ -z "$SECRET_TOKEN" ] || exit 5', '[ "$(env | wc -l)" -lt 12 ] || exit 6')
    place.pull_request(lines, f"{lines}#\n")
    ended = place.pr(env={"SECRET_TOKEN": "hidden"})
    assert ended.code == 0 and failures(ended) == []


ESCAPES = r"\033]0;title\007\033[31mred\033[0m <b>bold</b> | [link](http://e.org) @someone \`tick\`"


def test_escapes_in_a_programs_words_reach_neither_terminal_nor_comment(place: Place) -> None:
    ended = both(place, f'printf "{ESCAPES}" >&2; exit 7')
    nothing_measured(ended, "exit code 7")
    assert "\x1b" not in ended.said and "\x07" not in ended.said
    comment = place.out / "report.md"
    place.pr("--markdown", str(comment))
    text = comment.read_text()
    assert "\x1b" not in text and "<b>" not in text and "\n@someone" not in text


def test_names_with_markdown_stay_names(place: Place) -> None:
    slow = shell(turns="4000")
    options = {"mode": {"choice": {"a:/@%-b": "", "c": "--c"}}, "x.y-z_": {"flag": "--x"}}
    place.pull_request(shell(), slow, text=config(options=options))
    ended = place.pr(budget="15s")
    assert ended.code == 0 and ended.report is not None
    assert ended.report["verdict"] == "regression"


@pytest.mark.parametrize("base_turns", ["1500"])
def test_a_planted_regression_fails_on_demand_and_names_its_option(place: Place, base_turns: str) -> None:
    def program(extra: int) -> str:
        lines = [f"n={base_turns}", f'case "$*" in *--beta*) n=$((n + {extra}));; esac']
        return "\n".join(["#!/bin/sh", *lines, loop("$n"), SAY])

    place.pull_request(program(2000), program(2000 + 3000))
    ended = place.pr("--fail-on", "regression")
    assert ended.code == 1 and ended.report is not None
    assert ended.report["verdict"] == "regression"
    assert ["beta"] in [s["term"] for s in ended.report["suspects"]["options"]]
    assert set(FLAGS) >= {name for s in ended.report["suspects"]["options"] for name in s["term"]}
