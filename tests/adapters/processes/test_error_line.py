"""Of what a failed program printed, the line is told that names the error."""

from __future__ import annotations

import pytest

from bot.adapters.processes.error_line import KEPT, error_line

NODE = b"""file:///checkout/src/utils.js:1
exprt async function replaceAsync(str, regex, asyncFn) {
      ^^^^^

SyntaxError: Unexpected token 'async'
    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)
    at #translate (node:internal/modules/esm/loader:497:12)

Node.js v20.20.2
"""
PYTHON = b"""Traceback (most recent call last):
  File "main.py", line 3, in <module>
    raise KeyError("a")
KeyError: 'a'
"""
JVM = b"""Exception in thread "main" java.lang.IllegalStateException: no parser
\tat org.example.Main.main(Main.java:5)
"""
WRAPPED = (
    b'Exception in thread "main" org.example.SqlException: General error: "Access denied"; SQL statement:\n'
    b"SELECT 1 [50000-214]\n"
    + b"\tat org.example.Deep.call(Deep.java:1)\n" * 300
    + b"Caused by: java.nio.file.AccessDeniedException: /tmp/x.db\n"
    + b"\tat java.base/sun.nio.fs.UnixException.translate(UnixException.java:90)\n" * 9
    + b"\t... 23 more\n"
)
RUST = b"""
thread 'main' (81) panicked at src/main.rs:2:5:
index out of bounds
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""

COMPILER = b"""/tmp/suspects-run-gk/suspects-cv/input-0/app.js:2:0: ERROR - [JSC_UNDEFINED] w is undeclared
  208| window['u'] = { mixed };
       ^^^^^^

1 error(s), 0 warning(s)
"""
JAVAC = b"""src/Main.java:5: error: cannot find symbol
    foo();
    ^
  symbol: method foo()
1 error
"""


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (NODE, "SyntaxError: Unexpected token 'async'"),
        (PYTHON, "KeyError: 'a'"),
        (JVM, 'Exception in thread "main" java.lang.IllegalStateException: no parser'),
        (WRAPPED, "Caused by: java.nio.file.AccessDeniedException: /tmp/x.db"),
        (RUST, "thread 'main' (81) panicked at src/main.rs:2:5: index out of bounds"),
        (COMPILER, "input-0/app.js:2:0: ERROR - [JSC_UNDEFINED] w is undeclared"),
        (
            b"\x1b[31mTypeError: x is undefined\x1b[39m\x1b[31m in a.less\x1b[39m\n2 .a { x }\n3 }\n",
            "TypeError: x is undefined in a.less",
        ),
        (JAVAC, "src/Main.java:5: error: cannot find symbol"),
        (
            b"\xe2\x9c\x98 [ERROR] No loader for a.x\n\n    a.js:1:7:\n      1 | x\n",
            "\u2718 [ERROR] No loader for a.x",
        ),
        (
            b"[error] a.js: Unexpected token (1:2)\n[error] > 1 | a b\n",
            "[error] a.js: Unexpected token (1:2)",
        ),
        (b"[!] Error: no entry\n    at x\n", "[!] Error: no entry"),
        (b"fatal: not a level: 12\nusage: ...\n", "fatal: not a level: 12"),
        (b"ERROR: cannot minify a.html: names\n<p>\n", "ERROR: cannot minify a.html: names"),
        (b"gperf: error: no switch\nTry --help.\n", "gperf: error: no switch"),
        (b"Error:\nno such level\n", "Error: no such level"),
    ],
)
def test_the_error_is_told_and_not_the_stack_below_it(output: bytes, told: str) -> None:
    assert error_line(output) == told


@pytest.mark.parametrize("error", ["ERROR: cannot minify a.html", "Error: no names", "fatal: no names"])
def test_an_error_behind_output_that_did_not_end_its_line_is_told_alone(error: str) -> None:
    page = b"<p>an error: none " + 100 * b"<b>words</b> " + (b">" if error[0].isupper() else b"> ")
    assert error_line(page + error.encode() + b"\n") == error
    assert len(error_line(page)) > 300


def test_an_error_amid_output_that_the_program_had_kept_back_is_told_alone() -> None:
    output = b"  case 4:\n    hval += values[(unsigperf: error: no switch\nned char)text[0]];\n  break;\n}\n"
    assert error_line(output) == "unsigperf: error: no switch"


def test_without_a_line_that_names_an_error_the_end_is_told() -> None:
    assert error_line(b"x" * 1000 + b" went wrong\n") == ("x" * 1000 + " went wrong")[-KEPT:]
    assert error_line(b"") == ""


def test_what_valgrind_says_around_a_program_is_not_its_error() -> None:
    banner = b"==71== Callgrind, a call-graph profiler\n==71== Command: ./md --math\n==71== \n"
    counts = b"==71== \n==71== Events    : Ir\n==71== Collected : 148222\n"
    assert error_line(banner + b"Unknown option '--math'.\n" + counts) == "Unknown option '--math'."
    assert error_line(banner) == banner.decode().strip()


def test_the_folder_of_a_run_is_not_told() -> None:
    output = b"cannot read '/var/tmp/suspects-run-a1_b2/checkout/in.txt' or /tmp/suspects-run-x/suspects-y/b"
    assert error_line(output) == "cannot read 'checkout/in.txt' or b"
