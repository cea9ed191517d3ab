"""Git as it is run here: by our own configuration, asking nothing, changing nothing of the person's."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.processes import process
from bot.adapters.repositories.git_errors import usage

CONFIGURATION = """\
[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
\tattributesFile = /dev/null
\tfsmonitor = false
\tautocrlf = false
\tcompression = 1
[protocol]
\tallow = never
[protocol "file"]
\tallow = always
[uploadpack]
\tallowAnySHA1InWant = true
[fetch]
\trecurseSubmodules = false
[pack]
\twindow = 0
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
# `*`: a container's workspace belongs to another user. Whoever starts us in a repository asks us to run its
# code anyway, and nothing of its own configuration that could run a program matters to the few commands here.
# It is a file, not GIT_CONFIG_COUNT, because git hides that variable from the upload-pack it starts. What is
# packed there lives as long as a run: to look for what is alike in large files would take minutes of it.


def configure(home: Path) -> None:
    """Writes the configuration of all git commands into the private folder of a run."""
    (home / ".gitconfig").write_text(CONFIGURATION)


def git(home: Path, *arguments: str, cwd: Path, env: dict[str, str] | None = None) -> process.Finished:
    """Runs git in a folder, with the configuration that `configure` wrote into `home`.

    Raises:
        UsageError: git or the folder is missing.
    """
    surroundings = {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        **(env or {}),
    }
    try:
        return process.run_trusted(["git", *arguments], cwd=cwd, env=surroundings)
    except FileNotFoundError:
        if not cwd.is_dir():
            raise usage(f"There is no folder {cwd}.", "Run in a repository.") from None
        raise usage("git is not installed.", "Install it, for example: apt-get install git") from None
