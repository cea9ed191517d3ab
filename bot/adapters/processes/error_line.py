"""The line of a program's output that tells best why it failed."""

from __future__ import annotations

import re
from itertools import pairwise

SEARCHED, KEPT = 8_000, 400
"""Last bytes of the output that are looked through, and characters that are told."""

_ERROR = re.compile(
    r"""^\s*(?:[^\w\s]+\s+)?(?:Uncaught\s|Exception\ in\ thread\ \S+\s|Caused\ by:\s)?   # a cross before it
        (?: [\w.$]*(?:Error|Exception)\b(?::|\s*\[|$)   # Python, JavaScript, the JVM
          | (?:fatal|error|panic|FATAL|ERROR)(?:\ error)?:   # most of what is compiled
          | \[(?:error|ERROR|fatal|FATAL)\]             # bundlers, formatters, loggers
          | thread\ '.*'\ .*panicked\ at                # Rust
          | \S+:\d+(?::\d+)?:\s+(?:fatal\ )?(?:error:|ERROR\b)   # compilers: where, then what
          | [\w./+-]+:\s+(?:fatal\ )?error:\s )          # who, then what
    """,
    re.VERBOSE,
)
_GLUED = re.compile(r"(?:\b(?:fatal|error|panic)|(?:Error|ERROR|FATAL))(?:\ error)?:\ (?=\S)")
"""An error behind output that did not end its line; capitals may follow anything."""
_AMID = re.compile(r"[\w./+-]+: (?:fatal )?error: (?=\S).*")
"""An error that a program wrote at once, amid output that it had kept back."""

_OURS = re.compile(r"(?:/[^\s/:'\"]+)*/suspects-run-\w+/(?:suspects-\w+/)?")
"""The folder of a run: it is another one each time, and tells a reader nothing."""
ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
"""What steers a terminal: colours, the cursor, titles."""

VALGRIND = re.compile(r"^==\d+==.*\n?", re.MULTILINE)
"""What Valgrind says around a program that runs under it."""


def error_line(output: bytes | bytearray) -> str:
    """The last line that names an error, of some in a row the first, whatever follows; else the end.

    A line that only says where is told with the next one; of a long line that did not end before the error,
    only that.
    """
    text = ESCAPE.sub("", output[-SEARCHED:].decode(errors="replace"))
    text = VALGRIND.sub("", text).strip() or text  # where it failed itself, that is all there is
    text = _OURS.sub("", text).strip()
    lines = ["", *text.splitlines()]
    named = [
        place
        for place, (above, line) in enumerate(pairwise(lines), 1)
        if _ERROR.match(line) and not _ERROR.match(above)
    ]
    if not named:
        amid = _AMID.findall(text)
        return _behind(lines[-1]) or (amid[-1][:KEPT].strip() if amid else text[-KEPT:].strip())
    told, following = lines[named[-1]].strip(), lines[named[-1] + 1 : named[-1] + 2]
    return " ".join([told, *(line.strip() for line in following if told.endswith(":"))])[:KEPT].strip()


def _behind(line: str) -> str:
    """The error at the end of a line that is too long to be told; "": there is none."""
    end = line[-KEPT:] if len(line) > KEPT else ""
    places = [match.start() for match in _GLUED.finditer(end)]
    return end[places[-1] :].strip() if places else ""
