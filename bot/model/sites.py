"""Where trials run: one built checkout per side, its account and its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.model.trials import Side


@dataclass(frozen=True)
class Account:
    """The user and group a side's code runs as."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Site:
    """One side, built: its checkout (working directory of a trial), account (None: ourselves) and workloads.

    `workloads`: name -> file or folder, the same bytes for both sides, readable by both accounts, each in
    a folder of its own that holds nothing else.
    """

    side: Side
    root: Path
    account: Account | None = None
    workloads: Mapping[str, Path] = field(default_factory=dict)
