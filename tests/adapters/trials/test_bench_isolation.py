from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.model.subject import Metric, Program
from bot.model.trials import Wish
from tests.adapters.workbench import ROOT, Workbench, alive, gone, root_only, soon


def test_both_sides_get_the_same_workload_and_the_options(workbench: Workbench) -> None:
    seen = {side: workbench.output(f"{side}-seen") for side in workbench.roots}
    for side in workbench.roots:
        workbench.program(f'#!/bin/sh\necho "$@" > {seen[side]}; cat >> {seen[side]}\n', side=side)
    assert workbench.pair("./program {options} {workload}", stdin="workload", wish=Wish((True,))).ok
    expected = f"--fast {workbench.workload}\nthe input\n"
    assert [path.read_text() for path in seen.values()] == [expected, expected]


def test_the_environment_holds_only_what_is_given(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "token")
    seen = workbench.output("seen")
    program = Program(run=f"sh -c 'env > {seen}'", env={"LC_ALL": "C", "MINE": "1"})
    with workbench.bench(program, pass_env={"PASSED": "2"}) as bench:
        assert all(pair.ok for pair in bench.measure(iter([Wish((False,))])))
    names = {line.partition("=")[0]: line.partition("=")[2] for line in seen.read_text().splitlines()}
    assert set(names) - {"PWD", "OLDPWD", "SHLVL", "_"} == {
        "PATH",
        "HOME",
        "TMPDIR",
        "LC_ALL",
        "MINE",
        "PASSED",
    }
    assert names["LC_ALL"] == "C"


@root_only
def test_our_environment_cannot_be_read_through_proc(workbench: Workbench) -> None:
    pair = workbench.pair(f"cat /proc/{os.getpid()}/environ", ok_exit=(1,))
    assert (pair.first.outcome, pair.first.exit_code) == ("ok", 1)
    # and the one that starts trials
    assert workbench.pair("sh -c 'cat /proc/$PPID/environ'", ok_exit=(1,)).ok


def test_the_network_is_out_of_reach(workbench: Workbench) -> None:
    connect = "try: code = socket.socket().connect_ex(('127.0.0.1', 1))\nexcept OSError as e: code = e.errno"
    workbench.program(f"#!/usr/bin/python3\nimport socket\n{connect}\nprint('error=%d' % code)\n")
    pair = workbench.pair(metrics=[Metric(name="error", regex=r"error=(\d+)")])
    assert pair.first.metrics["error"] in (13, 101)  # denied, or unreachable; not refused


@root_only
def test_each_side_has_its_own_account(workbench: Workbench) -> None:
    pair = workbench.pair("sh -c 'echo uid=$(id -u)'", metrics=[Metric(name="uid", regex=r"uid=(\d+)")])
    accounts = workbench.accounts
    assert (pair.first.metrics["uid"], pair.second.metrics["uid"]) == (accounts["base"], accounts["head"])


