"""A crash is told from a linter's findings although both end with the same exit code."""

from __future__ import annotations

import pytest

from bot.adapters.processes.uncaught import SEARCHED, uncaught

PYTHON = b"""Traceback (most recent call last):
  File "/usr/lib/python3.11/lint.py", line 3, in <module>
    main()
    ^^^^^^
  File "/usr/lib/python3.11/lint.py", line 2, in main
    raise ValueError("unknown code")
ValueError: unknown code
"""
CHAINED = PYTHON + b"\nDuring handling of the above exception, another exception occurred:\n\n" + PYTHON
NODE = b"""/checkout/lint.js:1
throw new Error('x')
^

Error: x
    at Object.<anonymous> (/checkout/lint.js:1:7)

Node.js v20.20.2
"""
JAVA = b"""Exception in thread "main" org.example.SqlException: General error; SQL statement:
SELECT 1 [50000-214]
\tat org.example.Main.main(Main.java:5)
Caused by: java.lang.IllegalStateException
\t... 1 more
"""
GO = b"""panic: no such rule

goroutine 1 [running]:
main.main()
\t/checkout/main.go:4 +0x1d
"""
RUST = b"""thread 'main' panicked at src/main.rs:2:5:
index out of bounds
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
FINDINGS = b"lint.py:1:1: E501 line too long\n" * 9
UNITTEST = (
    b"F\n======\nFAIL: test_x\n------\n" + PYTHON + b"\n------\nRan 1 test in 0.000s\n\nFAILED (failures=1)\n"
)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (PYTHON, 1),
        (FINDINGS + PYTHON, 1),
        (FINDINGS + CHAINED, 1),
        (PYTHON.replace(b"ValueError", b"\x1b[1;35mValueError\x1b[0m"), 1),
        (FINDINGS + NODE, 1),
        (FINDINGS + JAVA, 1),
        (FINDINGS + GO, 2),
        (FINDINGS + RUST, 101),
        (FINDINGS + PYTHON + b"==12== Collected : 123\n==12== \n", 1),
        (FINDINGS * SEARCHED + PYTHON, 1),
    ],
)
def test_a_runtimes_own_report_at_the_end_is_a_crash(output: bytes, code: int) -> None:
    assert uncaught(output, code)


def test_what_python_kept_back_follows_its_report() -> None:
    assert uncaught(PYTHON + FINDINGS, 1)


@pytest.mark.parametrize("output", [b"", FINDINGS, UNITTEST, FINDINGS + PYTHON + FINDINGS, FINDINGS + GO])
def test_reports_that_a_program_prints_of_others_are_its_findings(output: bytes) -> None:
    assert not uncaught(output, 1)


@pytest.mark.parametrize("output", [PYTHON, NODE, JAVA, GO, RUST])
def test_another_exit_code_than_the_runtimes_own_means_what_the_program_says(output: bytes) -> None:
    assert not uncaught(output, 3)


def test_words_that_only_begin_like_a_report_are_none() -> None:
    assert not uncaught(b"Traceback (most recent call last): see the manual\nE501: line too long\n", 1)
