"""Which runs of a benchmark are on record, so that it goes on where it was stopped."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.adapters.processes.threads import one_thread


def known_runs(path: Path, columns: Sequence[str]) -> set[tuple[Any, ...]]:
    """What each line of a file of JSON objects has under some keys; empty: there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {tuple(json.loads(line)[column] for column in columns) for line in lines}


def carry_on(
    path: Path,
    cases: Iterable[tuple[Any, ...]],
    run: Callable[..., dict[str, Any]],
    *,
    seconds: float = math.inf,
) -> None:
    """Adds a line for each case, on one thread; none is begun after so many seconds."""
    path.parent.mkdir(exist_ok=True)
    end = time.monotonic() + seconds
    with one_thread():
        for case in cases:
            if time.monotonic() > end:
                break
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(run(*case)) + "\n")
