"""Trials of servers: started, asked, put under load, measured apart from their clients, and stopped."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bot.model.subject import Metric, Program
from bot.model.trials import Trial, Wish
from tests.adapters.workbench import Workbench, root_only

SERVER = """\
#!/usr/bin/python3 -IS
import os, socket, sys
port, turns = int(sys.argv[1]), int(sys.argv[2])
if "--daemon" in sys.argv and os.fork():
    sys.exit(0)
if "--daemon" in sys.argv:
    os.setsid()
server = socket.socket()
server.bind(("127.0.0.1", port))
server.listen()
while True:
    caller, _ = server.accept()
    if caller.recv(1):
        for i in range(turns * 100000):
            pass
        caller.send(b"done")
    caller.close()
"""
CLIENT = """\
#!/usr/bin/python3 -IS
import socket, sys
for i in range(int(sys.argv[2]) * 100000):
    pass
for _ in range(3):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
        server.send(b"x")
        assert server.recv(10) == b"done"
print("rate=42")
"""


@pytest.fixture
def served(workbench: Workbench) -> Workbench:
    workbench.program(SERVER, name="server")
    workbench.program(CLIENT, name="client")
    return workbench


def one(
    bench: Workbench,
    *,
    turns: int = 3,
    client: int = 0,
    metrics: tuple[Metric, ...] = (),
    wish: Wish | None = None,
    **more: str,
) -> Trial:
    server = {"start": f"exec ./server {{port}} {turns}", **more}
    run = f"./client {{port}} {client}"
    return bench.pair(run, server=server, metrics=metrics, wish=wish).first


def test_the_server_is_measured_and_not_its_client(served: Workbench) -> None:
    light, heavy = one(served), one(served, client=60)
    busy = one(served, turns=30)
    assert light.ok and heavy.ok and busy.ok, (light, heavy, busy)
    assert heavy.metrics["cpu"] < busy.metrics["cpu"] > 3 * light.metrics["cpu"]
    assert light.metrics["max_rss"] > 1e6 and light.metrics["minor_faults"] > 0


def test_the_client_is_measured_where_that_is_asked_for(served: Workbench) -> None:
    light, busy = one(served, measure="client"), one(served, turns=60, measure="client")
    heavy = one(served, client=60, measure="client")
    assert heavy.metrics["cpu"] > 3 * light.metrics["cpu"]
    assert busy.metrics["cpu"] < heavy.metrics["cpu"]


def test_wall_time_is_the_clients(served: Workbench) -> None:
    slow_start = "sleep 2; exec ./server {port} 1"
    found = one(served, start=slow_start, wish=Wish((False,), track="wall"))
    assert found.ok and found.metrics["wall"] < 1.5


def test_what_the_client_prints_is_read_and_what_the_server_prints_is_not(served: Workbench) -> None:
    rate = Metric(name="rate", regex=r"rate=(\d+)", better="higher")
    found = one(served, metrics=(Metric(name="cpu"), rate), start="echo rate=7; exec ./server {port} 1")
    assert found.metrics["rate"] == 42.0


def test_a_server_that_goes_into_the_background_is_found_measured_and_stopped(served: Workbench) -> None:
    background = one(served, turns=30, start="./server {port} 30 --daemon")
    plain = one(served, turns=30)
    assert background.ok and background.metrics["cpu"] > plain.metrics["cpu"] / 2
    assert "left" not in background.detail


def test_a_server_is_asked_with_ready_until_it_says_yes(served: Workbench) -> None:
    asked = one(served, ready="test -e $HOME/asked || { touch $HOME/asked; exit 1; }; ./client {port} 0")
    assert asked.ok, asked


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (
            "echo no such luck >&2; exit 3",
            "the server ended with exit code 3 before it was ready: no such luck",
        ),
        ("kill -9 $$", "the server ended with signal 9 before it was ready"),
        ("true", "the server ended with exit code 0 before it was ready"),
    ],
)
def test_a_server_that_does_not_come_up_is_an_outcome(served: Workbench, start: str, why: str) -> None:
    found = one(served, start=start)
    assert found.outcome == "exit" and why in found.detail


def test_a_server_that_is_never_ready_ends_with_the_time_limit(served: Workbench) -> None:
    pair = served.pair(
        "./client {port} 0", server={"start": "exec ./server {port} 1", "ready": "false"}, timeout=1.0
    )
    assert pair.first.outcome == "timeout"


def test_a_client_that_fails_is_the_trials_failure(served: Workbench) -> None:
    pair = served.pair("sh -c 'echo went wrong; exit 9' {port}", server={"start": "exec ./server {port} 1"})
    assert (pair.first.outcome, pair.first.exit_code) == ("exit", 9)


def test_two_sides_serve_at_the_same_time(served: Workbench) -> None:
    program = Program.model_validate(
        {"run": "./client {port} 0", "server": {"start": "exec ./server {port} 5"}}
    )
    with served.bench(program) as bench:
        pairs = list(bench.measure(iter([Wish((False,)), Wish((True,))])))
    assert all(pair.ok for pair in pairs), pairs


@root_only
def test_servers_reach_nobody_else(served: Workbench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ours:
        port = ours.getsockname()[1]
        reach = f"python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 5)\""
        found = served.pair(reach, server={"start": "exec ./server {port} 1"}).first
    assert found.outcome == "exit"


def test_without_a_namespace_one_port_is_left_and_nothing_else() -> None:
    script = """
import socket, sys
from bot.adapters.processes import loopback
with socket.create_server(("127.0.0.1", 0)) as other:
    mine = loopback.free_port()
    loopback.allow_only(mine)
    with socket.create_server(("127.0.0.1", mine)) as server:
        with socket.create_connection(("127.0.0.1", mine)):
            print("own port")
    for what in (
        lambda: socket.create_connection(other.getsockname()),
        lambda: socket.create_server(("127.0.0.1", 0)),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262),
        lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    ):
        try:
            what()
            print("open")
        except PermissionError:
            print("closed")
    socket.socketpair()
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split("\n")[:-1] == ["own port", *["closed"] * 5]
