"""What is said of a recorded trial that did not end well."""

from __future__ import annotations

from bot.adapters.processes.process import Ended
from bot.adapters.profilers.jvm.recording import notes_of_trial
from bot.adapters.profilers.launching import Launched
from bot.model.trials import Outcome

NONE_LEFT = "No JVM left a recording."


def launched(outcome: Outcome, code: int | None) -> Launched:
    return Launched(ended=Ended(outcome, code, 3.0, ""), cpu=1.0, outcome=outcome)


def test_of_a_trial_that_we_stopped_nothing_else_is_said_to_be_missing() -> None:
    assert notes_of_trial(launched("cut", None), [NONE_LEFT], 1) == [
        "The profiled trial was stopped with the run."
    ]


def test_of_other_trials_the_end_what_is_missing_and_how_many_jvms_left_nothing_are_said() -> None:
    assert notes_of_trial(launched("exit", 3), [NONE_LEFT], 1) == [
        "The profiled trial ended with exit code 3.",
        NONE_LEFT,
        "1 JVM ended without a recording (killed, or halted).",
    ]
    assert notes_of_trial(launched("ok", 0), [], 2) == [
        "2 JVMs ended without a recording (killed, or halted)."
    ]
