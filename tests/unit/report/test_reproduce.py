"""Commands that people copy."""

from __future__ import annotations

from bot.model.invocation import invocation
from bot.model.subject import Subject
from bot.report.reproduce import as_typed


def test_a_trial_is_shown_as_one_would_type_it() -> None:
    subject = Subject.model_validate(
        {
            "program": {"run": "./shell {options} {scratch}/db", "stdin": "main"},
            "workloads": {"main": {"path": "bench/a query.sql"}},
            "options": {"wal": {"flag": "-cmd 'PRAGMA journal_mode=wal'", "default": True}},
        }
    )
    typed = as_typed(subject, invocation(subject, (True,)))
    assert typed == "./shell -cmd 'PRAGMA journal_mode=wal' {scratch}/db < 'bench/a query.sql'"
