"""Whether a program's output shows that an error which nobody caught ended it."""

# Part of the worker (duet.py): few imports.

from __future__ import annotations

import re
from itertools import takewhile

from bot.adapters.processes.error_line import ESCAPE, VALGRIND

SEARCHED = 1 << 16
"""First and last bytes of the output that are looked through: traces of the JVM are long."""

_PYTHON = "Traceback (most recent call last):"
_PYTHON_ERROR = re.compile(r"[A-Za-z_][\w.]*(?::.*)?$")
_JAVA = re.compile(r'^Exception in thread "main" [\w.$]+', re.MULTILINE)
_JAVA_END = re.compile(r"\s+(?:at .*|\.\.\. \d+ more)$")
_NODE_END = re.compile(r"Node\.js v\d+\.\S+$")
_GO = re.compile(r"^(?:panic|fatal error): .*\n(?:.*\n)*?\ngoroutine \d+ \[", re.MULTILINE)
_GO_END = re.compile(r"\t\S+:\d+(?: \+0x[0-9a-f]+)?$")
_RUST = re.compile(r"^thread '.*' .*panicked at ", re.MULTILINE)


def uncaught(output: bytes | bytearray, code: int) -> bool:
    """Whether a runtime's own report of such an error ends the output, with that runtime's code.

    Linters end with 1 when they found something, and so do Python, Node and Java when it crashes. What a
    program prints of others' errors (a runner of tests, a search in logs) has something behind it. Only
    Python's may be the beginning as well: what was printed before and kept back follows it.
    """
    start, end = _text(output[:SEARCHED]), _text(output[-SEARCHED:])
    last = end[end.rfind("\n") + 1 :]
    if code == 1:
        node = _NODE_END.match(last) is not None
        java = _JAVA_END.match(last) is not None and _JAVA.search(end) is not None
        return node or java or _python(start, end)
    if code == 2:
        return _GO_END.match(last) is not None and _GO.search(end) is not None
    return code == 101 and _RUST.search(end) is not None


def _text(some: bytes | bytearray) -> str:
    text = ESCAPE.sub("", some.decode(errors="replace"))
    return VALGRIND.sub("", text).strip("\r\n ")


def _python(start: str, end: str) -> bool:
    if start.startswith(_PYTHON) and _behind_frames(start):
        return True
    place = end.rfind("\n" + _PYTHON)
    return place >= 0 and len(_behind_frames(end[place + 1 :])) == 1


def _behind_frames(trace: str) -> list[str]:
    """The lines of a trace from its error on; none: it is no trace."""
    lines = trace.splitlines()[1:]
    frames = len(list(takewhile(lambda line: line[:1] in " \t", lines)))
    behind = lines[frames:]
    return behind if frames and behind and _PYTHON_ERROR.match(behind[0]) else []
