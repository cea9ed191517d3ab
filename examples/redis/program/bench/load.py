"""Asks a running Redis for seconds on end, the same way each time: load.py PORT SECONDS."""

import random
import socket
import sys
import time

SCRIPT = "return #redis.call('LRANGE', KEYS[1], 0, 2000)"


class Client:
    """Speaks the protocol over one connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._answers = self._socket.makefile("rb")

    def ask(self, *words: str) -> None:
        """One command, and its answer."""
        parts = [b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words]
        self._socket.sendall(b"*%d\r\n" % len(words) + b"".join(parts))
        self._skip()

    def _skip(self) -> None:
        line = self._answers.readline()
        if line[:1] == b"*":
            for _ in range(int(line[1:])):
                self._skip()
        elif line[:1] == b"$" and int(line[1:]) >= 0:
            self._answers.read(int(line[1:]) + 2)


def main(port: int, seconds: float) -> None:
    """Long lists for scripts, short ones for everybody else; some of it in transactions."""
    drawn, client = random.Random(2), Client(port)
    client.ask("FLUSHALL")
    for i in range(3000):
        client.ask("RPUSH", "long", f"value-{i}")
    for _ in range(300):
        client.ask("RPUSH", "short", str(drawn.randrange(10**6)))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        kind = drawn.random()
        if kind < 0.4:
            client.ask("LRANGE", "short", "0", "200")
        elif kind < 0.7:
            client.ask("EVAL", SCRIPT, "1", "long")
        elif kind < 0.85:
            client.ask("SORT", "short")
        else:
            for words in (("MULTI",), ("LRANGE", "short", "0", "200"), ("SORT", "short"), ("EXEC",)):
                client.ask(*words)


main(int(sys.argv[1]), float(sys.argv[2]))
