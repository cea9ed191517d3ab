"""The committed JSON Schemas are those of the models, and accept what people write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from bot.adapters.documents.subject_file import read_subject
from bot.adapters.documents.yaml_document import parse
from bot.model.errors import UsageError
from bot.model.report import Report
from bot.model.schemas import rendered, schemas, write
from tests.adapters.subject_examples import FULL, OFFLINE

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", sorted(rendered()))
def test_the_committed_schema_is_the_models_schema(name: str) -> None:
    committed = (ROOT / "schema" / name).read_text(encoding="utf-8")
    assert committed == rendered()[name], "run: python -m bot.model.schemas schema"


def test_writing_leaves_exactly_the_two_files(tmp_path: Path) -> None:
    write(tmp_path)
    assert {p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()} == rendered()


def accepted(value: Any) -> bool:
    return jsonschema_rs.validator_for(schemas()["suspects.schema.json"]).is_valid(value)


@pytest.mark.parametrize("text", [FULL, *OFFLINE])
def test_the_schema_accepts_what_the_reader_accepts(text: str) -> None:
    read_subject(text, name="suspects.yml", directory=None)
    assert accepted(parse(text, name="").value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("timeout: 60s", "timeout: soon"),
        ("timeout: 60s", "timeot: 60s"),
        ("threshold: 1%", "threshold: 2"),
        ("default: crc64", "default: [crc64]"),
        ("ok_exit: [0]", "ok_exit: 0"),
        ("[0, 3, 6, 9]", "[]"),
        ("store: branch", "store: cloud"),
        ("better: higher", "better: bigger"),
        ("sandbox: auto", "sandbox: on"),
        ("extreme: {flag", "9a: {flag"),
        ("LC_ALL: C", "LC_ALL: 1.5"),
        ("path: bench/text.txt", "pat: bench/text.txt"),
    ],
)
def test_the_schema_and_the_reader_refuse_the_same_mistakes(old: str, new: str) -> None:
    assert old in FULL
    text = FULL.replace(old, new)
    assert not accepted(parse(text, name="").value)
    with pytest.raises(UsageError):
        read_subject(text, name="suspects.yml", directory=None)


def test_a_report_satisfies_its_schema_and_every_field_is_required() -> None:
    schema = schemas()["report.schema.json"]
    report = json.loads(Report(mode="pull_request", verdict="none", base=None, head=None).model_dump_json())
    validator = jsonschema_rs.validator_for(schema)
    assert validator.is_valid(report)
    for field in Report.model_fields:
        assert not validator.is_valid({k: v for k, v in report.items() if k != field})
