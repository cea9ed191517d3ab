"""How a stranger's repository is built and run, and the reading of its files."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

Runtime: TypeAlias = Literal["native", "python", "jvm", "node"]

MAX_BYTES = 512 * 1024
"""Files are read up to here."""


@dataclass(frozen=True)
class Recipe:
    """How a repository is built and run; None where a person has to say it.

    `build`: a shell command for a fresh checkout, "" when nothing has to be built. `run`: the words of the
    program, without options. `hint`: what a person must know about this build system. `network`: whether the
    build downloads something. `cache`: folders that later builds find again.
    """

    system: str
    runtime: Runtime = "native"
    build: str | None = None
    run: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    hint: str = ""
    network: bool = False
    cache: tuple[str, ...] = ()


def read(path: Path) -> str:
    """The beginning of a regular file as text; "" when there is none."""
    if path.is_symlink() or not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def toml(path: Path) -> dict[str, Any]:
    """A TOML file's content; nothing where it is not readable as one."""
    try:
        return tomllib.loads(read(path))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def at(value: Any, *keys: str) -> Any:
    """What lies below these keys; None: nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
