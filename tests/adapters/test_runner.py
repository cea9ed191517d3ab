"""What the runner reads of us: outputs, summary, annotations; and what it must not obey."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from bot.adapters.runner import Runner, Severity


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


def parsed(text: str) -> dict[str, str]:
    """GITHUB_OUTPUT as the runner reads it."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, delimiter = line.split("<<", 1)
        found[name] = "\n".join(iter(lambda delimiter=delimiter: next(lines), delimiter))  # type: ignore[misc]
    return found


def test_outputs_survive_any_value(log: io.StringIO, tmp_path: Path) -> None:
    file = tmp_path / "output"
    runner = Runner(log, output=file)
    runner.output("verdict", "regression")
    runner.output("report", "a=b\nverdict<<EOF\nnone\nEOF")
    assert parsed(file.read_text("utf-8")) == {
        "verdict": "regression",
        "report": "a=b\nverdict<<EOF\nnone\nEOF",
    }


def test_no_two_delimiters_are_alike(log: io.StringIO, tmp_path: Path) -> None:
    runner = Runner(log, output=tmp_path / "output")
    for _ in range(3):
        runner.output("x", "y")
    assert len(set(re.findall(r"<<(\S+)", (tmp_path / "output").read_text("utf-8")))) == 3


def test_without_files_there_is_only_the_log(log: io.StringIO) -> None:
    runner = Runner(log)
    runner.output("x", "y")
    runner.summary("words")
    runner.annotate("notice", "hello")
    assert log.getvalue() == "::notice::hello\n"


def test_an_annotation_cannot_be_left(log: io.StringIO) -> None:
    Runner(log).annotate("error", "50%\n::set-env name=X::y", title="a,b:c", file="x.py", line=3)
    assert log.getvalue() == "::error title=a%2Cb%3Ac,file=x.py,line=3::50%25%0A::set-env name=X::y\n"


@pytest.mark.parametrize("severity", ["notice", "warning", "error"])
def test_the_eleventh_annotation_is_a_line_that_is_not_obeyed(log: io.StringIO, severity: Severity) -> None:
    runner = Runner(log)
    for number in range(11):
        runner.annotate(severity, f"n{number}\n::error::forged")
    lines = log.getvalue().splitlines()
    assert sum(line.startswith(f"::{severity}::n") for line in lines) == 10
    start = next(i for i, line in enumerate(lines) if line.startswith("::stop-commands::"))
    token = lines[start].removeprefix("::stop-commands::")
    assert lines[start + 1 :] == [f"{severity}: suspects: n10", "::error::forged", f"::{token}::"]


def test_words_of_others_are_quoted_even_when_they_end_badly(log: io.StringIO) -> None:
    runner = Runner(log)
    with pytest.raises(ValueError, match="x"), runner.quoted():
        log.write("::error::forged\n")
        raise ValueError("x")
    first, words, last = log.getvalue().splitlines()
    assert (words, last) == ("::error::forged", f"::{first.removeprefix('::stop-commands::')}::")


def test_the_summary_is_appended(log: io.StringIO, tmp_path: Path) -> None:
    file = tmp_path / "summary"
    runner = Runner(log, summary=file)
    runner.summary("# One\n")
    runner.summary("# Two\n\n")
    assert file.read_text("utf-8") == "# One\n# Two\n"


def test_a_summary_beyond_a_mebibyte_is_cut_at_a_line_and_says_so(log: io.StringIO, tmp_path: Path) -> None:
    file = tmp_path / "summary"
    runner = Runner(log, summary=file)
    runner.summary("before\n")
    runner.summary("é line of a table\n" * 80_000)
    content = file.read_bytes()
    assert 2**20 - 200 < len(content) <= 2**20
    text = content.decode()
    assert "The rest was cut" in text
    assert set(text.splitlines()[1:-2]) == {"é line of a table"}
    runner.summary("too late " * 100)
    assert file.read_bytes() == content
