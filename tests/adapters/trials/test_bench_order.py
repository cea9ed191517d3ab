from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import repeat

from bot.model.subject import Program
from bot.model.trials import Pair, Wish
from tests.adapters.workbench import Workbench, alive, gone, soon


def test_the_budget_cuts_what_runs(workbench: Workbench) -> None:
    with workbench.bench(Program(run="sleep 1000"), budget=0.5, slots=2) as bench:
        pairs = list(bench.measure(repeat(Wish((False,)))))
        assert bench.elapsed() >= 0.5
        assert not bench.stopped()
    assert [pair.cut for pair in pairs] == [True, True]


def test_a_stop_cuts_what_runs_and_ends(workbench: Workbench) -> None:
    def wishes() -> Iterator[Wish]:
        yield Wish((False,))
        workbench.stop.set()
        yield Wish((True,))

    with workbench.bench(Program(run="sleep 1000"), slots=2) as bench:
        pairs = list(bench.measure(wishes()))
        assert bench.stopped()
    assert [pair.cut for pair in pairs] == [True, True]


def test_after_a_stop_nothing_is_asked_for(workbench: Workbench) -> None:
    workbench.stop.set()
    with workbench.bench(Program(run="true")) as bench:
        assert list(bench.measure(repeat(Wish((False,))))) == []
        assert bench.elapsed() == 0.0


def test_a_flow_that_loses_interest_leaves_nothing_running(workbench: Workbench) -> None:
    pids = workbench.output("pids")
    workbench.program(f'#!/bin/sh\n[ "$1" = --fast ] && exit 0\necho $$ >> {pids}; exec sleep 1000\n')
    with workbench.bench(Program(run="./program {options}"), slots=2) as bench:
        measured = bench.measure(iter([Wish((False,)), Wish((True,))]))
        assert next(measured).wish.configuration == (True,)
        assert soon(lambda: pids.read_text() != "")
        measured.close()  # type: ignore[attr-defined]
        assert not any(alive(int(pid)) for pid in pids.read_text().split())
        # the workers are as good as new
        (pair,) = bench.measure(iter([Wish((True,))]))
        assert pair.ok


def test_wishes_are_pulled_only_when_a_slot_is_free(workbench: Workbench) -> None:
    pulled, done = 0, 0

    def wishes() -> Iterator[Wish]:
        nonlocal pulled
        for _ in range(6):
            assert pulled - done < 2
            pulled += 1
            yield Wish((False,))

    with workbench.bench(Program(run="true"), slots=2) as bench:
        for pair in bench.measure(wishes()):
            assert pair.ok
            done += 1
    assert done == 6


def test_nothing_now_means_ask_again_when_a_pair_ended(workbench: Workbench) -> None:
    ended: list[Pair] = []

    def wishes() -> Iterator[Wish | None]:
        yield Wish((False,))
        while not ended:
            yield None
        yield Wish((True,))
        yield None

    with workbench.bench(Program(run="true"), slots=2) as bench:
        for pair in bench.measure(wishes()):
            ended += [pair]
    assert [pair.wish.configuration for pair in ended] == [(False,), (True,)]


def test_a_wall_pair_runs_alone(workbench: Workbench) -> None:
    running, seen = workbench.output("running"), workbench.output("seen")
    alone = f"flock --nonblock {running} sh -c 'echo 1 >> {seen}; sleep 0.1' || echo 2 >> {seen}"
    workbench.program(f"#!/bin/sh\n{alone}\n")
    with workbench.bench(Program(run="./program"), slots=3) as bench:
        list(bench.measure(repeat(Wish((False,), track="wall"), 4)))
    assert set(seen.read_text().split()) == {"1"}


def test_a_dead_worker_costs_its_pair_only(workbench: Workbench) -> None:
    worker = workbench.output("worker")
    workbench.program(f"#!/bin/sh\n[ $# = 1 ] && exit 0\necho $PPID > {worker}; exec sleep 1000\n")

    def wishes() -> Iterator[Wish]:
        yield Wish((False,))
        assert soon(lambda: worker.read_text().endswith("\n"))
        os.kill(int(worker.read_text()), signal.SIGKILL)
        yield from repeat(Wish((True,)), 3)

    with workbench.bench(Program(run="./program {options}"), slots=2) as bench:
        pairs = list(bench.measure(wishes()))
    assert sum(pair.ok for pair in pairs) == 3
    assert [pair.first.detail for pair in pairs if not pair.ok] == ["the worker process died"]


def test_the_machine_is_described(workbench: Workbench) -> None:
    with workbench.bench(Program(run="true")) as bench:
        list(bench.measure(iter([Wish((False,))])))
        environment = bench.environment()
    assert environment.cores >= 1
    assert environment.kernel
    assert environment.load is not None


def test_a_worker_that_does_not_answer_is_replaced_when_the_time_is_over(workbench: Workbench) -> None:
    worker = workbench.output("worker")
    workbench.program(f"#!/bin/sh\necho $PPID > {worker}; kill -STOP $PPID; exec sleep 1000\n")

    def wishes() -> Iterator[Wish]:
        yield Wish((False,))
        assert soon(lambda: worker.read_text().endswith("\n"))
        os.kill(int(worker.read_text()), signal.SIGSTOP)
        yield Wish((True,))

    with workbench.bench(Program(run="./program"), slots=2, budget=0.3) as bench:
        pairs = list(bench.measure(wishes()))
    assert [pair.cut for pair in pairs] == [True] * len(pairs)
    assert gone([int(worker.read_text())], seconds=0)
