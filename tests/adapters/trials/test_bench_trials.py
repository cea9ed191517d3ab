from __future__ import annotations

from itertools import repeat
from pathlib import Path

import numpy as np
import pytest

from bot.model.errors import UsageError
from bot.model.sites import Site
from bot.model.subject import Metric, Program
from bot.model.trials import Trial, Wish
from tests.adapters.workbench import PYTHON, WORK, Workbench, root_only


def test_a_pair_has_the_metrics_of_both_sides(workbench: Workbench) -> None:
    workbench.program(f"#!{PYTHON}\n" + WORK.format(5))
    pair = workbench.pair()
    assert pair.ok
    for trial in (pair.first, pair.second):
        assert trial.metrics["cpu"] > 0.005
        assert trial.metrics["minor_faults"] > 100
        assert trial.metrics["read_bytes"] > 1000
        assert "wall" not in trial.metrics
    assert pair.alone is not None
    assert set(pair.alone) == {"base", "head"}


def test_twice_the_work_measures_as_about_twice_the_time(workbench: Workbench) -> None:
    workbench.program(f"#!{PYTHON}\n" + WORK.format(8), side="base")
    workbench.program(f"#!{PYTHON}\n" + WORK.format(16), side="head")
    with workbench.bench(Program(run="./program")) as bench:
        pairs = list(bench.measure(repeat(Wish((False,)), 7)))
    ratio = np.median([pair.second.metrics["cpu"] / pair.first.metrics["cpu"] for pair in pairs])
    assert 1.5 < ratio < 2.7


def test_the_time_of_children_counts(workbench: Workbench) -> None:
    workbench.program(f"#!{PYTHON}\n" + WORK.format(20), name="worker")
    workbench.program("#!/bin/sh\n./worker & ./worker & wait\n")
    workbench.program("#!/bin/sh\nexec ./worker\n", name="single")
    # In turn: a shared machine may become several times as slow from one trial to the next.
    pairs = [(workbench.pair(), workbench.pair("./single")) for _ in range(5)]
    assert np.median([both.first.metrics["cpu"] / one.first.metrics["cpu"] for both, one in pairs]) > 1.4


def test_the_time_of_orphans_that_ended_counts(workbench: Workbench) -> None:
    done = workbench.output("done")
    work = WORK.format(20) + f"open({str(done)!r}, 'w').write('done')\n"
    workbench.program(f"#!{PYTHON}\n{work}", name="worker")
    # The worker's parent is gone at once; the program waits for its result.
    workbench.program(
        f"#!/bin/sh\n: > {done}\n(setsid ./worker &)\nuntil [ -s {done} ]; do sleep 0.05; done\nsleep 0.2\n"
    )
    workbench.program("#!/bin/sh\nexec ./worker\n", name="single")
    with workbench.bench(Program(run="./program")) as bench:
        (pair,) = bench.measure(iter([Wish((False,), track="wall")]))
    assert pair.first.metrics["cpu"] > 0.5 * workbench.pair("./single").first.metrics["cpu"]


def test_the_peak_memory_is_the_programs(workbench: Workbench) -> None:
    workbench.program(f"#!{PYTHON}\nx = b'x' * (200 << 20)\n", side="head")
    workbench.program(f"#!{PYTHON}\n", side="base")
    pair = workbench.pair()
    assert pair.second.metrics["max_rss"] > 200 << 20
    assert pair.first.metrics["max_rss"] < 50 << 20


def test_small_programs_all_have_the_smallest_peak_that_can_be_seen(workbench: Workbench) -> None:
    with workbench.bench(Program(run="/bin/true"), metrics=[Metric(name="max_rss")]) as bench:
        pairs = list(bench.measure(repeat(Wish((False,)), 3)))
        assert any("Peak memory below" in note for note in bench.notes())
    assert len({trial.metrics["max_rss"] for pair in pairs for trial in (pair.first, pair.second)}) == 1


