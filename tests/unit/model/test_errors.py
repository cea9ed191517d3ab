"""What is wrong and how to mend it are told as sentences."""

from __future__ import annotations

import pytest

from bot.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "remedies", "told"),
    [
        ("a.yml is in neither", ("Run it.",), "a.yml is in neither. Run it."),
        ("There is no a.yml.", ("Name one.",), "There is no a.yml. Name one."),
        ("what now?", ("This.", "Or that."), "what now? This. Or that."),
        ("a clear line", (), "a clear line"),
    ],
)
def test_a_remedy_is_a_sentence_after_the_errors_own(text: str, remedies: tuple[str, ...], told: str) -> None:
    error = UsageError(text)
    for remedy in remedies:
        error.add_note(remedy)
    assert error.told == told
