"""Writes the JSON Schemas of the configuration file and of the report: `python -m bot.model.schemas DIR`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bot.model.report import Report
from bot.model.subject import Subject

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """File name -> schema: what users may write, and what a report holds."""
    return {
        "suspects.schema.json": {
            "$schema": _DIALECT,
            **_closed(Subject.model_json_schema(mode="validation")),
            "title": "suspects.yml",
        },
        "report.schema.json": {
            "$schema": _DIALECT,
            # Serialisation: every field is always present.
            **Report.model_json_schema(mode="serialization"),
            "title": "Report",
        },
    }


def _closed(schema: Any) -> Any:
    """The same schema; where names must match a pattern, other names are refused as the reader does."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    extra = {"additionalProperties": False} if "patternProperties" in schema else {}
    return {key: _closed(part) for key, part in schema.items()} | extra


def rendered() -> dict[str, str]:
    """File name -> the exact text of the committed file."""
    return {
        name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas().items()
    }


def write(directory: Path) -> None:
    """Writes both files into an existing directory."""
    for name, text in rendered().items():
        (directory / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
