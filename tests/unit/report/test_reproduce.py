"""Commands that people copy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.model.invocation import invocation
from bot.model.report import ConfigurationChange
from bot.model.revisions import Comparison, Revision
from bot.model.subject import Subject
from bot.report.reproduce import as_typed, repeated, reproduction
from tests.unit.report.builders import report


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


def test_the_commands_make_the_configuration_files_as_trials_have_them(tmp_path: Path) -> None:
    subject = Subject.model_validate(
        {
            "program": {"run": "cat conf/a.cfg"},
            "options": {
                "fast": {"flag": ""},
                "style": {"choice": {"a": "", "b": ""}},
            },
            "files": {"conf/a.cfg": "bench/a cfg.j2"},
        }
    )
    work, base, head = (tmp_path / name for name in ("work", "suspects-base", "suspects-head"))
    for folder in (work, base / "bench", head / "bench"):
        folder.mkdir(parents=True)
    (base / "bench" / "a cfg.j2").write_text("style={{ style }} {% if fast %}fast{% endif %}'\n\n")
    (head / "bench" / "a cfg.j2").write_text("another template, which no trial uses")
    comparison = Comparison(Revision("a" * 40, "main"), Revision("b" * 40, "topic"))
    said = reproduction(subject, comparison, (True, "b")).commands
    made = "\n".join(line for line in said if not line.startswith("git "))
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    subprocess.run(["bash", "-ec", made], cwd=work, env={"PATH": path}, check=True, capture_output=True)
    for side in (base, head):
        assert (side / "conf" / "a.cfg").read_text() == "style=b fast'\n\n"


@pytest.mark.parametrize(
    ("inputs", "sides"), [("", ["base"]), ("b" * 40, ["base"]), ("c" * 40, ["base", "head"])]
)
def test_the_sides_that_are_not_where_the_inputs_come_from_get_them(inputs: str, sides: list[str]) -> None:
    subject = Subject.model_validate(
        {"program": {"run": "./p"}, "options": {"a": {"flag": "-a"}}, "overlay": ["bench"]}
    )
    base, head = Revision("a" * 40, "v1"), Revision("b" * 40, "v2")
    said = reproduction(
        subject, Comparison(base, head, inputs=inputs, laid=("bench", "a b")), (True,)
    ).commands
    source = inputs or head.id
    assert [x for x in said if " checkout " in x] == [
        f"(cd ../suspects-{side} && git checkout {source} -- bench 'a b')" for side in sides
    ]


def test_what_head_breaks_comes_before_what_moved() -> None:
    space = Subject.model_validate(
        {"program": {"run": "./p {options}"}, "options": {"a": {"flag": "-a"}, "b": {"flag": "-b"}}}
    ).space
    moved, broken = ({"a": on, "b": on} for on in (False, True))
    changes = [
        ConfigurationChange(
            options=moved, metric="cpu", ratio=1.1, interval=(1.0, 1.2), pairs=4, state="slower"
        ),
        ConfigurationChange(
            options=broken,
            metric="cpu",
            ratio=None,
            interval=None,
            pairs=0,
            failed_pairs=4,
            failed_sides=("head",),
            state="failed",
        ),
    ]
    found = report(verdict="regression", configurations=tuple(changes))
    assert repeated(found, space) == [(True, True), (False, False)]
