"""Programs of a few lines."""

from __future__ import annotations

from pathlib import Path


def script(path: Path, lines: str, *, interpreter: str = "/bin/sh") -> Path:
    """A program at `path`, whose folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{interpreter}\n{lines}\n")
    path.chmod(0o755)
    return path
