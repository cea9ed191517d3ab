"""The Actions runner: outputs, step summary, annotations, and output of others that must not be obeyed."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

Severity: TypeAlias = Literal["notice", "warning", "error"]
_SUMMARY_LIMIT = 2**20  # bytes a step's summary may have; the runner drops the whole of a longer one
_ANNOTATIONS = 10  # of each severity and step; the runner drops the rest without a word
_CUT = "\n\n*The rest was cut: a step summary holds 1 MiB. The report file has everything.*\n"


class Runner:
    """Speaks the runner's file and log commands; without files it only writes to the log."""

    def __init__(self, log: TextIO, *, output: Path | None = None, summary: Path | None = None) -> None:
        """`log` is read by the runner (standard output); `output` and `summary` are its command files."""
        self._log = log
        self._output = output
        self._summary = summary
        self._given: Counter[Severity] = Counter()

    def say(self, words: str) -> None:
        """A line of the log, in our own words: the runner would obey others'."""
        self._write(words)

    def output(self, name: str, value: str) -> None:
        """Gives a value to later steps; the delimiter cannot be guessed, so no value can end it early."""
        if self._output is None:
            return
        delimiter = f"suspects-{secrets.token_hex(16)}"
        with self._output.open("a", encoding="utf-8") as file:
            file.write(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")

    def summary(self, markdown: str) -> None:
        """Appends to the step's summary; what does not fit is cut at a line, and said."""
        if self._summary is None:
            return
        used = self._summary.stat().st_size if self._summary.exists() else 0
        content = f"{markdown.rstrip()}\n".encode()
        room = _SUMMARY_LIMIT - used
        if len(content) > room:
            kept = content[: max(room - len(_CUT.encode()), 0)]
            content = (kept[: kept.rfind(b"\n")] if b"\n" in kept else b"") + _CUT.encode()
        if len(content) <= room:
            with self._summary.open("ab") as file:
                file.write(content)

    def annotate(
        self, severity: Severity, message: str, *, title: str = "", file: str = "", line: int | None = None
    ) -> None:
        """An annotation; from the eleventh of a severity on it is a plain line of the log."""
        self._given[severity] += 1
        if self._given[severity] > _ANNOTATIONS:
            with self.quoted():
                self._write(f"{severity}: {title or 'suspects'}: {message}")
            return
        properties = {"title": title, "file": file, "line": str(line) if line is not None else ""}
        given = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
        self._write(f"::{severity}{' ' if given else ''}{given}::{_data(message)}")

    @contextmanager
    def quoted(self) -> Iterator[None]:
        """While open, the runner obeys nothing that stands in the log: for words of user code."""
        token = secrets.token_hex(16)
        self._write(f"::stop-commands::{token}")
        try:
            yield
        finally:
            self._write(f"::{token}::")

    def _write(self, line: str) -> None:
        # The runner obeys a command only at the start of a line, whatever was written before.
        self._log.write(f"{line}\n")
        self._log.flush()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
