"""A pull request that slows a server down: its option is named, its client is not to blame."""

from __future__ import annotations

from tests.end_to_end.builders import CONFIG, Place, config

SERVER = """\
import socket, sys
port = int(sys.argv[1])
server = socket.create_server(("127.0.0.1", port))
while True:
    caller, _ = server.accept()
    with caller:
        for i in range(40000): pass
        if "--alpha" in sys.argv:
            for i in range(TURNS): pass
        caller.sendall(b"done")
"""
CLIENT = """\
import socket, sys
for _ in range(20):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
        assert server.recv(10) == b"done"
"""
PROGRAM = {
    "runtime": "python",
    "server": {"start": "exec python3 server.py {port} {options}"},
}
RUN = "python3 client.py {port}"


def test_the_option_that_slows_a_server_down_is_named(place: Place) -> None:
    files = {"client.py": CLIENT, CONFIG: config(RUN, program=PROGRAM, threshold="3%")}
    place.commit({**files, "server.py": SERVER.replace("TURNS", "20000")})
    place.commit({"server.py": SERVER.replace("TURNS", "60000")})
    ended = place.clear(lambda report: report["verdict"] == "regression", seconds=40)
    assert ended.report is not None and ended.report["verdict"] == "regression", ended.said
    assert ended.report["suspects"]["options"][0]["term"] == ["alpha"]
    assert "a server" in ended.notes  # whose methods are not looked into
    (first, *_) = ended.report["reproduce"]
    assert any("server.py" in command for command in first["commands"])


def test_a_server_that_does_not_start_is_said_and_is_not_green(place: Place) -> None:
    files = {"client.py": CLIENT, CONFIG: config(RUN, program=PROGRAM)}
    place.commit({**files, "server.py": "import sys; sys.exit('no configuration found')"})
    place.commit({"server.py": "import sys; sys.exit('nothing found either')"})
    ended = place.pr(budget="5s")
    assert ended.code == 3
    assert ended.report is not None
    failure = ended.report["configurations"][0]["failure"]
    assert "before it was ready: no configuration found" in failure, failure
