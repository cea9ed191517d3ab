"""Which runs of a benchmark are on record, so that it goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def known_runs(path: Path, columns: Sequence[str]) -> set[tuple[Any, ...]]:
    """What each line of a file of JSON objects has under some keys; empty: there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {tuple(json.loads(line)[column] for column in columns) for line in lines}
