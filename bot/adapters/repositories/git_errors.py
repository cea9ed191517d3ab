"""What a person is told when git cannot do what was asked, with the remedy."""

from __future__ import annotations

from pathlib import Path

from bot.model.errors import UsageError


def first_line(complaint: str) -> str:
    """The first line of git's complaint, without its prefix."""
    return complaint.partition("\n")[0].removeprefix("fatal: ").removeprefix("error: ")


def usage(message: str, remedy: str) -> UsageError:
    """An error of the command line, and what to do."""
    error = UsageError(message)
    error.add_note(remedy)
    return error


def unreadable(path: Path, complaint: str) -> UsageError:
    """The folder is in no repository that git would read."""
    if "dubious ownership" in complaint:
        return usage(
            f"git refuses the repository {path}, because it belongs to another user.",
            f"Run as its owner, or: chown -R $(id -u) {path}",
        )
    if "not a git repository" in complaint:
        return usage(f"{path} is not in a git repository.", "Change into one, or create it with git init.")
    return usage(f"git cannot read the repository {path}: {first_line(complaint)}", "Try git status there.")


def too_shallow(what: str) -> UsageError:
    """Something lies before the beginning of a shallow clone."""
    return usage(
        f"{what} is not in this shallow clone.",
        "Check out with `fetch-depth: 0` (actions/checkout), or run git fetch --unshallow.",
    )