def test_short_programs_are_repeated_alike_on_both_sides(workbench: Workbench) -> None:
    runs = {side: workbench.output(side + "-runs") for side in ("base", "head")}
    for side, path in runs.items():
        workbench.program(f"#!/bin/sh\necho run >> {path}\n", side="base" if side == "base" else "head")
    pair = workbench.pair()
    assert pair.first.repetitions == pair.second.repetitions > 1
    for path in runs.values():
        assert len(path.read_text().splitlines()) == 1 + pair.first.repetitions  # one warm-up
    assert pair.first.metrics["cpu"] < 0.02


def test_a_regex_reads_a_metric_from_the_end_of_the_output(workbench: Workbench) -> None:
    workbench.program(
        "#!/bin/sh\nhead -c 3000000 /dev/zero\necho\necho rate=1\necho rate=42.5\n", side="base"
    )
    workbench.program("#!/bin/sh\necho rate=43 >&2\n", side="head")
    pair = workbench.pair(metrics=[Metric(name="throughput", regex=r"rate=(\d+\.?\d*)")])
    assert pair.first.metrics["throughput"] == 42.5
    assert pair.second.metrics["throughput"] == 43.0


def test_output_without_the_metric_is_a_failed_trial(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\necho nothing\n")
    pair = workbench.pair(metrics=[Metric(name="throughput", regex=r"rate=(\d+)")])
    assert pair.first.outcome == "unparsable"
    assert "throughput" in pair.first.detail


def test_the_wall_track_sees_waiting(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nexec sleep 0.3\n")
    pair = workbench.pair(wish=Wish((False,), track="wall"))
    assert pair.first.metrics["wall"] >= 0.3 > pair.first.metrics["cpu"]
    assert pair.alone is not None
    assert pair.alone["base"][1] >= 0.3


def test_instructions_are_counted_exactly(workbench: Workbench) -> None:
    wish = Wish((False,), track="instructions")
    pair = workbench.pair("/bin/true", wish=wish)
    assert pair.ok, pair
    assert set(pair.first.metrics) == {"instructions"}
    assert pair.first.metrics["instructions"] > 10_000


def test_go_programs_keep_their_goroutines_while_they_are_counted(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\ncase ,$GODEBUG, in *,asyncpreemptoff=1,*) exit 0;; esac\nexit 3\n")
    wish = Wish((False,), track="instructions")
    assert workbench.pair(wish=wish).ok
    with workbench.bench(Program(run="./program", env={"GODEBUG": "http2debug=1"})) as bench:
        assert next(iter(bench.measure(iter([wish])))).ok


def test_what_was_counted_exactly_is_not_counted_again(workbench: Workbench) -> None:
    log = workbench.output("runs")
    workbench.program(f"#!/bin/sh\necho run >> {log}\n")
    wish = Wish((False,), track="instructions")
    with workbench.bench(Program(run="./program")) as bench:
        first, second = bench.measure(iter([wish, wish]))
    assert first.ok and second.ok and len(log.read_text().splitlines()) == 2
    assert first.first.metrics == second.first.metrics
    assert [t.repetitions for t in (first.first, first.second, second.first, second.second)] == [1, 1, 0, 0]


def test_an_exit_code_outside_the_accepted_ones_is_a_failed_trial(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\necho went wrong >&2\nexit 3\n")
    pair = workbench.pair()
    assert not pair.ok
    assert (pair.first.outcome, pair.first.exit_code) == ("exit", 3)
    assert pair.first.detail == "exit code 3: went wrong"


def test_accepted_exit_codes_are_no_failure(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nexit 3\n")
    assert workbench.pair(ok_exit=(0, 3)).ok


def test_different_accepted_exit_codes_are_a_failed_pair(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nexit 3\n", side="base")
    workbench.program("#!/bin/sh\nexit 0\n", side="head")
    pair = workbench.pair(ok_exit=(0, 3))
    assert (pair.first.exit_code, pair.second.exit_code) == (3, 0)
    assert not pair.ok


def test_a_crash_is_a_failed_trial_although_its_exit_code_is_accepted(workbench: Workbench) -> None:
    crash = "import sys; print('found'); sys.stdout.flush(); raise ValueError('no such rule')"
    workbench.program(f'#!/bin/sh\nexec {PYTHON} -c "{crash}"\n', side="head")
    workbench.program("#!/bin/sh\necho found\nexit 1\n", side="base")
    pair = workbench.pair(ok_exit=(0, 1))
    assert (pair.first.outcome, pair.second.outcome) == ("ok", "exit")
    told = "exit code 1 (in ok_exit), but nobody caught an error: ValueError: no such rule"
    assert pair.second.detail == told


def test_a_side_that_fails_only_in_company_does_not_hold_up_the_other(workbench: Workbench) -> None:
    count = workbench.output("count")
    workbench.program(f"#!/bin/sh\necho >> {count}\n[ $(wc -l < {count}) -lt 3 ]\n", side="head")
    workbench.program("#!/bin/sh\n", side="base")
    pair = workbench.pair()
    assert (pair.first.outcome, pair.second.outcome) == ("ok", "exit")


def test_a_killed_program_names_its_signal(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nkill -SEGV $$\n")
    pair = workbench.pair()
    assert pair.first.outcome == "signal"
    assert "SIGSEGV" in pair.first.detail


def test_a_program_that_hangs_is_a_timeout(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 1000; done\n")
    pair = workbench.pair(timeout=0.2)
    assert (pair.first.outcome, pair.second.outcome) == ("timeout", "timeout")
    assert "0.2 s" in pair.first.detail


def test_a_command_that_does_not_exist_is_one_clear_line(workbench: Workbench) -> None:
    assert workbench.pair("./absent").first == Trial("not-started", detail="./absent: no such command")


def test_an_interpreter_that_does_not_exist_is_told_apart(workbench: Workbench) -> None:
    workbench.program("#!/no/such/interpreter\n")
    assert "interpreter" in workbench.pair().first.detail


@root_only
def test_a_program_that_the_account_cannot_execute_is_one_clear_line(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\n")
    (workbench.roots["head"] / "program").chmod(0o700)
    pair = workbench.pair()
    assert pair.first.outcome == "ok"
    assert pair.second.outcome == "not-started"
    uid = workbench.accounts["head"]
    assert pair.second.detail.startswith(f"./program: permission denied for the uid the sandbox uses ({uid})")


def test_endless_output_neither_hangs_nor_is_kept(workbench: Workbench) -> None:
    pair = workbench.pair("yes", timeout=0.3, metrics=[Metric(name="rate", regex="rate=(.)")])
    assert pair.first.outcome == "timeout"
    assert len(pair.first.detail) < 1000


def test_a_missing_working_directory_is_an_outcome(workbench: Workbench) -> None:
    (workbench.roots["head"]).rmdir()
    pair = workbench.pair("true")
    assert pair.second.outcome == "not-started"
    assert "working directory" in pair.second.detail


def test_configuration_files_that_cannot_be_written_are_an_outcome(workbench: Workbench) -> None:
    def place(site: Site, slot: int, command: object) -> Path:
        raise OSError(28, "No space left on device", "conf/app.json")

    with workbench.bench(Program(run="true"), place=place) as bench:
        (pair,) = bench.measure(iter([Wish((False,))]))
    assert pair.first == Trial("not-started", detail="conf/app.json: No space left on device")


def test_a_template_that_fails_ends_a_comparison_but_not_a_range(workbench: Workbench) -> None:
    def place(site: Site, slot: int, command: object) -> Path:
        raise UsageError("c.j2:1: 'nope' is undefined.")

    with workbench.bench(Program(run="true"), place=place) as bench:
        with pytest.raises(UsageError):
            list(bench.measure(iter([Wish((False,))])))
        (pair,) = bench.measure(iter([Wish((False,), revision=3)]))
    assert pair.first == pair.second == Trial("not-started", detail="c.j2:1: 'nope' is undefined.")


def test_output_on_which_a_pattern_would_take_for_ever_is_a_failed_trial(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nprintf '%060d!' 0 | tr 0 a\n")
    pair = workbench.pair(metrics=[Metric(name="slow", regex=r"(?:a+)+b(\d)")])
    assert (pair.first.outcome, pair.second.outcome) == ("unparsable", "unparsable")


def test_a_wrong_regex_is_a_failed_trial(workbench: Workbench) -> None:
    pair = workbench.pair("echo 1", metrics=[Metric(name="odd", regex="(1")])
    assert pair.first.outcome == "unparsable"
