"""Real git repositories made for a test."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05Z",
}


def git(path: Path, *arguments: str) -> str:
    """Runs git there as a person would, without anybody's configuration."""
    done = subprocess.run(["git", *arguments], cwd=path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def new_repository(path: Path) -> Path:
    """An empty repository."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    return path


def commit(path: Path, files: Mapping[str, str | None], message: str = "change") -> str:
    """Writes files (None: removes), makes `*.sh` executable, commits; the commit's id."""
    for name, text in files.items():
        target = path / name
        if text is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(0o755 if name.endswith(".sh") else 0o644)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(path, "rev-parse", "HEAD")
