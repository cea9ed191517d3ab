"""The line of a program's output that tells best why it failed."""

from __future__ import annotations

import re
from itertools import pairwise

SEARCHED, KEPT = 8_000, 400
"""Last bytes of the output that are looked through, and characters that are told."""

_ERROR = re.compile(
    r"""^\s*(?:[^\w\s]+\s+)?(?:Uncaught\s|Exception\ in\ thread\ \S+\s)?   # a cross or a bang before it
        (?: [\w.$]*(?:Error|Exception)\b(?::|\s*\[|$)   # Python, JavaScript, the JVM
          | (?:fatal|error|panic)(?:\ error)?:          # most of what is compiled
          | \[(?:error|ERROR|fatal|FATAL)\]             # bundlers, formatters, loggers
          | thread\ '.*'\ .*panicked\ at                # Rust
          | \S+:\d+(?::\d+)?:\s+(?:fatal\ )?(?:error:|ERROR\b) )  # compilers: where, then what
    """,
    re.VERBOSE,
)

_OURS = re.compile(r"(?:/[^\s/:'\"]+)*/suspects-run-\w+/(?:suspects-\w+/)?")
"""The folder of a run: it is another one each time, and tells a reader nothing."""
ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
"""What steers a terminal: colours, the cursor, titles."""


def error_line(output: bytes | bytearray) -> str:
    """The last line that names an error, of some in a row the first, whatever follows; else the end."""
    text = ESCAPE.sub("", output[-SEARCHED:].decode(errors="replace"))
    text = _OURS.sub("", text).strip()
    lines = ["", *text.splitlines()]
    named = [
        line.strip() for above, line in pairwise(lines) if _ERROR.match(line) and not _ERROR.match(above)
    ]
    return named[-1][:KEPT] if named else text[-KEPT:].strip()
