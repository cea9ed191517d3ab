"""Builds pages of documentation, as a project's `make docs` does: each .txt of the folders becomes HTML."""

import sys
from pathlib import Path

from docutils.core import publish_string  # type: ignore[import-untyped]

SETTINGS = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "_disable_config": True}


def main() -> None:
    for folder in sys.argv[1:]:
        for source in sorted(Path(folder).glob("*.txt")):
            text = source.read_text(encoding="utf-8")
            publish_string(text, source_path=str(source), writer_name="html5", settings_overrides=SETTINGS)


main()
