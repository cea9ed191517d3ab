"""Progress and comments on terminals and in logs."""

import io
import re

import pytest

from bot.adapters.terminal import LINE_EVERY, QuietProgress, TerminalProgress, show_comment
from bot.flows.ports import Progress
from bot.model.report import Spent
from bot.report.render import comment
from tests.unit.report.method_reports import of_strangers

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_both_kinds_of_progress_fit_the_port() -> None:
    for progress in (QuietProgress(), TerminalProgress(io.StringIO())):
        fitting: Progress = progress
        fitting.stage("building")
        fitting.pairs(1, 2.0, 3.0, "")
        fitting.trials(Spent(trials=1, seconds=2.0), 3.0, "")


def test_a_log_gets_a_line_per_stage_and_one_every_ten_seconds() -> None:
    log, clock = io.StringIO(), Clock()
    progress = TerminalProgress(log, clock=clock)
    progress.stage("building base and head")
    for second in range(1, 31):
        clock.now = float(second)
        progress.pairs(second, second, 60.0, "reduce_vars" if second > 15 else "")
    assert LINE_EVERY == 10.0
    assert log.getvalue().splitlines() == [
        "suspects: building base and head",
        "suspects: measuring: 10 pairs, 0:50 left",
        "suspects: measuring: 20 pairs, 0:40 left, leading: reduce_vars",
        "suspects: measuring: 30 pairs, 0:30 left, leading: reduce_vars",
    ]


def test_a_range_counts_trials_and_needs_no_limit_of_seconds() -> None:
    for make in (io.StringIO, Terminal):
        stream, clock = make(), Clock()
        with TerminalProgress(stream, clock=clock) as progress:
            progress.stage("measuring 200 revisions")
            clock.now = 10.0
            progress.trials(Spent(trials=1, seconds=8.0), 60.0, "")
            clock.now = 20.0
            spent = Spent(trials=320, seconds=16.0)
            progress.trials(spent, float("inf"), "2 change points: mangle, passes=3")
    assert "measuring: 1 trial, 0:52 left" in stream.getvalue() or make is Terminal
    assert "320 trials, 2 change points: mangle, passes=3" in stream.getvalue()


def test_a_strangers_name_controls_no_terminal_and_no_log() -> None:
    log, screen = io.StringIO(), Terminal()
    for stream in (log, screen):
        with TerminalProgress(stream, clock=Clock()) as progress:
            progress.pairs(1, 1.0, 60.0, "a\x1b[45m[bold]b\u202e" + "n" * 10_000)
            progress.stage("building \x1b]0;owned\x07\n::error::x")
    lines = log.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("suspects: measuring: 1 pair, 0:59 left, leading: a [45m[bold]b nnn")
    assert lines[1] == "suspects: building ]0;owned ::error::x"
    assert "\x1b[45m" not in screen.getvalue() and "\x1b]0;" not in screen.getvalue()


def test_a_forced_colour_in_a_log_draws_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    log = io.StringIO()
    with TerminalProgress(log) as progress:
        progress.stage("measuring")
        progress.pairs(3, 1.0, 60.0, "")
    assert not CONTROL.search(log.getvalue())


def test_a_terminal_shows_stage_pairs_time_left_and_leader() -> None:
    screen = Terminal()
    with TerminalProgress(screen) as progress:
        progress.stage("building base and head")
        progress.pairs(17, 30.0, 90.0, "reduce_vars [bold]")
    shown = screen.getvalue()
    assert "building base and head" in shown
    assert "17 pairs, 1:00 left, leading: reduce_vars [bold]" in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor comes back"


def test_closing_twice_is_harmless() -> None:
    progress = TerminalProgress(Terminal())
    progress.stage("measuring")
    progress.close()
    progress.close()


COMMENT = """<!-- suspects:1 -->
### 🔴 Slower with `a`: +34 % CPU time

Look at @&#8203;mona and <span>$</span>x.

<details><summary>Configurations: 5 slower</summary>

| Configuration | Change |
|---|---:|
| `a` on | +34 % |

```sh
echo "<details><summary>not ours</summary>"
```

</details>

<sub>base `1` to head `2`</sub>
"""


def test_a_pipe_gets_the_comment_as_it_is() -> None:
    pipe = io.StringIO()
    show_comment(COMMENT, pipe)
    assert pipe.getvalue() == COMMENT


def test_a_terminal_gets_the_comment_rendered_and_folded_as_github_folds_it() -> None:
    screen = Terminal()
    show_comment(COMMENT, screen)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
    assert "Slower with a: +34 % CPU time" in shown
    assert "Configurations: 5 slower" in shown
    assert "Look at @mona and $x." in shown
    assert "not ours" not in shown
    assert "suspects:1" not in shown and "</details>" not in shown.replace("<details>", "")
    assert "\nbase 1 to head 2" in shown  # below the list of folded titles, not in it


def test_a_stream_that_cannot_write_a_letter_gets_a_question_mark() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    show_comment("🔴 Slower", stream)
    assert raw.getvalue() == b"? Slower\n"


def test_methods_of_strangers_control_no_terminal() -> None:
    name = "std::map<a, `b|c`>\x1b[2J\x1b]8;;http://evil.example\x07here\x1b]8;;\x07 \u202e[x](http://evil.example)"
    stream = Terminal()
    show_comment(comment(of_strangers(name)), stream)
    shown = stream.getvalue()
    assert set(re.findall(r"\x1b[^a-zA-Z]*(.)", shown)) == {"m"}  # nothing but colours
    assert "\u202e" not in shown and "std::map<a" in shown
