"""What one run holds until it ends."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """What ends with a run: the flag that asks it to, what it opened, and its temporary folder."""

    stop: threading.Event
    stack: ExitStack
    folder: Path