@root_only
def test_one_side_cannot_kill_the_other(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nkill -9 -1; sleep 0.3; exit 0\n", side="base")
    workbench.program("#!/bin/sh\nsleep 0.3\n", side="head")
    pair = workbench.pair(ok_exit=(0, 1))
    assert pair.second.outcome == "ok"


def test_a_control_runs_base_twice(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nexit 1\n", side="head")
    workbench.program("#!/bin/sh\n", side="base")
    pair = workbench.pair(wish=Wish((False,), sides=("base", "base")))
    assert pair.ok
    assert pair.alone is not None
    assert set(pair.alone) == {"base"}


def test_the_scratch_folder_is_fresh_and_removed(workbench: Workbench) -> None:
    fresh = 'test -z "$(ls -A $1)" && test "$1" = "$HOME"'
    workbench.program(f"#!/bin/sh\n{fresh} && mkdir -p $1/a/b && echo x > $1/a/b/c && chmod 000 $1/a/b\n")
    pair = workbench.pair("./program {scratch}")
    assert pair.ok, pair
    assert pair.first.repetitions > 1
    assert list((workbench.folder / "scratch").iterdir()) == []


def test_removing_the_scratch_folder_never_follows_links(workbench: Workbench) -> None:
    kept = workbench.folder / "kept"
    kept.mkdir()
    (kept / "file").touch()
    assert workbench.pair(f"sh -c 'ln -s {kept} $HOME/link'").ok
    assert (kept / "file").exists()


@root_only
def test_a_trial_cannot_write_its_checkout(workbench: Workbench) -> None:
    pair = workbench.pair("sh -c 'echo > created || echo > program'", ok_exit=(2,))
    assert (pair.first.outcome, pair.first.exit_code) == ("ok", 2)
    assert not (workbench.roots["base"] / "created").exists()


@root_only
def test_without_a_sandbox_the_account_stays(workbench: Workbench) -> None:
    with workbench.bench(Program(run="sh -c 'exit $(id -u)'"), sandbox="off") as bench:
        (pair,) = bench.measure(iter([Wish((False,))]))
        assert not bench.notes()
    assert pair.ok


DAEMON = """#!/usr/bin/python3
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
started, begin = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], 'a') as file:
            file.write(f'{os.getpid()}\\n')
        os.write(begin, b'x')
        time.sleep(1000)
    os._exit(0)
os.read(started, 1)
"""


def test_daemons_a_program_leaves_are_killed_and_told(workbench: Workbench) -> None:
    pids = workbench.output("pids")
    workbench.program(DAEMON)
    with workbench.bench(Program(run=f"./program {pids}")) as bench:
        for pair in bench.measure(iter([Wish((False,), track="wall")])):
            assert pair.ok
            assert "left 1 process" in pair.first.detail
            left = [int(line) for line in pids.read_text().split()]
            assert len(left) == 4
            assert not any(map(alive, left))


def test_children_of_a_program_that_times_out_die_with_it(workbench: Workbench) -> None:
    pids = workbench.output("pids")
    workbench.program(
        f"#!/bin/sh\nsleep 1000 & echo $! >> {pids}; setsid sleep 1000 & echo $! >> {pids}; wait\n"
    )
    assert workbench.pair(timeout=0.3).first.outcome == "timeout"
    left = [int(line) for line in pids.read_text().split()]
    assert len(left) == 4  # both warm-ups, two each
    assert gone(left, seconds=0)


def test_no_process_survives_the_killing_of_the_bench(workbench: Workbench) -> None:
    pids = workbench.output("pids")
    workbench.program(f"#!/bin/sh\nsetsid sleep 1000 & echo $! >> {pids}; echo $$ >> {pids}; wait\n")
    script = f"""
import threading, numpy as np
from pathlib import Path
from bot.adapters.trials.bench import PairBench
from bot.model.sites import Account, Site
from bot.model.subject import Program, Subject
from bot.model.trials import Wish
account = Account({workbench.accounts["base"]}, {workbench.accounts["base"]}) if {ROOT} else None
sites = {{s: Site(s, Path({str(workbench.folder)!r}) / s, account) for s in ("base", "head")}}
bench = PairBench(subject=Subject(program=Program(run="./program")), sites=sites,
    rng=np.random.default_rng(1), budget=600, scratch=Path({str(workbench.folder)!r}) / "s",
    stop=threading.Event(), slots=2)
list(bench.measure(iter([Wish(()), Wish(())])))
"""
    repository = Path(__file__).resolve().parents[3]
    bench = subprocess.Popen([sys.executable, "-c", script], cwd=repository)
    try:
        assert soon(lambda: len(pids.read_text().split()) == 4)
        workers = [
            int(pid) for pid in Path(f"/proc/{bench.pid}/task/{bench.pid}/children").read_text().split()
        ]
    finally:
        bench.kill()
        bench.wait()
    assert len(workers) == 4
    assert gone([*workers, *map(int, pids.read_text().split())])
