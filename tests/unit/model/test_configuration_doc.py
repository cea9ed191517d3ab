"""docs/configuration.md says what the models say."""

from __future__ import annotations

import re
from pathlib import Path

from bot.adapters.documents.subject_file import UNSUPPORTED, read_subject
from bot.model.schemas import schemas
from bot.model.subject_checks import METRICS, RESERVED

TEXT = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_every_key_of_the_schema_is_described() -> None:
    schema = schemas()["suspects.schema.json"]
    objects = [schema, *schema["$defs"].values()]
    keys = {key for part in objects for key in part.get("properties", {})} - {"name", "on", "off"}
    assert keys <= set(re.findall(r"`(\w+)`", TEXT)) | set(re.findall(r"^## (\w+)", TEXT, re.M))


def test_every_reserved_word_metric_and_unsupported_key_is_named() -> None:
    for word in [*RESERVED, *METRICS, *(".".join(p).replace("options.*.", "") for p in UNSUPPORTED)]:
        assert f"`{word}`" in TEXT


def test_the_first_example_is_a_right_file() -> None:
    example = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)[0]
    subject = read_subject(example, name="suspects.yml", directory=None)
    assert subject.space.names == ("extreme", "check", "level")
